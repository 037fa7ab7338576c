// When `auto` may run commands without the sandbox: only if the machine itself cannot provide one. One row per
// condition.

import assert from "node:assert/strict";
import { isChroot, isOfMachine, type KernelFacts, readMachine } from "../../../sandbox/backends/machine.ts";

const MACHINE: KernelFacts = {
  settings: { "user/max_user_namespaces": "15000" },
  userNamespaces: true,
  chroot: false,
};
const ZERO: KernelFacts = { ...MACHINE, settings: { "user/max_net_namespaces": "0" } };
const NONE: KernelFacts = { ...MACHINE, userNamespaces: false };

const LIMITED =
  "bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)";
const OLD_KERNEL =
  "bwrap: Creating new namespace failed, likely because the kernel does not support user namespaces.  bwrap must be " +
  "installed setuid on such systems.";

const ROWS: [says: string, ofMachine: boolean, machine?: KernelFacts][] = [
  ["landlock: the kernel did not refuse reading /dev/ptmx", true],
  ["landlock: Landlock refused the rules (error 1)", true],
  ["landlock: Landlock refused the rules (error 12)", false],
  ["landlock: the path /gone no longer exists", false],
  ["/dev/shm/flemma-0/status-1: 1: exec: /usr/bin/bwrap: not found", true],
  ["sh: line 1: exec: /usr/bin/bwrap: No such file or directory", true],
  ["sh: line 1: exec: /usr/bin/bwrap: Permission denied", false],
  ["bwrap: execvp /bin/sh: No such file or directory", false],
  [
    "bwrap: No permissions to creating new namespace, likely because the kernel does not allow non-privileged user " +
    "namespaces. On e.g. debian this can be enabled with 'sysctl kernel.unprivileged_userns_clone=1'.",
    true,
  ],
  ["bwrap: No permissions to create a new namespace", true],
  ["bwrap: No permissions to open /newroot", false],
  ["bwrap: Creating new namespace failed: Operation not permitted", true],
  ["bwrap: Creating new namespace failed: Resource temporarily unavailable", false],
  ["bwrap: Creating new namespace failed: Cannot allocate memory", false],
  [OLD_KERNEL, false],
  [OLD_KERNEL, true, NONE],
  ["bwrap: setting up uid map: Permission denied", true],
  ["bwrap: setting up uid map: Operation not permitted", false],
  ["bwrap: setting up gid map: Permission denied", false],
  [LIMITED, false],
  [LIMITED, true, ZERO],
  ["bwrap: Creating new namespace failed: No space left on device", false, ZERO],
  ["bwrap: Can't mount proc on /newroot/proc: Operation not permitted", true],
  ["bwrap: Can't mount proc on /newroot/proc: Permission denied", true],
  ["bwrap: Can't mount proc on /newroot/proc: Cannot allocate memory", false],
  ["bwrap: Can't mount tmpfs on /newroot/tmp: Operation not permitted", false],
  ["bwrap: Failed to make / slave: Permission denied", true],
  ["bwrap: Failed to make / slave: Cannot allocate memory", false],
  ["bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", true],
  ["bwrap: loopback: Failed RTM_NEWADDR: Device or resource busy", false],
  ["bwrap: Can't find source path /tmp/gone: No such file or directory", false],
  ["bwrap: something nobody has seen", false],
  ["", false],
  // A backend dies of what it says last, and at the beginning of a line.
  ["bwrap: setting up uid map: Permission denied\nbwrap: Can't find source path /x: No such file", false],
  ["bwrap: warning\nbwrap: setting up uid map: Permission denied\n", true],
  ["bwrap: Can't find source path /a\tbwrap: setting up uid map: Permission denied", false],
];

for (const [says, ofMachine, machine = MACHINE] of ROWS) {
  const kind = machine === ZERO
    ? ", with a limit of 0,"
    : machine === NONE
    ? ", without user namespaces,"
    : "";
  Deno.test(`"${says.trim().slice(0, 90)}"${kind} is ${ofMachine ? "" : "not "}a failure caused by the machine`, () => {
    assert.equal(isOfMachine(says, machine), ofMachine);
  });
}

Deno.test("a limit of 0 on any kind of namespace counts as a cause of failure, and any other value does not", () => {
  for (const kind of ["user", "pid", "mnt", "uts", "ipc", "net"]) {
    const settings = (value: string) => ({
      ...MACHINE,
      settings: { [`user/max_${kind}_namespaces`]: value },
    });
    assert.ok(isOfMachine(LIMITED, settings("0")), kind);
    assert.ok(!isOfMachine(LIMITED, settings("1")), kind);
  }
  assert.ok(!isOfMachine(LIMITED, { ...MACHINE, settings: { "kernel/unprivileged_userns_clone": "0" } }));
});

Deno.test("the namespace settings of this machine's kernel are read correctly", {
  ignore: Deno.build.os !== "linux",
}, () => {
  const machine = readMachine();
  const limit = Deno.readTextFileSync("/proc/sys/user/max_user_namespaces").trim();
  assert.equal(machine.settings["user/max_user_namespaces"], limit);
  assert.equal(machine.userNamespaces, true);
});

const MOUNTED = "21 1 8:1 / / rw - ext4 /dev/sda rw\n22 21 0:5 / /proc rw - proc proc rw\n";

const CHROOTS: [what: string, roots: Parameters<typeof isChroot>[0], chroot: boolean][] = [
  ["a root folder that is a mount and is also the root of process 1", {
    mounts: MOUNTED,
    own: "1:2",
    first: "1:2",
  }, false],
  [
    "a root folder that is not a mount",
    { mounts: "22 21 0:5 / /proc rw - proc proc rw\n", own: null, first: null },
    true,
  ],
  ["a root folder that differs from that of process 1", { mounts: MOUNTED, own: "1:9", first: "1:2" }, true],
  ["a root folder of process 1 that is not readable", { mounts: MOUNTED, own: "1:2", first: null }, false],
  ["a table of mounts that cannot be read", { mounts: null, own: "1:2", first: "1:2" }, false],
];

for (const [what, roots, chroot] of CHROOTS) {
  Deno.test(`${what} ${chroot ? "counts" : "does not count"} as a chroot`, () => {
    assert.equal(isChroot(roots), chroot);
  });
}
