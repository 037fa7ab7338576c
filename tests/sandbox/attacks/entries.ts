// Attacks: writable paths, the program's own code and protected paths, replaced for the next run.

import { plant } from "../fixture.ts";
import {
  type Attack,
  changed,
  inGroup,
  into,
  outsideChanged,
  type Ran,
  type Scene,
  text,
  there,
} from "./types.ts";

const bashrcChanged = changed("home/.bashrc");
const tmpInside = {
  policy: ({ root }: { root: string }) => ({
    rw_paths: ["urn:flemma:cwd", `${root}/tmp`, "${TMPDIR:-/tmp}"],
  }),
  variables: ({ root }: { root: string }) => ({ TMPDIR: `${root}/tmp/x` }),
};

const writablePaths = inGroup("writable paths", [
  {
    name: "writable entries: the folder for temporary files becomes a link to the home folder",
    plant: ({ root }) => Deno.mkdirSync(`${root}/tmp/x`),
    shell: () =>
      "rmdir $TMPDIR; rm -rf $TMPDIR; mv $TMPDIR $TMPDIR.2; ln -sfn $HOME $TMPDIR; ln -sfn $HOME $TMPDIR/",
    nextRun: () => into("$HOME/.bashrc"),
    won: bashrcChanged,
    ...tmpInside,
  },
  {
    name: "writable entries: a missing folder for temporary files becomes a link to the home folder",
    shell: () => "ln -s $HOME $TMPDIR",
    nextRun: () => into("$HOME/.bashrc"),
    won: bashrcChanged,
    ...tmpInside,
  },
  {
    name: "writable entries: a listed folder of the project, and its parent folders",
    plant: ({ project }) => Deno.mkdirSync(`${project}/build/out`, { recursive: true }),
    shell: ({ root }) =>
      `rmdir build/out; mv build b; mkdir build; ln -s ${root}/outside build/out; rm -rf build; ln -s ${root} build`,
    nextRun: ({ root }) => into(`${root}/outside/file`),
    policy: () => ({ rw_paths: ["urn:flemma:cwd", "./build/out"] }),
    won: outsideChanged,
  },
  {
    name: "writable entries: a missing listed folder, created as a link behind another link",
    shell: ({ root }) => `ln -s ${root}/outside real; ln -s real out; ln -s ${root}/outside two`,
    nextRun: ({ root }) => into(`${root}/outside/file`),
    policy: () => ({ rw_paths: ["urn:flemma:cwd", "./out", "./two"] }),
    won: outsideChanged,
  },
  {
    name: "writable entries: the cache below the project",
    shell: () => "rm -rf .cache; ln -s $HOME .cache",
    nextRun: () => into("$HOME/.bashrc"),
    policy: () => ({ rw_paths: ["urn:flemma:cwd", "${XDG_CACHE_HOME:-~/.cache}"] }),
    variables: ({ project }) => ({ XDG_CACHE_HOME: `${project}/.cache` }),
    won: bashrcChanged,
  },
  {
    name: "writable entries: a listed file that becomes a link",
    plant: ({ project }) => Deno.writeTextFileSync(`${project}/log`, ""),
    shell: ({ root }) => `rm -f log; mv log l; ln -sf ${root}/outside/file log`,
    nextRun: ({ root }) => into(`${root}/outside/file`),
    policy: () => ({ rw_paths: ["urn:flemma:cwd", "./log"] }),
    won: outsideChanged,
  },
  {
    name: "writable entries: writing through a listed link with the file tools",
    shell: () => "ln -s $HOME out",
    calls: () => [["write", { path: "out/.bashrc", content: "PWNED" }]],
    policy: () => ({ rw_paths: ["urn:flemma:cwd", "./out"] }),
    won: bashrcChanged,
  },
]);

const ROOT_OF_PROGRAM = new URL("../../../", import.meta.url).pathname.replace(/\/$/, "");

