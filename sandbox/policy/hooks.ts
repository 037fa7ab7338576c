// Files that other programs run or obey: one table. Data for the table in docs/reference/sandbox.md.
//
// Held files run automatically, even if the person does not start the tool that they belong to. flemma mounts them
// read-only, refuses to write or edit them, and moves away new ones that appear. Reported files run when the person
// starts a tool. They belong to the project, and git could not check them out if they were held. flemma compares them
// after each command, and asks before write and edit change them. Instructions are reported files that agents read as
// text; their changes are reported with a diff.

import { once } from "../../base/system/once.ts";

/** How flemma treats a file. */
export type FileTreatment = "held" | "reported" | "instructions";

/**
 * One row: the treatment, the program that obeys, and its paths. Paths are relative to a folder of the project, or begin
 * with `~` (home folder) or `$DATA` (data folder). A path stands for a file, or for a folder with everything in it. In
 * the first name of a reported path, `*` matches any characters.
 */
export type ObeyedFiles = readonly [how: FileTreatment, who: string, ...paths: readonly string[]];

export const OBEYED_FILES: readonly ObeyedFiles[] = [
  // Editors.
  ["held", "VS Code", ".vscode", "~/.config/Code", "~/.config/VSCodium", "~/.vscode", "~/.vscode-server"],
  ["held", "VS Code", "$DATA/code-server"],
  ["reported", "VS Code", "*.code-workspace"],
  ["held", "JetBrains editors", ".idea", ".fleet", "~/.config/JetBrains", "$DATA/JetBrains"],
  ["reported", "JetBrains editors", ".run"],
  [
    "held",
    "Neovim",
    ".nvim.lua",
    ".nvimrc",
    ".exrc.lua",
    ".lazy.lua",
    ".nvim",
    ".neoconf.json",
    "~/.config/nvim",
  ],
  ["held", "Neovim", "$DATA/nvim/site", "$DATA/nvim/lazy", "$DATA/nvim/mason"],
  ["held", "Vim", ".exrc", ".vimrc", ".lvimrc", "~/.vimrc", "~/.gvimrc", "~/.vim", "$DATA/vim"],
  [
    "reported",
    "Vim",
    ".vim",
    ".vimrc.local",
    ".local.vimrc",
    "_vimrc",
    "_exrc",
    "Session.vim",
    ".vimspector.json",
  ],
  ["reported", "Vim", ".projections.json", ".ycm_extra_conf.py"],
  ["held", "Emacs", "~/.emacs", "~/.emacs.d", "~/.config/emacs"],
  ["reported", "Emacs", ".dir-locals.el", ".dir-locals-2.el"],
  ["held", "Helix", ".helix", "~/.config/helix", "$DATA/helix"],
  ["held", "Zed", ".zed", "~/.config/zed", "$DATA/zed"],
  ["held", "Kakoune", "~/.config/kak", "$DATA/kak"],
  ["held", "micro and nano", "~/.config/micro", "~/.config/nano", "~/.nanorc"],
  ["held", "Lite XL and Lapce", ".lite_project.lua", ".lapce"],
  ["reported", "Sublime Text", "*.sublime-project", "*.sublime-workspace"],
  ["reported", "Kate", ".kateproject"],
  ["reported", "Visual Studio", ".vs", "Directory.Build.props", "Directory.Build.targets"],
  ["reported", "Eclipse", ".externalToolBuilders"],
  ["reported", "Nova", ".nova"],
  // Language servers, which editors start, and linters.
  ["reported", "rust-analyzer", "rust-analyzer.toml", ".rust-analyzer.toml", "rust-project.json"],
  ["reported", "clangd", ".clangd"],
  ["reported", "Lua's tools", ".luarc.json", ".luarc.jsonc", ".luacheckrc", ".busted", ".luarocks"],
  ["reported", "Haskell's tools", "hie.yaml", ".ghci"],
  ["reported", "OCaml's tools", ".merlin", ".ocamlinit"],
  ["reported", "Elixir's tools", ".formatter.exs", ".credo.exs", ".iex.exs"],
  ["reported", "Clojure's tools", ".clj-kondo", ".lsp"],
  ["reported", "Swift's tools", ".sourcekit-lsp", ".swiftpm"],
  ["reported", "pylint", ".pylintrc", "pylintrc"],
  ["reported", "rubocop", ".rubocop.yml"],
  ["reported", "lintr", ".lintr"],
  ["reported", "golangci-lint", ".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"],
  // Shells, prompts and what they load in a folder.
  ["held", "sh and bash", "~/.profile", "~/.bashrc", "~/.bash_profile", "~/.bash_login", "~/.bash_logout"],
  ["held", "sh and bash", "~/.bash_aliases", "~/.inputrc", "$DATA/bash-completion"],
  [
    "held",
    "zsh",
    "~/.zshrc",
    "~/.zshenv",
    "~/.zprofile",
    "~/.zlogin",
    "~/.zlogout",
    "~/.config/zsh",
    "$DATA/zsh",
  ],
  ["held", "zsh", "~/.p10k.zsh", "~/.oh-my-zsh", "~/.antigen", "~/.zinit"],
  ["held", "fish", "~/.config/fish", "$DATA/fish/vendor_completions.d", "$DATA/fish/vendor_conf.d"],
  ["held", "fish", "$DATA/fish/vendor_functions.d", "$DATA/fish/generated_completions"],
  [
    "held",
    "other shells",
    "~/.config/nushell",
    "~/.kshrc",
    "~/.cshrc",
    "~/.tcshrc",
    "~/.login",
    "~/.config/powershell",
  ],
  ["held", "starship", "~/.config/starship.toml"],
  ["held", "direnv", ".envrc", ".envrc.local", "~/.config/direnv", "$DATA/direnv"],
  ["reported", "direnv and other programs that load variables", ".env", ".env.local"],
  ["held", "mise", ".mise.toml", "mise.toml", ".mise", "mise.local.toml", ".mise.local.toml", ".config/mise"],
  ["held", "mise", ".config/mise.toml", "~/.config/mise", "~/.local/state/mise"],
  ["reported", "mise", "mise.*.toml", ".mise.*.toml", "mise/config.toml", ".rtx.toml", "~/.rtx.toml"],
  ["reported", "asdf and mise", ".tool-versions", "~/.tool-versions"],
  ["reported", "autoenv", ".autoenv", ".autoenv.zsh", ".autoenv_leave.zsh"],
  [
    "reported",
    "Nix",
    "flake.nix",
    "shell.nix",
    "default.nix",
    "devenv.nix",
    "devenv.yaml",
    "devenv.local.nix",
  ],
  ["reported", "devbox", "devbox.json"],
  ["reported", "guix", "guix.scm", "manifest.scm"],
  // Sessions, terminals and desktops.
  ["held", "the session", "~/.config/environment.d", "~/.config/autostart", "~/.config/systemd/user"],
  ["held", "the session", "~/.pam_environment", "~/.xprofile", "~/.xinitrc", "~/.xsession", "~/.xsessionrc"],
  ["held", "the session", "~/.config/plasma-workspace", "~/.config/sway", "~/.config/i3", "~/.config/hypr"],
  ["held", "the session", "~/.mailcap", "~/.config/mimeapps.list", "~/.config/user-dirs.dirs"],
  [
    "held",
    "the desktop",
    "$DATA/applications",
    "$DATA/dbus-1",
    "$DATA/systemd",
    "$DATA/gnome-shell",
    "$DATA/plasma",
  ],
  ["held", "the desktop", "$DATA/kio", "$DATA/nautilus-python", "$DATA/nemo-python"],
  [
    "held",
    "terminals",
    "~/.tmux.conf",
    "~/.config/tmux",
    "~/.screenrc",
    "~/.config/kitty",
    "~/.config/alacritty",
  ],
  ["held", "terminals", "~/.config/ghostty", "~/.config/wezterm", "~/.wezterm.lua", "~/.config/zellij"],
  ["reported", "tmux session managers", ".tmuxinator.yml", ".tmuxp.yaml", ".tmuxp.yml"],
  [
    "held",
    "file managers and players",
    "~/.config/ranger",
    "~/.config/lf",
    "~/.config/yazi",
    "~/.config/mpv",
  ],
  ["held", "ssh", "~/.ssh"],
  [
    "held",
    "whatever is started by name",
    "~/.local/bin",
    "~/bin",
    "~/.cargo/bin",
    "~/.deno/bin",
    "~/.bun/bin",
    "~/go/bin",
  ],
  // Version control and its hooks.
  ["held", "git", "~/.config/git", "~/.gitconfig"],
  ["reported", "git", ".gitmodules", ".lfsconfig"],
  ["held", "Mercurial", ".hg/hgrc", ".hg/hgrc-not-shared", ".hg/sharedpath", "~/.hgrc", "~/.config/hg"],
  ["reported", "Darcs and Pijul", "_darcs/prefs/defaults", ".pijul/config"],
  ["held", "jj", ".jj/repo/config.toml", "~/.config/jj"],
  [
    "reported",
    "git hook managers",
    ".husky",
    "lefthook.*",
    "lefthook-local.*",
    ".lefthook*",
    ".githooks",
    ".pre-commit-config.yaml",
  ],
  ["reported", "git hook managers", ".pre-commit-hooks.yaml", ".overcommit.yml", ".simple-git-hooks.*"],
  ["reported", "git hook managers", "simple-git-hooks.*", ".lintstagedrc*", "lint-staged.config.*"],
  ["reported", "commitlint", ".commitlintrc*", "commitlint.config.*"],
  ["held", "lazygit", "~/.config/lazygit"],
  // Package managers and build tools.
  ["held", "npm", "~/.npmrc"],
  ["reported", "npm and pnpm", ".npmrc", "~/.npmrc"],
  ["reported", "pnpm", ".pnpmfile.cjs", ".pnpmfile.mjs", "pnpm-workspace.yaml"],
  ["held", "yarn", "~/.yarnrc", "~/.yarnrc.yml"],
  ["reported", "yarn", ".yarnrc", ".yarnrc.yml", ".yarn/plugins", ".yarn/releases", ".yarn/sdks", ".pnp.cjs"],
  ["reported", "yarn", ".pnp.loader.mjs", "~/.yarnrc", "~/.yarnrc.yml"],
  ["held", "bun", "~/.bunfig.toml"],
  ["reported", "bun", "bunfig.toml"],
  ["held", "pip, uv and conda", "~/.config/pip", "~/.pip", "~/.config/uv", "~/.condarc"],
  ["reported", "pip", "~/.config/pip"],
  ["reported", "uv", "uv.toml"],
  ["reported", "Python", "sitecustomize.py", "usercustomize.py"],
  ["held", "IPython and Jupyter", "~/.ipython", "~/.jupyter"],
  ["held", "cargo", "~/.cargo/config", "~/.cargo/config.toml"],
  ["reported", "cargo", ".cargo/config.toml", ".cargo/config", "~/.cargo/config.toml"],
  ["reported", "cargo and rustup", "rust-toolchain", "rust-toolchain.toml"],
  ["reported", "bundler", ".bundle/config"],
  ["held", "Ruby's tools", "~/.irbrc", "~/.pryrc", "~/.gemrc"],
  ["reported", "Ruby's tools", ".irbrc", ".pryrc", ".rspec", ".byebugrc", ".rdbgrc", "~/.irbrc"],
  ["held", "Maven and Gradle", "~/.m2/settings.xml", "~/.gradle/init.gradle", "~/.gradle/init.d"],
  ["held", "Maven and Gradle", "~/.gradle/gradle.properties", "~/.sbtrc"],
  ["reported", "Maven", ".mvn"],
  ["reported", "Gradle", "gradle.properties", "gradle/wrapper"],
  ["reported", "sbt", ".sbtopts", ".jvmopts"],
  ["reported", ".NET", "NuGet.config", "nuget.config", ".config/dotnet-tools.json"],
  ["held", "bazel", "~/.bazelrc"],
  ["reported", "bazel", ".bazelrc", ".bazeliskrc", "tools/bazel"],
  ["reported", "Buck and Pants", ".buckconfig", ".buckconfig.local", ".pants.rc", ".pants.bootstrap"],
  ["held", "R", "~/.Rprofile", "~/.Renviron"],
  ["reported", "R", ".Rprofile", ".Renviron", "~/.Rprofile"],
  ["held", "Julia and GHC", "~/.julia/config", "~/.ghci"],
  ["reported", "Octave and MATLAB", ".octaverc", "startup.m"],
  ["reported", "Perl", ".perldb", ".proverc"],
  ["reported", "PHP", ".user.ini", ".htaccess"],
  ["reported", "Ansible and Chef", "ansible.cfg", ".chef"],
  ["reported", "ripgrep", ".ripgreprc"],
  ["held", "gdb and lldb", "~/.gdbinit", "~/.gdbearlyinit", "~/.config/gdb", "~/.lldbinit"],
  ["reported", "gdb", ".gdbinit", "~/.gdbinit", "~/.config/gdb"],
  ["reported", "lldb", ".lldbinit", "~/.lldbinit"],
  ["reported", "the Python debugger", ".pdbrc", "~/.pdbrc"],
  ["held", "database shells", "~/.psqlrc", "~/.sqliterc"],
  ["held", "docker", "~/.docker/cli-plugins"],
  ["held", "curl and wget", "~/.curlrc", "~/.wgetrc"],
  // Workspaces that start programs when they are opened.
  ["reported", "dev containers", ".devcontainer", ".devcontainer.json"],
  ["reported", "cloud workspaces", ".gitpod.yml", ".idx", ".replit", "replit.nix", ".codesandbox"],
  // Agents: settings, which may name programs, and instructions.
  ["held", "flemma", ".flemma"],
  ["instructions", "agents", "AGENTS.md", "AGENT.md", "AGENTS.override.md", ".agents", ".agent", "~/.agents"],
  ["reported", "agents", ".mcp.json"],
  ["instructions", "Claude Code", "CLAUDE.md", "CLAUDE.local.md", ".claude", "~/.claude"],
  ["instructions", "Codex", ".codex", "~/.codex"],
  ["instructions", "Gemini", "GEMINI.md", ".gemini", "~/.gemini"],
  ["instructions", "Cursor", ".cursor", ".cursorrules", "~/.cursor"],
  ["instructions", "Copilot", ".github/copilot-instructions.md", ".github/instructions", ".github/prompts"],
  ["instructions", "Copilot", ".github/chatmodes", ".github/agents", ".github/hooks"],
  ["instructions", "Windsurf", ".windsurf", ".windsurfrules"],
  ["instructions", "Cline", ".cline", ".clinerules"],
  ["instructions", "Roo", ".roo", ".roorules*", ".roomodes", ".rooignore"],
  ["instructions", "Kilo", ".kilocode", ".kilocodemodes"],
  ["instructions", "Continue", ".continue", ".continuerc.json", ".continuerules"],
  ["instructions", "Kiro", ".kiro"],
  ["instructions", "opencode", ".opencode", "opencode.json", "opencode.jsonc", "~/.config/opencode"],
  ["instructions", "Crush", "CRUSH.md", ".crush", ".crush.json", "crush.json"],
  ["instructions", "Qwen Code", "QWEN.md", ".qwen"],
  ["instructions", "Amp", ".amp"],
  ["instructions", "Goose", ".goosehints", ".goose", "~/.config/goose"],
  ["instructions", "aider", ".aider.conf.yml", ".aider.model.settings.yml"],
  ["instructions", "Junie", ".junie"],
  ["instructions", "Zed", ".rules"],
  ["instructions", "Warp", "WARP.md"],
  ["instructions", "Amazon Q", ".amazonq"],
  ["instructions", "Augment", ".augment", ".augment-guidelines"],
  ["instructions", "Factory and OpenHands", ".factory", ".openhands"],
  ["instructions", "Trae, CodeBuddy and Tabnine", ".trae", ".codebuddy", ".tabnine"],
];

