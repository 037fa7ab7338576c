// Messages about waiting calls: each must lead to a solution, whatever the person did in the block before.

import assert from "node:assert/strict";
import { callsDocument, testWithScene as test } from "./harness.ts";

const KEY = { ANTHROPIC_API_KEY: "test-key", FLEMMA_ANTHROPIC_BASE_URL: "http://127.0.0.1:4" };
const PENDING = callsDocument([{ id: "c1", command: "true", status: "pending" }]);
const FILLED = PENDING.replace("status=pending\n", "status=pending\nmy own words\n");

test("text in a pending block becomes the result, and check, status and approve say so or say why it does not", async (place) => {
  place.write("a.chat", FILLED);
  const checked = await place.run(["check", "a.chat"]);
  assert.match(
    checked.stdout,
    /The next advance uses the text in the block of c1 \(line 18\) as its result\./,
  );
  const status = await place.run(["status", "a.chat"]);
  assert.match(status.stdout, /^pending .*c1 {3}your text becomes its result$/m);
  assert.match(
    status.stdout,
    /^next: flemma advance a\.chat takes your text as the result and sends the conversation$/m,
  );
  const approved = await place.exits(3, ["approve", "a.chat"]);
  assert.match(
    approved.stderr,
    /^flemma: c1 is approved, but its block contains text \(line 18\)\. Delete the text to run the call, or write pending/m,
  );
  const after = await place.run(["status", "a.chat"]);
  assert.match(after.stdout, /^approved .*c1 {3}does not run: there is text in its block$/m);
  // The first way out, followed: the text goes, the call runs.
  place.write("a.chat", place.read("a.chat").replace("my own words\n", ""));
  await place.run(["advance", "--no-autopilot", "a.chat"], { env: KEY });
  assert.doesNotMatch(place.read("a.chat"), /flemma:tool/);
  // The second: pending again, and the text is the result.
  place.write("a.chat", FILLED);
  await place.run(["advance", "--no-autopilot", "a.chat"], { env: KEY });
  assert.match(place.read("a.chat"), /\*\*Tool Result:\*\* `c1`\n\n```\nmy own words\n```/);
});

test("for each call, check says what the call waits for", async (place) => {
  const rows: readonly (readonly [status: string | undefined, says: RegExp])[] = [
    [undefined, /The call c1 of bash has no result yet; flemma sends nothing until it has one\./],
    ["pending", /The call c1 of bash waits for you; flemma sends nothing until you decide\./],
    ["approved", /The call c1 of bash is approved but has not run; flemma sends nothing until it has run\./],
    ["rejected", /The call c1 of bash is rejected; the next advance reports this to the model\./],
  ];
  for (const [status, says] of rows) {
    place.write("a.chat", callsDocument([{ id: "c1", command: "true", status }]));
    const { stdout, code } = await place.run(["check", "a.chat"]);
    assert.match(stdout, says);
    assert.equal(code, 0);
  }
});

test("if a call cannot run, the model learns this immediately, even for a pending call, and status says so in advance", async (place) => {
  const ghost = PENDING.replace("`bash`", "`bosh`");
  for (
    const [text, why] of [[ghost, /There is no tool named bosh\./], [
      PENDING.replace('"command"', '"comand"'),
      /does not match/,
    ]] as const
  ) {
    place.write("a.chat", text);
    const status = await place.run(["status", "a.chat"]);
    assert.match(status.stdout, /c1 {3}cannot run: the model gets an error$/m);
    const { stderr } = await place.run(["advance", "--no-autopilot", "a.chat"], { env: KEY });
    assert.match(place.read("a.chat"), /\*\*Tool Result:\*\* `c1` \(error\)/);
    assert.match(stderr, why);
  }
});

test("a call with a misspelled status waits, a warning suggests the nearest status, and approve corrects it", async (place) => {
  place.write("a.chat", PENDING.replace("status=pending", "status=aproved"));
  const checked = await place.run(["check", "a.chat"]);
  assert.match(
    checked.stdout,
    /^a\.chat:17:1: warning status_unknown "aproved" is not a status, so flemma treats the block as pending\. Did you mean approved\?$/m,
  );
  await place.run(["approve", "a.chat"]);
  assert.match(place.read("a.chat"), /```flemma:tool status=approved\n/);
  place.write(
    "a.chat",
    PENDING.replace("flemma:tool status=pending", "").replace(
      "`c1`\n\n```\n```",
      "`c1` (Approved)\n\n```\n```",
    ),
  );
  const { stdout } = await place.run(["status", "a.chat"]);
  assert.match(stdout, /^approved /m);
});