const ownCode = inGroup("own code", [
  {
    name: "own code: the sources of this program",
    shell: () =>
      `: >> ${ROOT_OF_PROGRAM}/cli.ts && echo PWNED; touch ${ROOT_OF_PROGRAM}/x-attack.ts && echo PWNED && rm ${ROOT_OF_PROGRAM}/x-attack.ts; true`,
    policy: () => ({ rw_paths: ["urn:flemma:cwd", ROOT_OF_PROGRAM] }),
    won: (_, { out }) => out.includes("PWNED") || there(`${ROOT_OF_PROGRAM}/x-attack.ts`),
  },
  {
    name: "own code: the runtime",
    shell: () => {
      const runtime = Deno.execPath();
      return `touch -r ${runtime} ${runtime} && echo PWNED; ln ${runtime} ${runtime}-attack && echo PWNED && rm ${runtime}-attack; true`;
    },
    policy: () => ({
      rw_paths: ["urn:flemma:cwd", Deno.execPath().slice(0, Deno.execPath().lastIndexOf("/"))],
    }),
    won: (_, { out }) => out.includes("PWNED"),
  },
  {
    name: "own code: modules and packages that Deno fetched for this program",
    plant: ({ root }) => {
      for (const name of ["remote", "npm", "gen"]) {
        Deno.mkdirSync(`${root}/home/.cache/deno/${name}`, { recursive: true });
      }
    },
    shell: () =>
      "cd ~/.cache/deno; for d in remote npm gen; do echo x > $d/PWNED; mv $d x$d; mkdir -p $d; echo x > $d/PWNED; done; cd ..; mv deno d; mkdir -p deno/remote; echo x > deno/remote/PWNED",
    variables: ({ root }) => ({ DENO_DIR: `${root}/home/.cache/deno` }),
    won: ({ root }) =>
      ["remote", "npm", "gen"].some((name) => there(`${root}/home/.cache/deno/${name}/PWNED`)),
    policy: ({ root }) => ({ rw_paths: ["urn:flemma:cwd", `${root}/home/.cache`] }),
  },
  {
    name: "own code: a Deno cache that did not exist yet",
    plant: ({ root }) => Deno.mkdirSync(`${root}/home/.cache`),
    shell: () =>
      "mkdir -p ~/.cache/deno/npm; echo x > ~/.cache/deno/npm/PWNED; ln -s /tmp ~/.cache/deno/remote",
    variables: ({ root }) => ({ DENO_DIR: `${root}/home/.cache/deno` }),
    won: ({ root }) => ["npm", "remote"].some((name) => there(`${root}/home/.cache/deno/${name}`)),
  },
]);

const TRAP = "mkdir .vscode && echo x > .vscode/tasks.json";
const trapped = ({ project }: { project: string }) => there(`${project}/.vscode`);

const closedFolders = inGroup("closed folders", [
  {
    name: "traps in closed folders: a trap in a folder that is not writable",
    shell: () => `${TRAP}; chmod 555 .vscode`,
    won: trapped,
  },
  {
    name: "traps in closed folders: a trap in a folder that is not readable",
    shell: () => `${TRAP}; chmod 0 .vscode`,
    won: trapped,
  },
  {
    name: "traps in closed folders: subfolders that are not writable",
    shell: () =>
      "mkdir -p .vscode/a/b; echo x > .vscode/tasks.json; echo x > .vscode/a/b/c; chmod -R a-w .vscode",
    won: trapped,
  },
  {
    name: "traps in closed folders: in a project that is not writable",
    shell: () => `${TRAP}; chmod 555 .`,
    won: (scene) => {
      Deno.chmodSync(scene.project, 0o755);
      return trapped(scene);
    },
  },
  {
    name: "traps in closed folders: in a project that is not readable",
    shell: () => `${TRAP}; chmod 0 .`,
    won: (scene) => {
      Deno.chmodSync(scene.project, 0o755);
      return trapped(scene);
    },
  },
  {
    name: "traps in closed folders: git hooks in a folder that is not writable",
    plant: ({ project }) => Deno.removeSync(`${project}/.git/hooks`, { recursive: true }),
    shell: () => "mkdir .git/hooks; echo x > .git/hooks/pre-commit; chmod 555 .git/hooks .git",
    won: ({ project }) => there(`${project}/.git/hooks`),
  },
  {
    name: "traps in closed folders: git hooks in a folder that is not readable",
    plant: ({ project }) => Deno.removeSync(`${project}/.git/hooks`, { recursive: true }),
    shell: () => "mkdir .git/hooks; echo x > .git/hooks/pre-commit; chmod 0 .git",
    won: ({ project }) => {
      Deno.chmodSync(`${project}/.git`, 0o755);
      return there(`${project}/.git/hooks`);
    },
  },
  {
    name: "traps in closed folders: a link removed from a folder that is then made read-only",
    plant: ({ project }) => {
      Deno.mkdirSync(`${project}/dotfiles`);
      Deno.mkdirSync(`${project}/conf`);
      Deno.symlinkSync("../dotfiles", `${project}/conf/.vscode`);
      Deno.removeSync(`${project}/.git/hooks`, { recursive: true });
      Deno.mkdirSync(`${project}/tracked`);
      Deno.symlinkSync("../tracked", `${project}/.git/hooks`);
    },
    shell: () => "rm .git/hooks; mkdir .git/hooks; echo x > .git/hooks/pre-commit; chmod 555 .git",
    won: ({ project }) => there(`${project}/.git/hooks/pre-commit`),
  },
]);

