// Attacks: kernel interfaces other than files and sockets, and what a command leaves in the kernel.

import { type Attack, DENO, inGroup, type Ran, saysPwned, type Scene, there } from "./types.ts";

const X64 = Deno.build.arch === "x86_64";
const call = (...args: number[]) => `${DENO} call.js ${args.join(" ")}`;
/** The kernel, or the filter before it, did what was asked. */
const done = (_: Scene, { out }: Ran) => /^done/m.test(out);

/** Calls that succeed for whoever may, by their numbers on x86_64; elsewhere the commands below try the same. */
const calls: Attack[] = inGroup(
  "the kernel",
  X64
    ? [
      {
        name: "system calls through a ring that no filter sees (io_uring)",
        shell: () => call(425, 8),
        won: notMissing,
      },
      { name: "handling page faults (userfaultfd)", shell: () => call(323, 0), won: refusedLate },
      { name: "performance counters of all processors (perf)", shell: () => call(298, 0), won: refusedLate },
      {
        name: "a new file system through the new mount calls (fsopen)",
        shell: () => call(430, 0),
        won: refusedLate,
      },
      { name: "a copy of the mount tree (open_tree)", shell: () => call(428, -100, 0), won: refusedLate },
      { name: "restarting the machine", shell: () => call(169, 0xfee1dead, 672274793, 0), won: done },
      { name: "accounting of processes into a file", shell: () => call(163, 0), won: done },
      { name: "raw network packets", shell: () => call(41, 17, 3), won: done },
      { name: "the kernel log (syslog)", shell: () => `${call(103, 5)}; ${call(103, 10)}`, won: done },
      { name: "real-time priority", shell: () => "chrt -f 99 echo PWNED", won: saysPwned },
    ]
    : [],
);

/** Without a network no new local socket may be made, however the call is written. */
const localSockets: Attack[] = inGroup(
  "the kernel",
  (X64
    ? [
      ["a local socket", call(41, 1, 1), refusedLate],
      ["a local socket with options in its type", call(41, 1, 0x80801), refusedLate],
      ["a local socket whose family has further bits", call(41, 2 ** 32 + 1, 1), refusedLate],
      ["a local socket by the table of x32", call(0x40000029, 1, 1), notMissing],
      ["a local socket by the number of another architecture", call(359, 1, 1), notMissing],
      ["a pair of local datagram sockets", call(53, 1, 2, 0), refusedLate],
      ["a pair of local datagram sockets with options", call(53, 1, 0x80802, 0), refusedLate],
      ["a pair of raw local sockets, which are datagram sockets", call(53, 1, 3, 0), refusedLate],
      ["a ring that makes sockets", call(425, 8), notMissing],
      ["a socket to the host of a virtual machine", call(41, 40, 1), done],
    ] as const
    : []).map(([name, shell, won]) => ({
      name: `${name}, without a network`,
      shell: () => shell,
      won,
      policy: () => ({ network: false }),
    })),
);

function refusedLate(_: Scene, { out }: Ran): boolean {
  return !/^errno 1\n$/.test(out);
}

/** Where it is told that there is no such call, programs take another way. */
function notMissing(_: Scene, { out }: Ran): boolean {
  return !/^errno (?:1|38)\n$/.test(out);
}

