// Each way bubblewrap fails to start is reported with its cause and remedy.

import assert from "node:assert/strict";
import { classifySetupFailure, type SetupConditions } from "../../../sandbox/backends/failures.ts";

/** A machine on which nothing of its own forbids namespaces. */
const OPEN: SetupConditions = { container: false, machine: { settings: {}, chroot: false } };

function withSetting(name: string, value: string, container = false): SetupConditions {
  return { container, machine: { settings: { [name]: value }, chroot: false } };
}

const CLONE_OFF = withSetting("kernel/unprivileged_userns_clone", "0");
const APPARMOR = withSetting("kernel/apparmor_restrict_unprivileged_userns", "1");

/** What the backend said; what the sentence and the remedy must hold; around what. */
const ROWS: [stderr: string, cause: RegExp, remedy: RegExp, around?: SetupConditions][] = [
  ["flemma: 1: exec: /opt/bwrap: not found", /not installed/, /package bubblewrap.*backends\.bwrap\.path/],
  ["sh: line 1: exec: /opt/bwrap: No such file or directory", /not installed/, /package bubblewrap/],
  ["spawn bwrap ENOENT", /not installed/, /package bubblewrap/],
  ["spawn bwrap EACCES", /not executable/, /package bubblewrap/],
  ["flemma: 1: exec: /opt/bwrap: Permission denied", /not executable/, /package bubblewrap/],
  [
    "bwrap: No permissions to create a new namespace, likely because the kernel does not allow it.",
    /user namespaces are not permitted/,
    /kernel\.unprivileged_userns_clone=1/,
    CLONE_OFF,
  ],
  [
    "bwrap: No permissions to creating new namespace, likely because the kernel does not allow it.",
    /user namespaces are not permitted/,
    /kernel\.unprivileged_userns_clone=1/,
    CLONE_OFF,
  ],
  [
    "bwrap: setting up uid map: Permission denied",
    /AppArmor/,
    /profile.*kernel\.apparmor_restrict_unprivileged_userns=0/,
    APPARMOR,
  ],
  ["bwrap: setting up uid map: Permission denied", /users cannot be mapped/, /journalctl -k/],
  ["bwrap: No permissions to create new namespace", /not permitted/, /profile.*apparmor/, APPARMOR],
  ["bwrap: Creating new namespace failed: Operation not permitted", /not permitted/, /chroot.*container/],
  [
    "bwrap: Creating new namespace failed, likely because the kernel does not support user namespaces.",
    /does not support user namespaces/,
    /CONFIG_USER_NS/,
  ],
  [
    "bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)",
    /limit on the number or depth/,
    /user\.max_user_namespaces/,
  ],
  [
    "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
    /process namespace/,
    /unmasked \/proc/,
  ],
  ["bwrap: Unknown option --perms", /does not support --perms/, /0\.8 or later/],
  ["bwrap: prctl(PR_SET_SECCOMP): Invalid argument", /system call filter/, /block_unix_sockets/],
  ["bwrap: Failed to make / slave: Permission denied", /mount propagation/, /seccomp/],
  ["bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", /network namespace/, /network to true/],
  [
    "bwrap: Can't find source path /home/me/with: colon: No such file or directory",
    /the path \/home\/me\/with: colon no longer exists/,
    /rw_paths/,
  ],
  [
    "bwrap: Can't find source path /srv/a: b/.git: Permission denied",
    /the permissions of \/srv\/a: b\/\.git do not let you in/,
    /Run flemma as the owner of that path/,
  ],
  [
    "bwrap: Can't find source path /srv/r/.git: Permission denied",
    /root has no privileges in the sandbox, and the permissions of \/srv\/r\/\.git do not let it in/,
    /as the owner/,
    { ...OPEN, root: true, container: true },
  ],
  [
    "bwrap: Can't find source path /srv/r/.git: No such file or directory",
    /no longer exists/,
    /rw_paths/,
    { ...OPEN, container: true },
  ],
  ["bwrap: execvp zsh: No such file or directory", /program zsh cannot be started/, /tools\.bash\.shell/],
  ["\nbwrap: Something new\nmore", /"bwrap: Something new"/, /bwrap --unshare-all/],
  ["", /without a message/, /bwrap --unshare-all/],
];

for (const [stderr, cause, remedy, around = OPEN] of ROWS) {
  const reported = Object.entries(around.machine.settings).map((each) => each.join("=")).join("");
  Deno.test(
    `a set-up that fails with "${stderr.trim().split("\n")[0]}" is explained ${reported}`.trim(),
    () => {
      const problem = classifySetupFailure(stderr, around);
      assert.equal(problem.code, "sandbox-setup-failed");
      assert.match(problem.message, cause);
      assert.match(problem.next ?? "", remedy);
      assert.match(problem.forModel, cause);
      assert.match(problem.forModel, /Do not try again/);
      assert.doesNotMatch(problem.message, /container/);
    },
  );
}

const REFUSED = "bwrap: No permissions to create a new namespace, …";

Deno.test("inside a container, the message says so and suggests a remedy that works in containers", () => {
  const problem = classifySetupFailure(REFUSED, { ...OPEN, container: true });
  assert.match(problem.message, /looks like a container/);
  assert.match(problem.next ?? "", /seccomp/);
  assert.doesNotMatch(problem.next ?? "", /sysctl|chroot/);
});

Deno.test("in a chroot, the message suggests neither a kernel setting nor a container, because neither would help", () => {
  for (const container of [false, true]) {
    const settings = { "kernel/unprivileged_userns_clone": "0" };
    const problem = classifySetupFailure(REFUSED, { container, machine: { settings, chroot: true } });
    assert.match(problem.cause ?? "", /a chroot has no user namespaces/);
    assert.match(problem.next ?? "", /outside the chroot/);
    assert.doesNotMatch(`${problem.message} ${problem.next}`, /sysctl|container|not permitted/);
  }
});

Deno.test("the message suggests a kernel setting only if that setting forbids namespaces; in a container, it must be set on the host", () => {
  assert.doesNotMatch(classifySetupFailure(REFUSED, OPEN).next ?? "", /sysctl/);
  const permitted = withSetting("kernel/unprivileged_userns_clone", "1");
  assert.doesNotMatch(classifySetupFailure(REFUSED, permitted).next ?? "", /sysctl/);
  const inside = withSetting("kernel/unprivileged_userns_clone", "0", true);
  assert.match(
    classifySetupFailure(REFUSED, inside).next ?? "",
    /sysctl .*on the container's host/,
  );
});
