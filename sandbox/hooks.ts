// What other programs run or obey by itself: the lists behind the words of `protect` (sandbox 12.5). Data.

/** Below the folder of a repository or of the work, by word. */
export const PROJECT_HOOKS: Readonly<Record<string, readonly string[]>> = {
  $project: [
    ".vscode",
    ".idea",
    ".envrc",
    ".mise.toml",
    "mise.toml",
    ".mise",
    ".nvim.lua",
    ".nvimrc",
    ".exrc",
  ],
};

/** In the forms of sandbox section 4, by word; they matter only where a policy makes them writable. */
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
    "~/.vim",
    "~/.xprofile",
    "~/.xinitrc",
    "~/.ssh",
    "~/.local/bin",
    "~/bin",
  ],
  $data: [
    "${XDG_DATA_HOME:-~/.local/share}/nvim/site",
    "${XDG_DATA_HOME:-~/.local/share}/nvim/lazy",
    "${XDG_DATA_HOME:-~/.local/share}/nvim/mason",
    "${XDG_DATA_HOME:-~/.local/share}/vim",
    "${XDG_DATA_HOME:-~/.local/share}/bash-completion",
    "${XDG_DATA_HOME:-~/.local/share}/zsh",
    "${XDG_DATA_HOME:-~/.local/share}/fish/vendor_completions.d",
    "${XDG_DATA_HOME:-~/.local/share}/fish/vendor_conf.d",
    "${XDG_DATA_HOME:-~/.local/share}/fish/vendor_functions.d",
    "${XDG_DATA_HOME:-~/.local/share}/applications",
    "${XDG_DATA_HOME:-~/.local/share}/dbus-1",
    "${XDG_DATA_HOME:-~/.local/share}/systemd",
    "${XDG_DATA_HOME:-~/.local/share}/gnome-shell",
    "${XDG_DATA_HOME:-~/.local/share}/plasma",
    "${XDG_DATA_HOME:-~/.local/share}/kio",
    "${XDG_DATA_HOME:-~/.local/share}/nautilus-python",
    "${XDG_DATA_HOME:-~/.local/share}/nemo-python",
  ],
};

/** Of a git folder: what git runs, or reads as orders to run something. */
export const GIT_HOOKS: readonly string[] = ["hooks", "config", "config.worktree"];

/** Every word a list of protected paths may hold. */
export const PROTECT_WORDS: readonly string[] = [
  "$git",
  ...Object.keys(PROJECT_HOOKS),
  ...Object.keys(HOME_HOOKS),
];
