// The demo as a person sees it, with and without bubblewrap.

import assert from "node:assert/strict";
import { landlockVersion } from "../../sandbox/kernel/landlock_version.ts";
import { type Finished, type Scene, testWithScene as test, withScene } from "./harness.ts";

function shows({ code, stdout, stderr }: Finished, sandbox: RegExp): void {
  assert.equal(code, 0, stdout + stderr);
  assert.match(stdout, sandbox);
  for (
    const line of ["advance demo.chat", "approve demo.chat toolu_test_1", "approve demo.chat toolu_test_2"]
  ) {
    assert.ok(stdout.includes(`\n$ flemma ${line}\n`), line);
  }
  assert.match(stdout, /```flemma:tool status=pending/);
  assert.match(stdout, /replays the model's replies and token counts\. Nothing is charged\./);
  assert.match(stderr, /: [1-9][\d,]* tokens in, [1-9]\d* out, \$0\.\d*[1-9]/);
  assert.doesNotMatch(stderr, /\b0 tokens in|\$0;/);
  assert.match(stdout, /`toolu_test_1` \(error\)\n\n```\nFAILED: the total is 30, not 42/);
  assert.match(
    stdout,
    /\n\$ sh test\.sh\nok: the total is 42\n\nThe test passes\. The document is \S+demo\.chat\n$/,
  );
}

/** Where bubblewrap is. */
function bubblewrap(place: Scene): string {
  const found = place.env.PATH!.split(":").map((folder) => `${folder}/bwrap`).find((path) => {
    try {
      return Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  });
  return Deno.realPathSync(found ?? assert.fail("bubblewrap is needed for this test"));
}

Deno.test("at the end of the demo, the repaired test really passes", () =>
  withScene(async (place) => shows(await place.process(["demo"]), /inside the sandbox \(bwrap\)/)));

test("without bubblewrap the demo says so and still works", async (place) => {
  // A machine like this one, in which the file of bubblewrap is an empty device.
  const bwrap = bubblewrap(place);
  const hidden = [bwrap, "--dev-bind", "/", "/", "--ro-bind", "/dev/null", bwrap, "--"];
  const finished = await place.spawn([...hidden, ...place.program, "demo"], {}).finished;
  const isConfined = landlockVersion().ok;
  shows(
    finished,
    isConfined ? /inside the sandbox \(landlock\)/ : /No sandbox works here, so commands run without/,
  );
});
