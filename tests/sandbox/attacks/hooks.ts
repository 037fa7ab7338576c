// Attacks: what runs automatically at the person's next command, git hooks and editor settings.

import { type Attack, inGroup, into, type Scene, text, there } from "./types.ts";

const git: Attack[] = ([
  [
    "a hook",
    () => into(".git/hooks/pre-commit"),
    ({ root }) => there(`${root}/project/.git/hooks/pre-commit`),
  ],
  [
    "the hooks path in the configuration",
    () => "git config core.hooksPath evil; git config --global core.pager evil; echo '[core]' >> .git/config",
    ({ root }) => text(`${root}/project/.git/config`)?.includes("evil") === true,
  ],
  [
    "the configuration of a worktree",
    () => "printf '[core]\\nfsmonitor=./evil\\n' > .git/config.worktree",
    ({ root }) => there(`${root}/project/.git/config.worktree`),
  ],
  [
    "a common git folder with other commands",
    () =>
      "mkdir evil; cp -r .git/HEAD .git/objects .git/refs evil; printf '[core]\\nfsmonitor=touch PWNED\\n' > evil/config; echo ../evil > .git/commondir",
    ({ root }) => there(`${root}/project/.git/commondir`),
  ],
  [
    "replacing .git with another",
    () => "mv .git g; rm -rf .git; mkdir -p .git/hooks; echo x > .git/hooks/pre-commit",
    ({ root }) => there(`${root}/project/.git/hooks/pre-commit`) || !there(`${root}/project/.git/config`),
  ],
  [
    "a .git that leads elsewhere",
    () =>
      "mv .git/hooks h; mv .git/config c; rmdir .git/hooks; ln -sfn ../evil .git/hooks; echo 'gitdir: evil' > .git",
    ({ root }) =>
      (there(`${root}/project/.git/hooks`) && Deno.lstatSync(`${root}/project/.git/hooks`).isSymlink) ||
      !Deno.lstatSync(`${root}/project/.git`).isDirectory,
  ],
  [
    "new settings of editors and shells",
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

/** What the person's git would run, told by a file it makes outside. */
const trap = ({ root }: Scene) => `${root}/outside/PWNED`;
const program = (scene: Scene) => `printf '#!/bin/sh\\ntouch ${trap(scene)}\\n' > evil; chmod +x evil`;
const sprung = (scene: Scene) => there(trap(scene));
const COMMIT = "git -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m x";
const LOOK = "git status; git diff; git log -1; git add -A; git commit -qm y; git -C sub status; true";
/** Gives the project a configuration as a person may have one, and what it names. */
const configured = (lines: string, files: Readonly<Record<string, string>> = {}) => ({ project }: Scene) => {
  Deno.writeTextFileSync(`${project}/.git/config`, lines, { append: true });
  for (const [name, content] of Object.entries(files)) {
    const path = `${project}/${name}`;
    Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    Deno.writeTextFileSync(path, content, { mode: 0o755 });
  }
};
const over = (path: string) => (scene: Scene) =>
  `${program(scene)}; cp --remove-destination evil ${path}; cat evil > ${path}; mv -f evil ${path}`;

const gitTraps = inGroup(
  "git traps",
  ([
    {
      name: "git: a new repository with a monitor, and a link to it in the index",
      shell: (scene) =>
        `${
          program(scene)
        }; git init -q sub; cd sub; ${COMMIT}; cd ..; git add sub; cd sub; git config core.fsmonitor ${scene.project}/evil`,
    },
    {
      name: "git: a new repository deep below the folders that are scanned, and a link to it in the index",
      shell: (scene) =>
        `${
          program(scene)
        }; git init -q a/b/c/d/e/sub; cd a/b/c/d/e/sub; ${COMMIT}; cd ${scene.project}; git add a; git -C a/b/c/d/e/sub config core.fsmonitor ${scene.project}/evil`,
      person: () => "git status; cd a/b/c/d/e/sub && git status",
    },
    {
      name: "git: a link to a new repository in a split index, and in one of version 4",
      shell: (scene) =>
        `${
          program(scene)
        }; git init -q a/b/c/d/sub; git -C a/b/c/d/sub -c user.name=a -c user.email=a@b commit -q --allow-empty -m x; git update-index --index-version 4; git add a; git update-index --split-index; git -C a/b/c/d/sub config core.fsmonitor ${scene.project}/evil`,
      person: () => "git status; git -C a/b/c/d/sub status",
    },
    {
      name: "git: the folder of a new submodule",
      shell: (scene) =>
        `${
          program(scene)
        }; git init -q sub; cd sub; ${COMMIT}; cd ..; mkdir -p .git/modules; mv sub/.git .git/modules/sub; echo 'gitdir: ../.git/modules/sub' > sub/.git; printf '[core]\n\trepositoryformatversion = 0\n\tworktree = ../../../sub\n\tfsmonitor = ${scene.project}/evil\n' > .git/modules/sub/config; git add sub`,
    },
    {
      name: "git: hooks in the folder of a new submodule, one inside another",
      shell: (scene) =>
        `${
          program(scene)
        }; git init -q sub; cd sub; ${COMMIT}; cd ..; mkdir -p .git/modules/a/modules; mv sub/.git .git/modules/a/modules/sub; echo 'gitdir: ../.git/modules/a/modules/sub' > sub/.git; cp -r .git/modules/a/modules/sub/. .git/modules/a; mkdir -p .git/modules/a/modules/sub/hooks; cp evil .git/modules/a/modules/sub/hooks/pre-commit; git add sub`,
      person: () => `cd sub && ${COMMIT}; git status`,
    },
    {
      name: "git: a new worktree with its own configuration",
      plant: configured("[extensions]\n\tworktreeConfig = true\n"),
      shell: (scene) =>
        `${
          program(scene)
        }; ${COMMIT}; git worktree add -q wt; printf '[core]\n\tfsmonitor = ${scene.project}/evil\n' > .git/worktrees/wt/config.worktree`,
      person: () => "cd wt && git status",
    },
    {
      name: "git: a new worktree with a different common folder",
      shell: (scene) =>
        `${
          program(scene)
        }; ${COMMIT}; git worktree add -q wt; cp -r .git fake; printf '[core]\n\trepositoryformatversion = 0\n\tfsmonitor = ${scene.project}/evil\n' > fake/config; echo ../../../fake > .git/worktrees/wt/commondir`,
      person: () => "cd wt && git status",
    },
    {
      name: "git: a file that the configuration includes",
      plant: configured("[include]\n\tpath = ../conf/gitconfig\n", {
        "conf/gitconfig": "[user]\n\tname = a\n",
      }),
      shell: (scene) =>
        `${
          program(scene)
        }; printf '[core]\n\tfsmonitor = ${scene.project}/evil\n' > n; cat n > conf/gitconfig; mv conf c; mkdir conf; cp n conf/gitconfig; mv n conf/gitconfig`,
    },
    {
      name: "git: an included file that does not exist yet, and one that another file includes",
      plant: configured("[include]\n\tpath = ../one\n\tpath = ../missing\n", {
        "one": "[include]\n\tpath = two\n",
        "two": "",
      }),
      shell: (scene) =>
        `${
          program(scene)
        }; for f in one two missing; do printf '[core]\n\tfsmonitor = ${scene.project}/evil\n' > $f; done`,
    },
    {
      name: "git: a file that the person's own configuration includes",
      plant: ({ root, project }) =>
        Deno.writeTextFileSync(
          `${root}/home/.gitconfig`,
          `[include]\n\tpath = ${project}/shared.gitconfig\n`,
        ),
      shell: (scene) =>
        `${program(scene)}; printf '[core]\n\tfsmonitor = ${scene.project}/evil\n' > shared.gitconfig`,
    },
    {
      name: "git: a folder of hooks in the working tree",
      plant: configured("[core]\n\thooksPath = tools/hooks\n", { "tools/hooks/pre-commit": "#!/bin/sh\n" }),
      shell: (scene) =>
        `${over("tools/hooks/pre-commit")(scene)}; ${
          program(scene)
        }; cp evil tools/hooks/post-commit; mv tools t; mkdir -p tools/hooks; cp evil tools/hooks/pre-commit`,
      person: () => COMMIT,
    },
    {
      name: "git: a folder of hooks that does not exist yet",
      plant: configured("[core]\n\thooksPath = .githooks\n"),
      shell: (scene) => `${program(scene)}; mkdir .githooks; cp evil .githooks/pre-commit`,
      person: () => COMMIT,
    },
    {
      name: "git: scripts that the hooks of husky run",
      plant: configured("[core]\n\thooksPath = .husky/_\n", {
        ".husky/_/pre-commit": '#!/bin/sh\nexec sh "$(dirname "$0")/../pre-commit"\n',
        ".husky/pre-commit": "true\n",
      }),
      shell: over(".husky/pre-commit"),
      person: () => COMMIT,
    },
    {
      name: "git: a monitor, a pager and an alias that the configuration names by a path in the working tree",
      plant: configured('[core]\n\tfsmonitor = ./tools/watch\n[alias]\n\tci = "!./tools/ci -x"\n', {
        "tools/watch": "#!/bin/sh\n",
        "tools/ci": "#!/bin/sh\n",
      }),
      shell: (scene) => `${over("tools/watch")(scene)}; ${over("tools/ci")(scene)}`,
      person: () => "git status; git ci",
    },
    {
      name: "git: a filter that the configuration names by a path in the working tree",
      plant: configured('[filter "x"]\n\tclean = sh tools/clean.sh %f\n', { "tools/clean.sh": "cat\n" }),
      shell: (scene) =>
        `${over("tools/clean.sh")(scene)}; echo '*.txt filter=x' > .gitattributes; echo a > a.txt`,
      person: () => "git add a.txt",
    },
    {
      name: "git: a bare repository in a folder of the project",
      shell: (scene) =>
        `${
          program(scene)
        }; git init -q --bare docs; git -C docs config core.fsmonitor ${scene.project}/evil; git -C docs config core.bare false; git -C docs config core.worktree ${scene.project}`,
      person: () => "cd docs && git status",
    },
    {
      name: "git: an existing bare repository in a folder of the project",
      plant: ({ project }) =>
        void new Deno.Command("git", { args: ["init", "-q", "--bare", "store.git"], cwd: project })
          .outputSync(),
      shell: (scene) =>
        `${
          program(scene)
        }; git -C store.git config core.fsmonitor ${scene.project}/evil; git -C store.git config core.bare false; git -C store.git config core.worktree ${scene.project}; cp evil store.git/hooks/post-update`,
      person: () => "cd store.git && git status",
    },
    {
      name:
        "git: a repository in a folder that git tracks as another one, below the folders that are scanned",
      plant: ({ project }) => {
        const folder = `${project}/v/w/x/y/z/lib`;
        Deno.mkdirSync(folder, { recursive: true });
        const run = (cwd: string, ...args: string[]) => new Deno.Command("git", { args, cwd }).outputSync();
        run(folder, "init", "-q");
        run(folder, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x");
        run(project, "add", "v");
      },
      shell: (scene) => `${program(scene)}; git -C v/w/x/y/z/lib config core.fsmonitor ${scene.project}/evil`,
      person: () => "git status; cd v/w/x/y/z/lib && git status",
    },
    {
      name: "git: a repository created by one command and armed by the next",
      shell: (scene) => `${program(scene)}; git init -q sub; cd sub; ${COMMIT}`,
      then: (scene) => `git -C sub config core.fsmonitor ${scene.project}/evil; git add sub`,
    },
  ] satisfies Omit<Attack, "group" | "won">[]).map((attack) => ({
    person: () => LOOK,
    ...attack,
    won: sprung,
  })),
);

export const HOOKS: readonly Attack[] = [...git, ...gitTraps];
