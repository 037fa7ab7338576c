// Attacks: files that other programs run or obey, created, replaced or overwritten.

import { type Attack, changed, inGroup, into, outsideChanged, text, there } from "./types.ts";

const HOME = { policy: () => ({ rw_paths: ["urn:flemma:cwd", "~"] }) };

/** Puts this at a path of the project by every way there is. */
const put = (path: string) =>
  `mkdir -p "$(dirname ${path})"; echo PWNED > ${path}; cp main.ts ${path}; ln -sf /etc/passwd ${path}; mv main.ts ${path}`;

const project = inGroup("held files", [
  ...[
    ".helix/languages.toml",
    ".zed/tasks.json",
    ".zed/settings.json",
    "mise.local.toml",
    ".vimrc",
    ".lvimrc",
  ].map((path) => ({
    name: `watched files: a new ${path}`,
    shell: () => put(path),
    won: ({ root }: { root: string }) => there(`${root}/project/${path}`),
  })),
  {
    name: "watched files: existing editor settings",
    plant: ({ project }) => {
      Deno.mkdirSync(`${project}/.zed`);
      Deno.writeTextFileSync(`${project}/.zed/tasks.json`, "text of zed\n");
    },
    shell: () =>
      "echo PWNED > .zed/tasks.json; rm -rf .zed; mv .zed z; mkdir -p .zed; echo PWNED > .zed/tasks.json",
    calls: () => [
      ["write", { path: ".zed/tasks.json", content: "PWNED" }],
      ["edit", { path: ".zed/tasks.json", oldText: "text", newText: "PWNED" }],
    ],
    won: ({ project }) => text(`${project}/.zed/tasks.json`) !== "text of zed\n",
  },
  {
    name: "watched files: direnv's permission for a file in a subfolder",
    plant: ({ root }) => Deno.mkdirSync(`${root}/home/.local/share`, { recursive: true }),
    shell: () =>
      "mkdir -p sub ~/.local/share/direnv/allow; echo 'touch PWNED' > sub/.envrc; echo x > ~/.local/share/direnv/allow/abc",
    policy: () => ({ rw_paths: ["urn:flemma:cwd", "${XDG_DATA_HOME:-~/.local/share}"] }),
    won: ({ root }) => there(`${root}/home/.local/share/direnv`),
  },
  {
    name: "watched files: existing editor settings, with the file tools",
    plant: ({ root }) => Deno.mkdirSync(`${root}/home/.local/share`, { recursive: true }),
    calls: () => [["write", { path: "~/.local/share/direnv/allow/abc", content: "x" }], ["write", {
      path: ".envrc",
      content: "x",
    }]],
    policy: () => ({ rw_paths: ["urn:flemma:cwd", "${XDG_DATA_HOME:-~/.local/share}"] }),
    won: ({ root, project }) => there(`${root}/home/.local/share/direnv`) || there(`${project}/.envrc`),
  },
]);

const home = inGroup("held files", [
  ...[
    ...[
      ".emacs.d/init.el",
      ".config/kak/kakrc",
      ".tmux.conf",
      ".config/helix/config.toml",
      ".pam_environment",
    ],
    ...[
      ".config/Code/User/settings.json",
      ".config/zed/settings.json",
      ".nanorc",
      ".xsessionrc",
      ".config/emacs/init.el",
    ],
  ].map((path) => ({
    name: `watched files: ~/${path}, with a writable home folder`,
    shell: () => `mkdir -p ~/"$(dirname ${path})"; echo PWNED > ~/${path}; ln -s /etc/passwd ~/${path}`,
    won: ({ root }: { root: string }) => there(`${root}/home/${path}`),
    ...HOME,
  })),
  {
    name: "watched files: an existing editor start-up file, and its folder",
    plant: ({ root }) => {
      Deno.mkdirSync(`${root}/home/.config/kak`);
      Deno.writeTextFileSync(`${root}/home/.config/kak/kakrc`, "text of home/.config/kak/kakrc\n");
    },
    shell: () =>
      "echo PWNED > ~/.config/kak/kakrc; mv ~/.config/kak ~/k; mv ~/.config ~/c; mkdir -p ~/.config/kak; echo PWNED > ~/.config/kak/kakrc",
    won: changed("home/.config/kak/kakrc"),
    ...HOME,
  },
]);

