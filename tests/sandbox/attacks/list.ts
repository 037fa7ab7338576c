// The attacks: each a few lines that a command might hold, and how to tell from outside whether it succeeded.

import type { SandboxSettings } from "../../../config/settings.ts";
import type { Ran, Scene } from "./scene.ts";

export interface Attack {
  readonly group: string;
  readonly name: string;
  readonly shell: (scene: Scene) => string;
  /** A second command, which starts when the first one is over and finds what that prepared for it. */
  readonly then?: (scene: Scene) => string;
  /** Whether the attacker got what it wanted. */
  readonly won: (scene: Scene, ran: Ran) => boolean;
  readonly policy?: (scene: Scene) => Partial<SandboxSettings["policy"]>;
}

function text(path: string): string | null {
  try {
    return Deno.lstatSync(path).isFile ? Deno.readTextFileSync(path) : null;
  } catch {
    return null;
  }
}

function there(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

const changed = (path: string, name = path) => ({ root }: Scene) =>
  text(`${root}/${path}`) !== `text of ${name}\n`;
const outsideChanged = ({ root }: Scene) =>
  text(`${root}/outside/file`) !== "text of outside/file\n" ||
  [...Deno.readDirSync(`${root}/outside`)].length !== 1 ||
  (Deno.statSync(`${root}/outside/file`).mode! & 0o777) === 0o777;
const saysPwned = (_: Scene, { out }: Ran) => out.includes("PWNED");
const connected = (scene: Scene, { out }: Ran) =>
  out.includes("PWNED") || scene.reached.some((path) => path.startsWith("/"));
const documentChanged = changed("project/notes.chat");
const alive = (pid: number) => {
  try {
    return !/^State:\s+[ZX]/m.test(Deno.readTextFileSync(`/proc/${pid}/status`));
  } catch {
    return false;
  }
};

/** Whether a process with this argument runs on the machine. It is given a moment: dying takes one. */
function lives(mark: string): boolean {
  const deadline = performance.now() + 2000;
  while (performance.now() < deadline) {
    const found = [...Deno.readDirSync("/proc")].some(({ name }) => {
      if (!/^\d+$/.test(name) || !alive(Number(name))) return false;
      try {
        return Deno.readTextFileSync(`/proc/${name}/cmdline`).split("\0").includes(mark);
      } catch {
        return false;
      }
    });
    if (!found) return false;
  }
  return true;
}

function inGroup(group: string, attacks: readonly Omit<Attack, "group">[]): Attack[] {
  return attacks.map((attack) => ({ group, ...attack }));
}

const DENO = `"${Deno.execPath()}" run -A --no-config --quiet`;
const into = (path: string) => `echo PWNED > ${path}`;

const outside: Attack[] = ([
  ["plain writing", ({ root }) => into(`${root}/outside/file`)],
  [
    "appending, truncating, changing the mode",
    ({ root }) =>
      `cd ${root}/outside; echo x >> file; truncate -s 0 file; chmod 777 file; rm -f file; touch new`,
  ],
  [
    "mounting the root writable again",
    ({ root }) => `mount -o remount,bind,rw /; mount -o remount,rw /; ${into(`${root}/outside/file`)}`,
  ],
  [
    "mounting a folder onto itself writable",
    ({ root }) =>
      `mount --bind ${root}/outside ${root}/outside; mount -o remount,bind,rw ${root}/outside; ${
        into(`${root}/outside/file`)
      }`,
  ],
  [
    "unmounting what lies above",
    ({ root }) => `umount -l ${root}/project /proc /; ${into(`${root}/outside/file`)}`,
  ],
  [
    "a mount namespace of one's own",
    ({ root }) =>
      `unshare -Urm sh -c 'mount -o remount,bind,rw /; umount -l /; ${into(`${root}/outside/file`)}'`,
  ],
  [
    "two user namespaces deep",
    ({ root }) =>
      `unshare -Ur unshare -Urm sh -c 'mount -o remount,bind,rw /; ${into(`${root}/outside/file`)}'`,
  ],
  [
    "a sandbox inside, with everything writable",
    ({ root }) => `bwrap --bind / / --dev-bind /dev /dev sh -c '${into(`${root}/outside/file`)}'`,
  ],
  [
    "an overlay over the folder",
    ({ root }) =>
      `mkdir -p u w; unshare -Urm sh -c 'mount -t overlay o -o lowerdir=${root}/outside,upperdir=u,workdir=w ${root}/outside; umount ${root}/outside; ${
        into(`${root}/outside/file`)
      }'`,
  ],
  ["the root of process 1", ({ root }) => into(`/proc/1/root${root}/outside/file`)],
  [
    "the roots and folders of all processes",
    ({ root }) =>
      `for p in /proc/[0-9]*; do ${into(`$p/root${root}/outside/file`)}; ${
        into("$p/cwd/../outside/file")
      }; done`,
  ],
  [
    "an open descriptor of the root",
    ({ root }) => `exec 7</; ${into(`/proc/self/fd/7${root}/outside/file`)}`,
  ],
  [
    "the maps and the memory of the parent",
    ({ root }) =>
      `for p in /proc/[0-9]*; do echo x > $p/mem; done; ${into(`/proc/$PPID/root${root}/outside/file`)}`,
  ],
  [
    "entering the namespaces of process 1",
    ({ root }) => `nsenter -t 1 -m -u -p sh -c '${into(`${root}/outside/file`)}'`,
  ],
  ["changing the root", ({ root }) => `chroot /proc/1/root sh -c '${into(`${root}/outside/file`)}'`],
  ["a hard link into the project", ({ root }) => `ln ${root}/outside/file here; ${into("here")}`],
  [
    "a symbolic link in the project",
    ({ root }) => `ln -s ${root}/outside here; ${into("here/file")}; touch here/new`,
  ],
  [
    "links raced against writing",
    ({ root }) =>
      `mkdir a; (while :; do ln -sfn a d; ln -sfn ${root}/outside d; done) & i=0; while [ $i -lt 300 ]; do ${
        into("d/file")
      }; i=$((i+1)); done`,
  ],
  [
    "moving the project and its neighbours",
    ({ root }) => `mv ${root}/project ${root}/p; mv ${root}/outside o; mv ${root}/outside ${root}/o`,
  ],
  [
    "dots that lead up",
    () => "echo PWNED > ../outside/file; cp main.ts ../outside/; cd ..; touch outside/new",
  ],
  [
    "an archive with a path that leads up",
    () => "mkdir t; tar cf a.tar --transform 's,^,../outside/,' main.ts; tar xPf a.tar",
  ],
  [
    "a patch that leads up",
    ({ root }) =>
      `printf -- '--- /dev/null\\n+++ ${root}/outside/new\\n@@ -0,0 +1 @@\\n+x\\n' | git apply --unsafe-paths -p0`,
  ],
] as [string, Attack["shell"]][]).map(([name, shell]) => ({
  group: "write outside",
  name,
  shell,
  won: outsideChanged,
}));

const machine = inGroup("the machine", [
  {
    name: "making the node of the disk and reading it",
    shell: () =>
      "for d in /sys/class/block/*/dev; do mknod disk b $(tr : ' ' < $d) && head -c 512 disk >/dev/null && echo PWNED; rm -f disk; done",
    won: saysPwned,
  },
  {
    name: "the disks, the memory and the console of the machine",
    shell: () =>
      "for f in /dev/vd* /dev/sd* /dev/nvme* /dev/mem /dev/kmsg /dev/port /dev/console; do [ -e $f ] && head -c1 $f >/dev/null 2>&1 && echo PWNED; done",
    // A console of the sandbox's own is no console of the machine; there is none without a terminal.
    won: saysPwned,
  },
  {
    name: "shared memory of the machine",
    shell: ({ root }) => `touch /dev/shm/${root.split("/").at(-1)}`,
    won: ({ root }) => there(`/dev/shm/${root.split("/").at(-1)}`),
  },
  {
    name: "settings of the kernel",
    shell: () =>
      "for f in /proc/sys/kernel/core_pattern /proc/sys/kernel/modprobe /proc/sys/vm/drop_caches; do cat $f 2>/dev/null | tee $f >/dev/null 2>&1 && echo PWNED; done",
    won: saysPwned,
  },
  {
    name: "the request key of the kernel",
    shell: () => "echo h > /proc/sysrq-trigger && echo PWNED",
    won: saysPwned,
  },
  {
    name: "control groups of the machine",
    shell: () =>
      "for d in $(find /sys/fs/cgroup -maxdepth 1 -type d); do mkdir $d/flemma-attack 2>/dev/null && echo PWNED; done; unshare -Urm sh -c 'mount -t cgroup2 none /mnt && echo PWNED'",
    won: saysPwned,
  },
  {
    name: "loading a module, swapping, naming the machine",
    shell: () =>
      "modprobe dummy 2>/dev/null && echo PWNED; insmod main.ts 2>/dev/null && echo PWNED; head -c 40960 /dev/zero > s; swapon s 2>/dev/null && echo PWNED; true",
    won: saysPwned,
  },
  {
    name: "killing a process outside",
    shell: ({ victim }) => `kill -9 ${victim}; kill -9 -1; pkill -9 -P 0 sleep`,
    won: ({ victim }) => !alive(victim),
  },
  {
    name: "tracing a process outside, and reading its memory",
    shell: ({ victim }) =>
      `[ -e /proc/${victim}/mem ] && grep -q sleep /proc/${victim}/cmdline && echo PWNED; timeout 5 gdb -p ${victim} -batch 2>/dev/null | grep -q '^0x' && echo PWNED; true`,
    won: saysPwned,
  },
  {
    name: "a copy of the shell with the mark of its owner",
    shell: () =>
      "cp /bin/sh s; chown 0:0 s 2>/dev/null; chmod 6755 s; ./s -pc 'grep -q \"CapEff:.*[1-9a-f]\" /proc/self/status && echo PWNED'",
    won: saysPwned,
  },
  {
    name: "leaving a program behind that runs as its owner, the superuser",
    shell: () =>
      "cp /bin/sh s; chmod u+s s; chmod 6755 s; install -m 4755 /bin/sh s; cp -p /bin/su s; tar cf - -C /bin su | tar xpf -",
    won: ({ project }) =>
      ["s", "su"].some((name) => {
        if (!there(`${project}/${name}`)) return false;
        const { mode, uid } = Deno.statSync(`${project}/${name}`);
        return uid === 0 && (mode! & 0o4000) !== 0;
      }),
  },
  {
    name: "programs that become the superuser, and capabilities of files",
    shell: () =>
      "su -c 'echo PWNED' </dev/null; sudo -n echo PWNED; pkexec echo PWNED </dev/null; cp /bin/sh s; setcap all+ep s; ./s -c 'grep -q \"CapEff:.*[1-9a-f]\" /proc/self/status && echo PWNED'",
    // As the superuser `su` becomes what one is already: without capabilities.
    won: (scene, ran) => Deno.uid() !== 0 && saysPwned(scene, ran),
  },
  {
    name: "capabilities from nowhere",
    shell: () =>
      "setpriv --reuid 1 --clear-groups echo PWNED; capsh --caps=all+eip -- -c 'echo PWNED'; chown 1:1 main.ts && echo PWNED",
    won: saysPwned,
  },
]);

const document: Attack[] = ([
  ["writing the running document", () => into("notes.chat")],
  [
    "editing it in place",
    () =>
      "sed -i s/text/PWNED/ notes.chat; truncate -s 0 notes.chat; dd if=main.ts of=notes.chat conv=notrunc",
  ],
  [
    "moving another file over it",
    () =>
      "echo PWNED > n; mv -f n notes.chat; cp --remove-destination main.ts notes.chat; ln -f main.ts notes.chat",
  ],
  ["removing it and making it anew", () => `rm -f notes.chat; unlink notes.chat; ${into("notes.chat")}`],
  ["a hard link to it", () => `ln notes.chat other; ${into("other")}`],
  [
    "its descriptor, opened again for writing",
    () => "exec 7<notes.chat; echo PWNED > /proc/self/fd/7; echo PWNED > /proc/self/fd/7",
  ],
  [
    "unmounting its protection",
    () =>
      `umount notes.chat; umount -l notes.chat; unshare -Urm sh -c 'umount notes.chat; ${
        into("notes.chat")
      }'`,
  ],
  [
    "exchanging its folder",
    ({ root }) => `mkdir ../p2; cp notes.chat ../p2; mv ../project ../p; cd ${root}; mv project x`,
  ],
  [
    "git checking out another one",
    () =>
      "git add -f notes.chat; git -c user.name=a -c user.email=a@b commit -qm a; rm -f .git/index; echo PWNED | git hash-object -w --stdin > h; git update-index --add --cacheinfo 100644,$(cat h),notes.chat; git checkout-index -f notes.chat",
  ],
] as [string, Attack["shell"]][]).map(([name, shell]) => ({
  group: "the document",
  name,
  shell,
  won: documentChanged,
}));

const settingsAttacks: Attack[] = ([
  [
    "the settings of the project",
    () => `${into(".flemma/config.yaml")}; rm -rf .flemma; mv .flemma f`,
    changed("project/.flemma/config.yaml"),
  ],
  ["a tool file", () => into(".flemma/tools/tool.ts"), changed("project/.flemma/tools/tool.ts")],
  [
    "one more tool file",
    () => into(".flemma/tools/evil.ts"),
    ({ root }) => there(`${root}/project/.flemma/tools/evil.ts`),
  ],
  [
    "the settings of the person",
    () => `${into("$HOME/.config/flemma/config.yaml")}; mv $HOME/.config c`,
    changed("home/.config/flemma/config.yaml"),
  ],
  [
    "what this program remembers",
    () => `${into("$HOME/.local/state/flemma/trust.json")}; rm -rf $HOME/.local/state`,
    changed("home/.local/state/flemma/trust.json"),
  ],
  [
    "the start file of the shell, with the home writable",
    () => into("$HOME/.bashrc"),
    changed("home/.bashrc"),
  ],
] as [string, Attack["shell"], Attack["won"]][]).map(([name, shell, won]) => ({
  group: "settings",
  name,
  shell,
  won,
  policy: () => ({ rw_paths: ["urn:flemma:cwd", "~"] }),
}));

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

const sockets: Attack[] = ([
  ["the agent of the person", ({ agent }) => `${DENO} connect.js ${agent} "$SSH_AUTH_SOCK"`],
  ["the terminal multiplexer", ({ tmux }) => `${DENO} connect.js ${tmux}`],
  ["the session bus", ({ bus }) => `${DENO} connect.js ${bus} /proc/1/root${bus}`],
  [
    "taking the cover off",
    ({ agent, tmux, bus, root }) =>
      `umount ${agent} ${tmux} ${root}/run; rm -f ${agent} ${tmux}; unshare -Urm umount ${agent}; ${DENO} connect.js ${agent} ${tmux} ${bus}`,
  ],
  [
    "moving its folder, another link to it",
    ({ root, tmux, agent }) =>
      `mv ${root}/tmp/tmux-7 t; ln ${tmux} s; ln ${agent} a; cp -l ${agent} b; ${DENO} connect.js t/default s a b ${root}/tmp/tmux-7/default`,
  ],
  [
    "the roots of other processes",
    ({ agent }) => `for p in /proc/[0-9]*; do set -- "$@" $p/root${agent}; done; ${DENO} connect.js "$@"`,
  ],
] as [string, Attack["shell"]][]).map(([name, shell]) => ({
  group: "sockets",
  name,
  shell,
  won: connected,
  policy: ({ root }) => ({ rw_paths: ["urn:flemma:cwd", `${root}/tmp`] }),
}));

const NUMBERS: Readonly<
  Record<string, { ioctl: number; keyctl: number; addKey: number; bpf: number; socket: number }>
> = {
  x86_64: { ioctl: 16, keyctl: 250, addKey: 248, bpf: 321, socket: 41 },
  aarch64: { ioctl: 29, keyctl: 219, addKey: 217, bpf: 280, socket: 198 },
};
const numbers = NUMBERS[Deno.build.arch];
const call = (...args: number[]) => `${DENO} call.js ${args.join(" ")}`;
/** Refused by the filter, before the kernel looks at what the call is about. */
const notRefused = (_: Scene, { out }: Ran) => !/^(errno 1\n)+$/.test(out);

const calls = numbers === undefined ? [] : inGroup("calls", [
  {
    name: "typing into the terminal (TIOCSTI)",
    shell: () => call(numbers.ioctl, 0, 0x5412),
    won: notRefused,
  },
  {
    name: "pasting into the console (TIOCLINUX)",
    shell: () => call(numbers.ioctl, 0, 0x541c),
    won: notRefused,
  },
  {
    name: "the same with a high half (TIOCSTI)",
    shell: () => call(numbers.ioctl, 0, 2 ** 32 + 0x5412),
    won: notRefused,
  },
  {
    name: "key rings",
    shell: () => `${call(numbers.keyctl, 0, 0xfffffffd)}; ${call(numbers.addKey)}`,
    won: notRefused,
  },
  { name: "programs in the kernel (bpf)", shell: () => call(numbers.bpf, 0), won: notRefused },
  {
    name: "the host of a virtual machine, with the network off",
    shell: () => call(numbers.socket, 40, 1),
    won: notRefused,
    policy: () => ({ network: false }),
  },
  {
    name: "opening the terminal of the person",
    shell: () => "echo x > /dev/tty && echo PWNED; cat <&0 | head -c1; tty",
    won: saysPwned,
  },
]);

const reading: Attack[] = ([
  ["a key of the person", () => "cat ~/.ssh/id"],
  [
    "through roots and folders of processes",
    ({ root }) => `for p in /proc/[0-9]*; do cat $p/root${root}/home/.ssh/id; done`,
  ],
  [
    "through a link, a copy, an archive",
    () => "ln ~/.ssh/id k; ln -s ~/.ssh l; cat k l/id; cp -r ~/.ssh c; tar cf - ~/.ssh | tar xOf -",
  ],
  [
    "taking the cover off",
    () =>
      "chmod 777 ~/.ssh; umount ~/.ssh; mv ~/.ssh ~/s; unshare -Urm sh -c 'umount ~/.ssh; cat ~/.ssh/id'; cat ~/.ssh/id ~/s/id",
  ],
  ["what this program remembers", () => "cat ~/.local/state/flemma/trust.json"],
] as [string, Attack["shell"]][]).map(([name, shell]) => ({
  group: "hidden paths",
  name,
  shell,
  won: (_: Scene, { out }: Ran) => out.includes("text of home/"),
}));

const inTwoSteps: Attack[] = [{
  group: "hidden paths",
  name: "carrying the folder around away, for the next command",
  shell: () => "mv ~/.config ~/c; mv ~/.config/gcloud ~/.config/g; mv ~ ../h",
  then: ({ root }) =>
    `cat ${root}/home/c/gcloud/key ~/.config/g/key ~/.config/gcloud/key ${root}/h/.config/gcloud/key`,
  won: (_, { out }) => out.includes("text of home/"),
  policy: () => ({ rw_paths: ["urn:flemma:cwd", "~"] }),
}, {
  group: "sockets",
  name: "carrying the folder around away, for the next command",
  shell: ({ root }) => `mv ${root}/tmp/tmux-7 ${root}/tmp/t`,
  then: ({ root }) => `${DENO} connect.js ${root}/tmp/t/default`,
  won: connected,
  policy: ({ root }) => ({ rw_paths: ["urn:flemma:cwd", `${root}/tmp`] }),
}];

const environment: Attack[] = [{
  group: "hidden paths",
  name: "keys in the environment, of this and of other processes",
  shell: () => "env; cat /proc/[0-9]*/environ | tr '\\0' '\\n'",
  won: (_, { out }) => out.includes("sk-secret") || out.includes("SSH_AUTH_SOCK="),
}];

const network: Attack[] = ([
  [
    "a port of the machine, directly",
    ({ unlisted }) => `${DENO} talk.js 127.0.0.1 ${unlisted} 'GET / HTTP/1.0'`,
  ],
  [
    "through the proxy, an address that is not listed",
    ({ unlisted }) =>
      `${DENO} talk.js 127.0.0.1 3128 'GET http://127.0.0.1:${unlisted}/ HTTP/1.1' 'Host: 127.0.0.1'`,
  ],
  [
    "a tunnel to an address that is not listed",
    ({ unlisted }) =>
      `${DENO} talk.js 127.0.0.1 3128 'CONNECT 127.0.0.1:${unlisted} HTTP/1.1' '' 'GET / HTTP/1.0'`,
  ],
  [
    "another spelling of the address",
    ({ unlisted }) =>
      `for a in 2130706433 0x7f.1 127.1 0177.0.0.1 [::ffff:127.0.0.1] [::1] localhost 0.0.0.0; do ${DENO} talk.js 127.0.0.1 3128 "GET http://$a:${unlisted}/ HTTP/1.1"; done`,
  ],
  [
    "one head in another",
    ({ listed, unlisted }) =>
      `${DENO} talk.js 127.0.0.1 3128 'GET http://127.0.0.1:${listed}/ HTTP/1.1' "$(printf 'A: b\\nHost: 127.0.0.1:${unlisted}')"; ` +
      `${DENO} talk.js 127.0.0.1 3128 'GET http://127.0.0.1:${listed}@127.0.0.1:${unlisted}/ HTTP/1.1'`,
  ],
  [
    "a network of one's own, and the interfaces of the machine",
    ({ unlisted }) =>
      `ip link add type veth; ip addr; unshare -Urn ${DENO} talk.js 127.0.0.1 ${unlisted} 'GET / HTTP/1.0'; nsenter -t 1 -n true`,
  ],
] as [string, Attack["shell"]][]).map(([name, shell]) => ({
  group: "network list",
  name,
  shell,
  won: ({ reached, unlisted }: Scene) => reached.some((url) => url.includes(`:${unlisted}/`)),
  policy: ({ listed }: Scene) => ({ network: { allow: [`127.0.0.1:${listed}`] } }),
}));

const BOMB = `599.${Deno.pid}`;

const resources = inGroup("resources", [
  {
    name: "a flood of processes",
    shell: () => "i=0; while [ $i -lt 200 ]; do sleep 600 & i=$((i+1)); done; echo PWNED",
    won: saysPwned,
    policy: () => ({ limits: { processes: 30 } }),
  },
  {
    name: "a fork bomb whose shell ends first",
    shell: () => `f() { sleep ${BOMB} & f | f & }; exec 2>/dev/null; f`,
    won: () => lives(BOMB),
    policy: () => ({ limits: { processes: 30 } }),
  },
  {
    name: "a file without end",
    shell: () => "head -c 50000000 /dev/zero > big",
    won: ({ project }) => (Deno.statSync(`${project}/big`).size) > 1_000_000,
    policy: () => ({ limits: { file_size: 1_000_000 } }),
  },
  {
    name: "memory without end",
    shell: () => "dd if=/dev/zero of=/dev/null bs=600M count=1 2>/dev/null && echo PWNED",
    won: saysPwned,
    policy: () => ({ limits: { memory: 300_000_000 } }),
  },
  {
    name: "raising one's own limits",
    shell: () =>
      "ulimit -f unlimited && echo PWNED; prlimit --fsize=unlimited: --pid $$ && echo PWNED; ulimit -c unlimited && echo PWNED",
    won: saysPwned,
    policy: () => ({ limits: { file_size: 1_000_000 } }),
  },
]);

const survival: Attack[] = ([
  ["a child in the background", "sleep MARK &"],
  ["a session of its own", "setsid sleep MARK >/dev/null 2>&1 &"],
  [
    "a child of a child that gave up its parent",
    "(setsid sh -c 'sleep MARK & exec sleep MARK' >/dev/null 2>&1 </dev/null &)",
  ],
  [
    "deaf to every polite signal",
    "trap '' HUP INT TERM; nohup sh -c \"trap '' HUP INT TERM; exec sleep MARK\" >/dev/null 2>&1 &",
  ],
  ["a namespace inside", "unshare -Ur --fork --pid sleep MARK >/dev/null 2>&1 &"],
] as [string, string][]).map(([name, shell], index) => {
  const mark = `${600 + index}.${Deno.pid}`;
  return {
    group: "surviving the end",
    name,
    shell: () => shell.replaceAll("MARK", mark),
    won: () => lives(mark),
  };
});

/** All of them, in the order of the table. */
export const ATTACKS: readonly Attack[] = [
  ...outside,
  ...machine,
  ...document,
  ...settingsAttacks,
  ...git,
  ...sockets,
  ...calls,
  ...reading,
  ...inTwoSteps,
  ...environment,
  ...network,
  ...resources,
  ...survival,
];
