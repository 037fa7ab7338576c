// Each way bubblewrap fails to come up is told by its cause, with what helps.

import assert from "node:assert/strict";
import { classifySetupFailure } from "../../../sandbox/backends/failures.ts";

/** What the backend said; what the sentence and the remedy must hold. */
const ROWS: [stderr: string, cause: RegExp, remedy: RegExp][] = [
  ["flemma: 1: exec: /opt/bwrap: not found", /not installed/, /package bubblewrap.*backends\.bwrap\.path/],
  ["sh: line 1: exec: /opt/bwrap: No such file or directory", /not installed/, /package bubblewrap/],
  ["spawn bwrap ENOENT", /not installed/, /package bubblewrap/],
  ["spawn bwrap EACCES", /not executable/, /package bubblewrap/],
  ["flemma: 1: exec: /opt/bwrap: Permission denied", /not executable/, /package bubblewrap/],
  [
    "bwrap: No permissions to create a new namespace, likely because the kernel does not allow it.",
    /user namespaces are not permitted/,
    /kernel\.unprivileged_userns_clone=1/,
  ],
  [
    "bwrap: No permissions to creating new namespace, likely because the kernel does not allow it.",
    /user namespaces are not permitted/,
    /kernel\.unprivileged_userns_clone=1/,
  ],
  [
    "bwrap: setting up uid map: Permission denied",
    /AppArmor/,
    /kernel\.apparmor_restrict_unprivileged_userns=0.*profile/,
  ],
  [
    "bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)",
    /limited/,
    /user\.max_user_namespaces/,
  ],
  [
    "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
    /process namespace/,
    /unmasked \/proc/,
  ],
  ["bwrap: Unknown option --perms", /too old to know --perms/, /0\.8 or later/],
  ["bwrap: prctl(PR_SET_SECCOMP): Invalid argument", /filter for system calls/, /block_unix_sockets/],
  ["bwrap: Failed to make / slave: Permission denied", /mounts propagate/, /seccomp/],
  ["bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", /network namespace/, /network to true/],
  [
    "bwrap: Can't find source path /home/me/with: colon: No such file or directory",
    /the path \/home\/me\/with: colon vanished/,
    /rw_paths/,
  ],
  ["bwrap: execvp zsh: No such file or directory", /program zsh cannot be started/, /tools\.bash\.shell/],
  ["\nbwrap: Something new\nmore", /"bwrap: Something new"/, /flemma doctor/],
  ["", /without a word/, /flemma doctor/],
];

for (const [stderr, cause, remedy] of ROWS) {
  Deno.test(`a set-up that fails with "${stderr.trim().split("\n")[0]}" is explained`, () => {
    const problem = classifySetupFailure(stderr, false);
    assert.equal(problem.code, "sandbox-setup-failed");
    assert.match(problem.message, cause);
    assert.match(problem.next ?? "", remedy);
    assert.match(problem.forModel, cause);
    assert.match(problem.forModel, /Do not try again/);
    assert.doesNotMatch(problem.message, /container/);
  });
}

Deno.test("inside a container the sentence says so and the remedy is one for containers", () => {
  const problem = classifySetupFailure("bwrap: No permissions to create a new namespace, …", true);
  assert.match(problem.message, /looks like a container/);
  assert.match(problem.next ?? "", /seccomp/);
  assert.doesNotMatch(problem.next ?? "", /sysctl/);
});