const commands: Attack[] = inGroup("the kernel", [
  {
    name: "shared memory that outlives the command (System V)",
    shell: ({ root }) => `ipcmk -M ${sizeOf(root)}`,
    won: ({ root }) => {
      // The size tells it from what other programs have there.
      const [, id] =
        new RegExp(`^0x\\S+ +(\\d+) +\\S+ +\\d+ +${sizeOf(root)} `, "m").exec(outside("ipcs", "-m")) ?? [];
      if (id !== undefined) outside("ipcrm", "-m", id);
      return id !== undefined;
    },
  },
  {
    name: "a message queue of the machine",
    shell: ({ root }) =>
      `mkdir -p q; mount -t mqueue none q; unshare -Urmi sh -c 'mount -t mqueue none q; touch q/${
        nameOf(root)
      }'; ` +
      `touch /dev/mqueue/${nameOf(root)}`,
    won: ({ root }) => there(`/dev/mqueue/${nameOf(root)}`),
  },
  {
    name: "the machine's clock",
    shell: () =>
      "date -s 2001-01-01 >/dev/null 2>&1 && echo PWNED; hwclock --set --date 2001-01-01 2>/dev/null && echo PWNED; true",
    won: saysPwned,
  },
  {
    name: "a file that nobody can remove (immutable)",
    shell: () => "chattr +i main.ts 2>/dev/null && echo PWNED; chattr +a . 2>/dev/null && echo PWNED; true",
    won: saysPwned,
  },
  {
    name: "devices that type, record, draw, mount or tunnel",
    shell: () =>
      'for f in /dev/uinput /dev/input/* /dev/snd/* /dev/video* /dev/dri/* /dev/fuse /dev/kvm /dev/net/tun /dev/loop* /dev/vhost* /dev/hidraw* /dev/bus/usb/*; do [ -e "$f" ] && echo PWNED $f; done; true',
    won: saysPwned,
  },
  {
    name: "terminals of other programs",
    shell: () =>
      "for f in /dev/pts/[0-9]* /dev/tty[0-9]* /dev/vcs*; do [ -e $f ] && echo PWNED $f; done; true",
    won: saysPwned,
  },
  {
    name: "inherited open descriptors",
    shell: () =>
      "for f in /proc/self/fd/*; do case ${f##*/} in 0|1|2) ;; *) [ -e $f ] && readlink $f | grep -v '^/proc\\|^pipe' | sed 's/^/PWNED /';; esac; done; true",
    won: saysPwned,
  },
  {
    name: "the memory of the kernel and of the first process",
    shell: () =>
      "for f in /proc/kcore /proc/1/mem /proc/1/environ /proc/1/auxv; do head -c 64 $f 2>/dev/null | tr -d '\\0' | grep -qa . && [ $f != /proc/1/auxv ] && grep -qa sk-secret $f && echo PWNED $f; done; head -c 4 /proc/kcore 2>/dev/null | grep -qa ELF && echo PWNED; true",
    won: saysPwned,
  },
  {
    name: "a user namespace that grants all rights inside it",
    shell: ({ root }) =>
      `unshare -Urmpf --mount-proc sh -c 'for f in /proc/*/root${root}/outside/file; do echo x > $f && echo PWNED; done'; ` +
      `unshare -U --map-auto echo PWNED 2>/dev/null; newuidmap $$ 0 0 1 2>/dev/null && echo PWNED; true`,
    won: saysPwned,
  },
  {
    name: "the person's other processes, by number and by name",
    shell: ({ victim }) =>
      `ls /proc | grep -qx ${victim} && [ "$(cat /proc/${victim}/comm)" = sleep ] && echo PWNED; ` +
      `renice -n 19 -p ${victim} >/dev/null 2>&1 && echo PWNED; taskset -p 1 ${victim} >/dev/null 2>&1 && echo PWNED; true`,
    won: saysPwned,
  },
  {
    name: "a crash that leaves a memory dump next to the project",
    shell: () => "ulimit -c unlimited; sh -c 'kill -SEGV $$'; sh -c 'kill -ABRT $$'",
    won: ({ project }) =>
      [...Deno.readDirSync(project)].some(({ name }) => /^(?:.*\.)?core(?:\.|$)/.test(name)),
  },
]);

/** A number of bytes that belongs to this path. */
function sizeOf(path: string): number {
  return 4096 + [...path].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 1_000_003, 7);
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function outside(program: string, ...args: string[]): string {
  return new TextDecoder().decode(new Deno.Command(program, { args }).outputSync().stdout);
}

export const KERNEL: readonly Attack[] = [...calls, ...localSockets, ...commands];