/** Files that are held in each repository and working folder, listed by the word of `protect` that means them. */
export const projectHooks = once((): Readonly<Record<string, readonly string[]>> => ({
  $project: heldPaths((path) => !/^[~$]/.test(path)),
}));

/**
 * Files that are held in the home folder or the data folder `$DATA`, listed by the word of `protect` that means them.
 * They need protection only if a policy makes them writable.
 */
export const homeHooks = once((): Readonly<Record<string, readonly string[]>> => ({
  $shell: heldPaths((path) => path.startsWith("~/")),
  $data: heldPaths((path) => path.startsWith("$DATA/")),
}));

/**
 * A watched path, and the program that obeys the file there. If the path is that of a folder, everything in the folder
 * is watched.
 */
export interface Watched {
  /** Relative to the folder; in the first name, `*` matches any characters. */
  readonly path: string;
  readonly obeyedBy: string;
  /** True if an agent reads it as instructions. */
  readonly instructs: boolean;
}

/** Returns the files watched in every working folder. */
export function watchedInProject(): Watched[] {
  return watched((how) => how !== "held", (path) => /^[~$]/.test(path) ? null : path);
}

/** Returns the files watched in the folders below a working folder: also those that are held in the working folder. */
export function watchedBelow(): Watched[] {
  return watched(() => true, (path) => /^[~$]/.test(path) ? null : path);
}

/**
 * Returns the files watched in the home folder. Some of them are also files that `$shell` protects; their changes are
 * reported only if a policy omits that word.
 */
export function watchedInHome(): Watched[] {
  return watched((how) => how !== "held", (path) => path.startsWith("~/") ? path.slice(2) : null);
}

function heldPaths(belongs: (path: string) => boolean): string[] {
  return OBEYED_FILES.flatMap((row) => row[0] === "held" ? row.slice(2).filter(belongs) : []);
}

function watched(
  isWatched: (how: FileTreatment) => boolean,
  pathOf: (path: string) => string | null,
): Watched[] {
  const found: Watched[] = [];
  for (const row of OBEYED_FILES) {
    if (!isWatched(row[0])) continue;
    for (let at = 2; at < row.length; at++) {
      const path = pathOf(row[at]!);
      if (path !== null) found.push({ path, obeyedBy: row[1], instructs: row[0] === "instructions" });
    }
  }
  return found;
}