/** Faults that people reported on other programs, by the numbers of the list they are kept in. */
const reported = inGroup("reported faults", [
  {
    name: "an approval, frontmatter and settings written into the files that decide about the run",
    shell: ({ project }) =>
      `sed -i 's/text/(approved)/' notes.chat ${project}/notes.chat; printf -- '---\\nsandbox: false\\n---\\n' > notes.chat; echo 'sandbox: false' > .flemma/config.yaml; cp main.ts .flemma/tools/new.ts; mv .flemma f; cp -r f .flemma; sed -i 's/text/PWNED/' $HOME/.config/flemma/config.yaml`,
    won: (scene) =>
      changed("project/notes.chat")(scene) || changed("project/.flemma/config.yaml")(scene) ||
      changed("home/.config/flemma/config.yaml")(scene) || there(`${scene.project}/.flemma/tools/new.ts`),
  },
  {
    name: "the namespaces of the person, also the superuser's",
    shell: () => "for n in user pid mnt ipc uts; do echo $n $(readlink /proc/self/ns/$n); done",
    won: (_, { out }) => {
      const inside = out.trim().split("\n").map((line) => line.split(" "));
      return inside.length !== 5 ||
        inside.some(([name, link = ""]) =>
          link === "" || link === Deno.readLinkSync(`/proc/self/ns/${name}`)
        );
    },
  },
  {
    name: "a missing or removed cache, so that the next command cannot report",
    shell: () => "rm -rf ~/.cache; mkdir -p ~/.cache && mv ~/.cache ~/c && : > ~/.cache; true",
    nextRun: () => "echo hi",
    won: (_, { out }) => out !== "hi\n",
  },
  {
    name: "a cache that is a link, redirected for the next command",
    plant: ({ root }) => {
      Deno.mkdirSync(`${root}/store`);
      Deno.symlinkSync(`${root}/store`, `${root}/home/.cache`);
    },
    shell: ({ root }) =>
      `echo x > ~/.cache/made; rm -f ~/.cache; ln -sfn ${root}/outside ~/.cache; rmdir ${root}/store; mv ${root}/store s; ln -sfn ${root}/outside ${root}/store; ln -s ${root}/outside ~/.cache/outside; true`,
    nextRun: () =>
      `${into("~/.cache/file")} && [ -s ~/.cache/file ] && echo works; ${into("~/.cache/outside/file")}`,
    won: (scene, { out }) => outsideChanged(scene) || out !== "works\n",
  },
  {
    name: "name resolution through a broken link, with the network on",
    // Nothing is attacked: what must not happen is that names are no longer found inside.
    shell: () =>
      "[ -e /etc/resolv.conf ] && ! [ -r /etc/resolv.conf ] && echo PWNED; getent hosts localhost >/dev/null || echo PWNED",
    won: (_, { out }) => out.includes("PWNED"),
  },
  {
    name: "the session bus by its address in the environment",
    shell: ({ bus }) => `[ -n "$DBUS_SESSION_BUS_ADDRESS" ] && echo PWNED; [ -e ${bus} ] && echo PWNED; true`,
    variables: ({ bus }) => ({ DBUS_SESSION_BUS_ADDRESS: `unix:path=${bus}` }),
    won: (_, { out }) => out.includes("PWNED"),
  },
  {
    name: "the session and the input of the person's terminal",
    // A session that began outside has the number 0 inside.
    shell: () =>
      "set -- $(cat /proc/$$/stat); [ $6 = 0 ] && echo PWNED; [ $(readlink /proc/$$/fd/0) = /dev/null ] || echo PWNED; [ $7 = 0 ] || echo PWNED",
    won: (_, { out }) => out.includes("PWNED"),
  },
  {
    name: "git hooks that are a link to a folder in the working tree",
    plant: ({ project }) => {
      Deno.removeSync(`${project}/.git/hooks`, { recursive: true });
      Deno.mkdirSync(`${project}/tracked-hooks`);
      Deno.symlinkSync("../tracked-hooks", `${project}/.git/hooks`);
    },
    shell: () =>
      "echo x > tracked-hooks/pre-commit; rm .git/hooks; mkdir .git/hooks; echo x > .git/hooks/pre-commit; rmdir tracked-hooks; mv tracked-hooks t",
    won: ({ project }) =>
      there(`${project}/.git/hooks/pre-commit`) || there(`${project}/tracked-hooks/pre-commit`),
  },
  {
    name: "hooks and configuration through the current worktree",
    plant: ({ root, project }) => {
      const git = (cwd: string, ...args: string[]) => new Deno.Command("git", { args, cwd }).outputSync();
      git(root, "init", "-q", "main");
      git(
        `${root}/main`,
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "x",
      );
      Deno.removeSync(`${project}/.git`, { recursive: true });
      git(`${root}/main`, "worktree", "add", "-q", "-f", `${root}/wt`);
      Deno.renameSync(`${root}/wt/.git`, `${project}/.git`);
      Deno.writeTextFileSync(`${root}/main/.git/worktrees/wt/gitdir`, `${project}/.git\n`);
    },
    shell: ({ root }) =>
      `git status >/dev/null || echo PWNED; echo x > ${root}/main/.git/hooks/pre-commit; git config core.fsmonitor ./evil; git config --worktree core.pager ./evil; echo 'gitdir: evil' > .git; mv .git g`,
    won: ({ root, project }, { out }) =>
      out.includes("PWNED") || there(`${root}/main/.git/hooks/pre-commit`) ||
      text(`${root}/main/.git/config`)?.includes("evil") === true ||
      text(`${project}/.git`)?.includes("evil") === true,
    policy: ({ root }) => ({ rw_paths: ["urn:flemma:cwd", `${root}/main`] }),
  },
  {
    name: "a .git that is a link out of the writable paths",
    plant: ({ root, project }) => {
      Deno.renameSync(`${project}/.git`, `${root}/store.git`);
      Deno.symlinkSync("../store.git", `${project}/.git`);
    },
    shell: () =>
      "git status >/dev/null || echo PWNED; echo x > .git/hooks/pre-commit; git config core.pager ./evil; rm .git; git init -q; git config core.pager ./evil",
    won: ({ root, project }, { out }) =>
      out.includes("PWNED") || there(`${root}/store.git/hooks/pre-commit`) ||
      !Deno.lstatSync(`${project}/.git`).isSymlink,
  },
  {
    name: "helper programs planted where flemma looks them up",
    plant: ({ project }) => Deno.mkdirSync(`${project}/node_modules/.bin`, { recursive: true }),
    shell: () =>
      'for p in bwrap git rg sh bash prlimit; do printf "#!/bin/sh\\ntouch $PWD/PWNED-outside\\n" > node_modules/.bin/$p; cp node_modules/.bin/$p .; chmod +x node_modules/.bin/$p $p; done',
    nextRun: () => "true",
    variables: ({ project }) => ({ PATH: `${project}/node_modules/.bin:.:/usr/bin:/bin` }),
    won: ({ project }) => there(`${project}/PWNED-outside`),
  },
  {
    name: "a key that is encoded before it is printed",
    shell: () =>
      'printf %s "$ANTHROPIC_API_KEY" | base64; printf %s "$ANTHROPIC_API_KEY" | rev; env | base64 -w0',
    won: (_, { out }) => /c2stc2VjcmV0|terces-ks|sk-secret/.test(out),
  },
  {
    name: "flemma's own environment variables encoded, with the file tools",
    calls: () => [["read", { path: `/proc/${Deno.pid}/environ` }], ["read", {
      path: "/proc/self/task/../environ",
    }]],
    won: (_, { out }) => out.trim() !== "",
  },
]);

export const PROTECTED: readonly Attack[] = [...project, ...home, ...reported];
