// Attacks: the machine itself, its disks, its kernel, its other processes.

import { alive, type Attack, inGroup, saysPwned, there } from "./types.ts";

const machine = inGroup("the machine", [
  {
    name: "creating the disk's device node and reading it",
    shell: () =>
      "for d in /sys/class/block/*/dev; do mknod disk b $(tr : ' ' < $d) && head -c 512 disk >/dev/null && echo PWNED; rm -f disk; done",
    won: saysPwned,
  },
  {
    name: "the machine's disks, memory and console",
    shell: () =>
      "for f in /dev/vd* /dev/sd* /dev/nvme* /dev/mem /dev/kmsg /dev/port /dev/console; do [ -e $f ] && head -c1 $f >/dev/null 2>&1 && echo PWNED; done",
    // A console of the sandbox's own is no console of the machine; there is none without a terminal.
    won: saysPwned,
  },
  {
    name: "the machine's shared memory",
    shell: ({ root }) => `touch /dev/shm/${root.split("/").at(-1)}`,
    won: ({ root }) => there(`/dev/shm/${root.split("/").at(-1)}`),
  },
  {
    name: "kernel settings",
    shell: () =>
      "for f in /proc/sys/kernel/core_pattern /proc/sys/kernel/modprobe /proc/sys/vm/drop_caches; do cat $f 2>/dev/null | tee $f >/dev/null 2>&1 && echo PWNED; done",
    won: saysPwned,
  },
  {
    name: "the kernel's SysRq key",
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
    name: "a setuid copy of the shell",
    shell: () =>
      "cp /bin/sh s; chown 0:0 s 2>/dev/null; chmod 6755 s; ./s -pc 'grep -q \"CapEff:.*[1-9a-f]\" /proc/self/status && echo PWNED'",
    won: saysPwned,
  },
  {
    name: "leaving behind a setuid program of the superuser",
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
    name: "leaving behind a setgid program of the superuser's group",
    shell: () =>
      "cp /bin/sh s; chmod g+s s; chmod 2755 s; install -m 2755 /bin/sh s; python3 -c 'import os; os.chmod(\"s\", 0o2755)'",
    won: ({ project }) => {
      if (!there(`${project}/s`)) return false;
      const { mode, gid } = Deno.statSync(`${project}/s`);
      return gid === 0 && (mode! & 0o2000) !== 0;
    },
  },
  {
    name: "a setgid folder of the superuser's group",
    shell: () => "mkdir d; chmod g+s d; chmod 2777 d; install -d -m 2777 d",
    won: ({ project }) => {
      if (!there(`${project}/d`)) return false;
      const { mode, gid } = Deno.statSync(`${project}/d`);
      return gid === 0 && (mode! & 0o2000) !== 0;
    },
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

export const MACHINE: readonly Attack[] = machine;
