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

/** In the home folder, or in the data folder `$DATA`, by word; they matter only where a policy makes them writable. */
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
    "$DATA/nvim/site",
    "$DATA/nvim/lazy",
    "$DATA/nvim/mason",
    "$DATA/vim",
    "$DATA/bash-completion",
    "$DATA/zsh",
    "$DATA/fish/vendor_completions.d",
    "$DATA/fish/vendor_conf.d",
    "$DATA/fish/vendor_functions.d",
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

/** Of a git folder: what git runs, reads as orders to run something, or takes for the way to another such folder. */
export const GIT_HOOKS: readonly string[] = ["hooks", "config", "config.worktree", "commondir"];