/** What a command prepares so that the next one's sandbox cannot be set up, in the hope that it then runs without. */
const setUp = inGroup("set-up", [
  {
    name:
      "links in a repository: a repository becomes a link to the outside, with links to it from all sides",
    plant: ({ root }) => plant(root, "outside/.git/config"),
    shell: () =>
      "git init -q nr; mv nr gone; ln -s ../outside nr; ln -s nr two; mkdir r; ln -s ../../outside/.git r/.git; ln -s ../.. r/up",
    nextRun: () => `${into("../outside/file")}; ${into("nr/.git/hooks")}; echo x > two/.git/new; echo on`,
    won: ({ root }, { out }) =>
      text(`${root}/outside/file`) !== "text of outside/file\n" || out !== "on\n" ||
      [...Deno.readDirSync(`${root}/outside/.git`)].length !== 1,
  },
  {
    name: "many repositories: a hundred repositories and worktrees with names of maximum length",
    shell: () =>
      "l=$(printf '%0200d' 0); for i in $(seq 100); do mkdir -p r$i/.git/hooks r$i/.git/objects r$i/.git/refs .git/worktrees/$l$i; echo 'ref: refs/heads/x' > r$i/.git/HEAD; : > .git/worktrees/$l$i/commondir; done",
    nextRun: () => `${into("../outside/file")}; echo x > r1/.git/hooks/pre-commit; echo on`,
    won: (scene, { out }) =>
      outsideChanged(scene) || out !== "on\n" || there(`${scene.project}/r1/.git/hooks/pre-commit`),
  },
  {
    name: "sockets: sockets in unreadable folders, and files in place of sockets",
    shell: ({ root }) =>
      `for n in 8 9; do mkdir ${root}/tmp/tmux-$n; python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' ${root}/tmp/tmux-$n/default; done; chmod 0 ${root}/tmp/tmux-8; rm ${root}/tmp/tmux-9/default; ln -s ${root}/outside/file ${root}/tmp/tmux-9/default; ln -s ${root}/tmp/tmux-8 ${root}/tmp/tmux-10; ln -s ${root}/outside ${root}/tmp/tmux-11`,
    nextRun: ({ root }) => `${into(`${root}/outside/file`)}; echo on`,
    won: (scene, { out }) => outsideChanged(scene) || out !== "on\n",
    policy: ({ root }) => ({ rw_paths: ["urn:flemma:cwd", `${root}/tmp`] }),
  },
  {
    name: "killing the program: killing flemma so that it never removes the traps",
    shell: () => "mkdir .vscode; echo x > .vscode/tasks.json; kill -9 1 $PPID; kill -9 -1; kill -9 0",
    nextRun: () => "true",
    won: ({ project }) => there(`${project}/.vscode`),
  },
]);

/** What bubblewrap says where the machine itself can have no sandbox. */
const REFUSALS: readonly (readonly [fault: string, line: string])[] = [
  ["AppArmor forbids user namespaces", "bwrap: setting up uid map: Permission denied"],
  ["no namespaces in a container", "bwrap: No permissions to create a new namespace"],
  ["no private mounts", "bwrap: Failed to make / slave: Permission denied"],
];

/** In the hope that `auto` then takes the machine for one without a sandbox, and runs the next command bare. */
const machineWithout = inGroup(
  "set-up",
  [
    ...REFUSALS.map(([fault, line]) => ({
      name: `a command claims "${fault}" and fails as bubblewrap would`,
      shell: () => `echo '${line}' >&2; echo '${line}' > /proc/1/fd/2; exit 1`,
    })),
    {
      name: "a fake bubblewrap that reports its version and cannot mount",
      shell: () =>
        `mkdir -p node_modules/.bin; printf '#!/bin/sh\n[ "$1" = --version ] && echo bubblewrap 0.8.0 && exit\necho "${
          REFUSALS[0]![1]
        }" >&2; exit 1\n' > node_modules/.bin/bwrap; chmod +x node_modules/.bin/bwrap; cp node_modules/.bin/bwrap .; true`,
      variables: ({ project }: Scene) => ({
        PATH: `${project}/node_modules/.bin:${project}:.:/usr/bin:/bin`,
      }),
    },
    {
      name: "a stored answer that no sandbox can work here, written by a command",
      shell: ({ root }: Scene) =>
        `for d in ${root}/run ~/.local/state /dev/shm; do mv $d/flemma $d/f; mkdir -p $d/flemma; echo '{}' > $d/flemma/none-bwrap; chmod 600 $d/flemma/none-bwrap; done; true`,
      policy: ({ root }: Scene) => ({ rw_paths: ["urn:flemma:cwd", `${root}/run`, "~/.local"] }),
    },
  ].map((attack) => ({
    nextRun: () => `${into("../outside/file")}; echo on`,
    won: (scene: Scene, { out }: Ran) =>
      outsideChanged(scene) || out !== "on\n" ||
      ["run", "home/.local/state"].some((place) => there(`${scene.root}/${place}/flemma/none-bwrap`)),
    backend: "auto" as const,
    ...attack,
  })),
);

export const ENTRIES: readonly Attack[] = [
  ...writablePaths,
  ...ownCode,
  ...closedFolders,
  ...setUp,
  ...machineWithout,
];
