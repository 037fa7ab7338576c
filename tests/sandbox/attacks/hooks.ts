// Attacks: what runs by itself at the next command of the person, hooks of git and settings of editors.

import { type Attack, into, text, there } from "./types.ts";

const git: Attack[] = ([
  [
    "a hook",
    () => into(".git/hooks/pre-commit"),
    ({ root }) => there(`${root}/project/.git/hooks/pre-commit`),
  ],
  [
    "the path of hooks, in the configuration",
    () => "git config core.hooksPath evil; git config --global core.pager evil; echo '[core]' >> .git/config",
    ({ root }) => text(`${root}/project/.git/config`)?.includes("evil") === true,
  ],
  [
    "the configuration of a worktree",
    () => "printf '[core]\\nfsmonitor=./evil\\n' > .git/config.worktree",
    ({ root }) => there(`${root}/project/.git/config.worktree`),
  ],
  [
    "a common folder with other orders",
    () =>
      "mkdir evil; cp -r .git/HEAD .git/objects .git/refs evil; printf '[core]\\nfsmonitor=touch PWNED\\n' > evil/config; echo ../evil > .git/commondir",
    ({ root }) => there(`${root}/project/.git/commondir`),
  ],
  [
    "exchanging .git for another",
    () => "mv .git g; rm -rf .git; mkdir -p .git/hooks; echo x > .git/hooks/pre-commit",
    ({ root }) => there(`${root}/project/.git/hooks/pre-commit`) || !there(`${root}/project/.git/config`),
  ],
  [
    "a .git that leads elsewhere",
    () =>
      "mv .git/hooks h; mv .git/config c; rmdir .git/hooks; ln -sfn ../evil .git/hooks; echo 'gitdir: evil' > .git",
    ({ root }) =>
      Deno.lstatSync(`${root}/project/.git/hooks`).isSymlink ||
      !Deno.lstatSync(`${root}/project/.git`).isDirectory,
  ],
  [
    "settings of editors and shells that were not there",
    () =>
      "mkdir .vscode .idea; echo x > .vscode/tasks.json; echo x > .envrc; echo x > .mise.toml; ln -s /etc .nvim.lua",
    ({ root }) =>
      [".vscode", ".idea", ".envrc", ".mise.toml", ".nvim.lua"].some((name) =>
        there(`${root}/project/${name}`)
      ),
  ],
] as [string, Attack["shell"], Attack["won"]][]).map(([name, shell, won]) => ({
  group: "hooks",
  name,
  shell,
  won,
}));

export const HOOKS: readonly Attack[] = git;
