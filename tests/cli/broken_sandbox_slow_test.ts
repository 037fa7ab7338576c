// A bwrap that fails in every known way: what status, the tool result and the exit code then say.

import assert from "node:assert/strict";
import { type Scene, withScene } from "./harness.ts";
import { writeProgram } from "../folder.ts";

/** What bubblewrap prints → what the person is told, and whether only the machine itself can be the reason. */
const FAILURES: readonly (readonly [printed: string, cause: RegExp, ofMachine: boolean])[] = [
  [
    "bwrap: No permissions to create a new namespace, likely because the kernel does not allow it",
    /user namespaces are not permitted/,
    true,
  ],
  [
    "bwrap: setting up uid map: Permission denied",
    /AppArmor restricts user namespaces|users cannot be mapped into a user namespace/,
    true,
  ],
  [
    "bwrap: Creating new namespace failed: max_user_namespaces exceeded",
    /number or depth of namespaces/,
    false,
  ],
  ["bwrap: Can't mount proc on /newroot/proc: Operation not permitted", /separate process namespace/, true],
  ["bwrap: Failed to make / slave: Permission denied", /mount propagation/, true],
  ["bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", /separate network namespace/, true],
  [
    "bwrap: Can't find source path /gone: No such file or directory",
    /the path \/gone no longer exists/,
    false,
  ],
  ["bwrap: something nobody has seen yet", /something nobody has seen yet/, false],
];

const MODES = ["auto", "required", "bwrap"] as const;

function withBash(status: string): string {
  return "@You:\nRun it.\n\n@Assistant:\n**Tool Use:** `bash` (`call_1`)\n\n" +
    '```json\n{"label":"x","command":"echo ran >> runs.txt; echo done","timeout":null}\n```\n' + status;
}

const APPROVED = "\n@You:\n\n**Tool Result:** `call_1`\n\n```flemma:tool status=approved\n```\n";

/** A bwrap that tells its version and otherwise fails with the line. */
function plant(place: Scene, line: string, mode: string): void {
  const file = `${place.folder}/home/bwrap`;
  const quoted = line.replaceAll("'", `'\\''`);
  writeProgram(
    file,
    `#!/bin/sh\n[ "$1" = --version ] && { echo 'bubblewrap 0.8.0'; exit 0; }\necho '${quoted}' >&2\nexit 1\n`,
  );
  // A program in a folder that commands may change would not be used at all.
  const policy = "policy: { rw_paths: [urn:flemma:buffer:path] }";
  place.settings(`sandbox: { backend: ${mode}, ${policy}, backends: { bwrap: { path: ${file} } } }\n`);
}

for (const [line, cause, ofMachine] of FAILURES) {
  Deno.test(`if bwrap fails with "${line}", no call is approved, and flemma reports the cause and the remedy`, async () => {
    await withScene(async (place) => {
      for (const mode of MODES) {
        plant(place, line, mode);
        const status = await place.run(["sandbox", "status", "--json"]);
        const report = JSON.parse(status.stdout);
        assert.equal(status.code, 1);
        assert.equal(report.available, false);
        assert.match(report.error.message, cause);
        assert.ok((report.error.next ?? "").length > 10);
        assert.equal(report.auto_approval.bash, false);

        place.write("open.chat", withBash(""));
        const open = await place.run(["advance", "--no-autopilot", "open.chat"]);
        assert.equal(open.code, 3);
        assert.match(place.read("open.chat"), /status=pending/);
        assert.match(open.stderr, cause, "the reason why it does not run without asking");
        assert.ok(!place.exists("runs.txt"));

        place.write("approved.chat", withBash(APPROVED));
        const approved = await place.run(["advance", "--no-autopilot", "approved.chat"]);
        // Where the kernel has Landlock, what the person approved runs under it.
        const confined = report.backend === "landlock";
        assert.ok(!confined || (mode !== "bwrap" && ofMachine));
        assert.equal(report.error.next.includes("flemma sandbox use landlock"), confined);
        const runs = confined || (mode === "auto" && ofMachine);
        assert.equal(approved.code, runs ? 0 : 1);
        const result = place.read("approved.chat").split("**Tool Result:**")[1]!;
        if (runs) {
          assert.match(result, /^ `call_1`\n\n```\ndone\n/);
          assert.match(
            approved.stderr,
            confined ? /The sandbox landlock works/ : /without (?:a |the )?sandbox|bare/,
          );
          assert.equal(place.read("runs.txt"), "ran\n");
          Deno.removeSync(place.path("runs.txt"));
        } else {
          assert.match(result, /^ `call_1` \(error\)\n\n```\n[^\n]*[Ss]andbox/);
          assert.match(result, /nothing ran|did not run|nothing was run/i);
          assert.doesNotMatch(result, /macOS|trusted/, "the model gets the short sentence");
          assert.match(approved.stderr, cause);
          // The line of the result says why the call failed, as the document does.
          const reported = approved.stderr.replace(/^result .*$/m, "");
          assert.equal(reported.split(cause).length, 2, "once");
          assert.ok(!place.exists("runs.txt"));
        }
      }
    });
  });
}

/** Enters a folder that shows all that stands in the root, each mounted where it is. */
const CHROOT = `
root=$PWD/root; mkdir $root
for folder in /*; do
  if [ -L $folder ]; then cp -P $folder $root$folder
  elif [ -d $folder ]; then mkdir $root$folder; mount --rbind $folder $root$folder; fi
done
exec chroot $root sh -c 'cd "$0"; exec "$@"' "$PWD" "$@"`;

Deno.test("in a chroot, flemma advises to leave the chroot; outside, the sandbox works although its test failed in the chroot", async () => {
  await withScene(async (place) => {
    place.write("chroot.sh", CHROOT);
    place.settings("sandbox: { policy: { rw_paths: [urn:flemma:buffer:path] } }\n");
    place.write("open.chat", withBash(""));
    const inside = `unshare -rm sh chroot.sh ${place.program.join(" ")}`;
    const status = await place.shell(`${inside} sandbox status`);
    assert.equal(status.code, 1, status.stderr);
    assert.match(
      status.stdout,
      /(?:No sandbox works on this machine|on, but calls wait): bwrap: a chroot has no user namespaces\./,
    );
    assert.match(status.stdout, /Start flemma outside the chroot/);
    assert.doesNotMatch(status.stdout, /sysctl|docker/);
    const waiting = await place.shell(
      `rmdir root/* 2>/dev/null; rm -r root; ${inside} advance --no-autopilot open.chat`,
    );
    assert.equal(waiting.code, 3, waiting.stderr);
    assert.match(place.read("open.chat"), /status=pending/);

    place.write("open.chat", withBash(""));
    await place.run(["advance", "--no-autopilot", "open.chat"]);
    assert.equal(place.read("runs.txt"), "ran\n");
  });
});
