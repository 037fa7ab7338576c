// Files that other programs run or obey: two lists, *held* and *watched*. Data for the tables in docs/reference/sandbox.md.
//
// Held files run automatically, even if the person does not start the tool that they belong to. flemma mounts them
// read-only, refuses to write or edit them, and moves away new ones that appear. Each word of `protect` stands for one
// of these lists. Watched files run when the person starts a tool. They are never mounted read-only, because they
// belong to the project and git could not check them out. flemma compares them after each command, and asks before
// write and edit change them.

/** Held files below a repository or a working folder, by the word of `protect`. */
export const PROJECT_HOOKS: Readonly<Record<string, readonly string[]>> = {
  $project: [
    ".vscode",
    ".idea",
    ".envrc",
    ".mise.toml",
    "mise.toml",
    ".mise",
    "mise.local.toml",
    ".mise.local.toml",
    ".config/mise",
    ".config/mise.toml",
    ".nvim.lua",
    ".nvimrc",
    ".lvimrc",
    ".exrc",
    ".vimrc",
    ".helix",
    ".zed",
    ".fleet",
  ],
};

/**
 * Held files in the home folder or the data folder `$DATA`, by the word of `protect`. They matter only if a policy
 * makes them writable.
 */
export const HOME_HOOKS: Readonly<Record<string, readonly string[]>> = {
  $shell: [
    "~/.profile",
    "~/.bashrc",
    "~/.bash_profile",
    "~/.bash_login",
    "~/.bash_logout",
    "~/.bash_aliases",
    "~/.inputrc",
    "~/.zshrc",
    "~/.zshenv",
    "~/.zprofile",
    "~/.zlogin",
    "~/.zlogout",
    "~/.config/fish",
    "~/.config/nushell",
    "~/.config/environment.d",
    "~/.config/autostart",
    "~/.config/systemd/user",
    "~/.config/nvim",
    "~/.config/git",
    "~/.gitconfig",
    "~/.vimrc",
    "~/.gvimrc",
    "~/.vim",
    "~/.emacs",
    "~/.emacs.d",
    "~/.config/emacs",
    "~/.config/kak",
    "~/.config/helix",
    "~/.config/zed",
    "~/.config/Code",
    "~/.config/VSCodium",
    "~/.vscode",
    "~/.vscode-server",
    "~/.config/JetBrains",
    "~/.config/micro",
    "~/.config/nano",
    "~/.nanorc",
    "~/.tmux.conf",
    "~/.config/tmux",
    "~/.screenrc",
    "~/.config/kitty",
    "~/.config/alacritty",
    "~/.config/ghostty",
    "~/.config/wezterm",
    "~/.wezterm.lua",
    "~/.config/starship.toml",
    "~/.config/direnv",
    "~/.config/mise",
    "~/.local/state/mise",
    "~/.kshrc",
    "~/.cshrc",
    "~/.tcshrc",
    "~/.login",
    "~/.config/zsh",
    "~/.config/powershell",
    "~/.pam_environment",
    "~/.xprofile",
    "~/.xinitrc",
    "~/.xsession",
    "~/.xsessionrc",
    "~/.config/plasma-workspace",
    "~/.config/sway",
    "~/.config/i3",
    "~/.config/hypr",
    "~/.ssh",
    "~/.local/bin",
    "~/bin",
    // Programs that read settings from the home folder in every project. The settings say what to run, or where to
    // fetch code from.
    "~/.gdbinit",
    "~/.gdbearlyinit",
    "~/.config/gdb",
    "~/.lldbinit",
    "~/.npmrc",
    "~/.yarnrc",
    "~/.yarnrc.yml",
    "~/.bunfig.toml",
    "~/.config/pip",
    "~/.pip",
    "~/.config/uv",
    "~/.condarc",
    "~/.ipython",
    "~/.jupyter",
    "~/.cargo/config",
    "~/.cargo/config.toml",
    "~/.irbrc",
    "~/.pryrc",
    "~/.gemrc",
    "~/.Rprofile",
    "~/.Renviron",
    "~/.julia/config",
    "~/.m2/settings.xml",
    "~/.gradle/init.gradle",
    "~/.gradle/init.d",
    "~/.gradle/gradle.properties",
    "~/.sbtrc",
    "~/.ghci",
    "~/.psqlrc",
    "~/.sqliterc",
    "~/.hgrc",
    "~/.config/hg",
    "~/.config/jj",
    "~/.bazelrc",
    "~/.docker/cli-plugins",
    "~/.curlrc",
    "~/.wgetrc",
    "~/.mailcap",
    "~/.config/mimeapps.list",
  ],
  $data: [
    "$DATA/nvim/site",
    "$DATA/nvim/lazy",
    "$DATA/nvim/mason",
    "$DATA/vim",
    "$DATA/bash-completion",
    "$DATA/zsh",
    "$DATA/fish/vendor_completions.d",
    "$DATA/fish/vendor_conf.d",
    "$DATA/fish/vendor_functions.d",
    "$DATA/fish/generated_completions",
    "$DATA/direnv",
    "$DATA/kak",
    "$DATA/zed",
    "$DATA/helix",
    "$DATA/JetBrains",
    "$DATA/code-server",
    "$DATA/applications",
    "$DATA/dbus-1",
    "$DATA/systemd",
    "$DATA/gnome-shell",
    "$DATA/plasma",
    "$DATA/kio",
    "$DATA/nautilus-python",
    "$DATA/nemo-python",
  ],
};

