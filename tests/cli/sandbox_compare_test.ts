// `flemma sandbox compare`: what bubblewrap and Landlock would do for a command.

import assert from "node:assert/strict";
import { landlockVersion } from "../../sandbox/kernel/landlock_version.ts";
import { testWithScene as test } from "./harness.ts";

const POLICY = "rw_paths: [urn:flemma:cwd]";

test("both plans are shown with their difference, and nothing runs", async (place) => {
  place.settings(`sandbox: { policy: { ${POLICY} }, backends: { bwrap: { path: /nonexistent/bwrap } } }`);
  place.write("a b.chat", "@You:\nHello\n");
  const compare = (...more: string[]) =>
    place.run(["sandbox", "compare", "a b.chat", ...more, "--", "touch", "made"]);
  const { code, stdout, stderr } = await compare();
  assert.equal(code, 0, stderr);
  const folder = `${place.folder}/place`;
  assert.match(stdout, /^command {4}touch made\n\nbubblewrap\n {2}--ro-bind \/ \/\n/);
  assert.ok(stdout.includes(`\n  --ro-bind ${folder}/a b.chat ${folder}/a b.chat\n`), stdout);
  assert.ok(!place.exists("made"));
  const report = JSON.parse((await compare("--json")).stdout);
  assert.deepEqual(report.command, ["touch", "made"]);
  assert.equal(report.bwrap.arguments.at(-1), "made");
  if (!landlockVersion().ok) return;
  assert.match(stdout, /\n\nlandlock {3}repaired, ABI \d+\n {2}list {3}\/\n/);
  assert.ok(stdout.includes(`\n  write  ${folder}\n`));
  assert.match(stdout, /\n\ndifference under Landlock\n {2}restored after the command, not read-only: /);
  assert.ok(report.difference.restored.includes(`${folder}/a b.chat`));
  assert.ok(report.difference.notCovered.length > 3);
  assert.equal(report.landlock.error, null);
});

test("a plan that is not possible is shown with the reason, next to the other one", async (place) => {
  place.settings(`sandbox: { policy: { ${POLICY}, limits: { tmp_size: 1000000 } } }`);
  const { code, stdout, stderr } = await place.run(["sandbox", "compare", "--", "true"]);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /\nbubblewrap\n {2}--ro-bind /);
  assert.match(stdout, /\nlandlock\n {2}\S.+\n {2}\S.+\n$/);
});