/** Held files in a git folder: those that git runs, reads as commands, or follows to another git folder. */
export const GIT_HOOKS: readonly string[] = ["hooks", "config", "config.worktree", "commondir"];

/** A watched file, or a watched folder with everything in it, and the program that obeys it. */
export interface Watched {
  /** One or two names; in the first one, `*` matches any characters. */
  readonly path: string;
  readonly obeyedBy: string;
}

/** Files that a tool obeys both in a working folder and in the home folder. */
const WATCHED_IN_BOTH: readonly Watched[] = [
  { path: ".npmrc", obeyedBy: "npm and pnpm" },
  { path: ".yarnrc", obeyedBy: "yarn" },
  { path: ".yarnrc.yml", obeyedBy: "yarn" },
  { path: ".tool-versions", obeyedBy: "asdf and mise" },
  { path: ".cargo/config.toml", obeyedBy: "cargo" },
  { path: ".gdbinit", obeyedBy: "gdb" },
  { path: ".lldbinit", obeyedBy: "lldb" },
  { path: ".pdbrc", obeyedBy: "the Python debugger" },
  { path: ".irbrc", obeyedBy: "irb" },
  { path: ".agents", obeyedBy: "agents" },
  { path: ".claude", obeyedBy: "Claude Code" },
  { path: ".codex", obeyedBy: "Codex" },
  { path: ".gemini", obeyedBy: "Gemini" },
  { path: ".cursor", obeyedBy: "Cursor" },
];

/**
 * Files watched in every working folder. Files that `$project` holds in a working folder are watched in the folders
 * below it.
 */
export const WATCHED_IN_PROJECT: readonly Watched[] = [
  ...WATCHED_IN_BOTH,
  { path: ".pnpmfile.cjs", obeyedBy: "pnpm" },
  { path: "bunfig.toml", obeyedBy: "bun" },
  { path: ".pre-commit-config.yaml", obeyedBy: "pre-commit" },
  { path: "lefthook.yml", obeyedBy: "lefthook" },
  { path: ".lefthook.yml", obeyedBy: "lefthook" },
  { path: "rust-toolchain", obeyedBy: "cargo and rustup" },
  { path: "rust-toolchain.toml", obeyedBy: "cargo and rustup" },
  { path: ".cargo/config", obeyedBy: "cargo" },
  { path: ".bazelrc", obeyedBy: "bazel" },
  { path: ".pryrc", obeyedBy: "pry" },
  { path: ".dir-locals.el", obeyedBy: "Emacs" },
  { path: ".mcp.json", obeyedBy: "agents" },
  { path: ".windsurf", obeyedBy: "Windsurf" },
  { path: ".aider.conf.yml", obeyedBy: "aider" },
  { path: ".devcontainer", obeyedBy: "dev containers" },
  { path: ".devcontainer.json", obeyedBy: "dev containers" },
  { path: "*.code-workspace", obeyedBy: "VS Code" },
  { path: "*.sublime-project", obeyedBy: "Sublime Text" },
];

/**
 * Files watched in the home folder. `$shell` holds most of these; this list reports changes if a policy omits that
 * word.
 */
export const WATCHED_IN_HOME: readonly Watched[] = [
  ...WATCHED_IN_BOTH,
  { path: ".config/pip", obeyedBy: "pip" },
  { path: ".config/gdb", obeyedBy: "gdb" },
  { path: ".Rprofile", obeyedBy: "R" },
];
