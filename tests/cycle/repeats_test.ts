// The guard against a model that repeats itself: what counts as a repetition, and what ends a series.

import assert from "node:assert/strict";
import { findRepeats } from "../../cycle/run/repeats.ts";
import { parse } from "../../parser/mod.ts";

interface Round {
  readonly name?: string;
  readonly input?: Record<string, unknown>;
  readonly result?: string | null;
  readonly words?: string;
  readonly suffix?: string;
}

let count = 0;
/** A reply with one call and its result. */
function round(
  { name = "bash", input = { command: "make" }, result = "failed", words, suffix = "" }: Round = {},
): string {
  const id = `call_${++count}`;
  const call = `@Assistant:\nI try.\n\n**Tool Use:** \`${name}\` (\`${id}\`)\n\n\`\`\`json\n${
    JSON.stringify(input)
  }\n\`\`\`\n\n`;
  const body = result === null
    ? `**Tool Result:** \`${id}\`\n\n\`\`\`flemma:tool status=pending\n\`\`\`\n`
    : `**Tool Result:** \`${id}\`${suffix}\n\n\`\`\`\n${result.replaceAll("ID", id)}\n\`\`\`\n`;
  return `${call}@You:\n${body}${words === undefined ? "" : `\n${words}\n`}\n`;
}

const found = (rounds: readonly string[], most = 3): number | null =>
  findRepeats(parse(new TextEncoder().encode(`@You:\nGo.\n\n${rounds.join("")}`)), most)?.length ?? null;

Deno.test("a call counts as a loop if it is repeated up to the limit with the same result", () => {
  assert.equal(found([round(), round(), round()]), 1);
  assert.equal(found([round({ result: "other" }), round(), round(), round()]), 1);
  assert.equal(found([round(), round()]), null);
  assert.equal(found([round(), round()], 2), 1);
  assert.equal(found(Array.from({ length: 9 }, () => round()), 0), null, "0 never looks");
  assert.equal(found([]), null);
});

Deno.test("equal calls do not count as a loop if a call with another tool, input, result or outcome is between them", () => {
  for (
    const other of [
      { name: "read" },
      { input: { command: "make test" } },
      { result: "done" },
      { suffix: " (error)" },
      { words: "Try it again." },
      { words: "{{ 1 }}" },
    ]
  ) {
    assert.equal(found([round(), round(other), round()]), null, JSON.stringify(other));
    if (other.words === undefined) assert.equal(found([round(), round(), round(other)]), null);
  }
});

Deno.test("calls that differ only in their labels, or in the ids in their results, count as repeated", () => {
  assert.equal(found(["a", "b", "c"].map((label) => round({ input: { label, command: "make" } }))), 1);
  assert.equal(found([1, 2, 3].map(() => round({ result: "[All of it: /tmp/flemma_bash_ID.txt]" }))), 1);
  assert.equal(found([1, 2, 3].map(() => round({ name: "nothing_of_that_name", suffix: " (error)" }))), 1);
});

Deno.test("a repeated sequence of several calls also counts as a loop", () => {
  const pair = () => [round({ input: { command: "a" } }), round({ input: { command: "b" } })];
  assert.equal(found([...pair(), ...pair(), ...pair()]), 2);
  assert.equal(found([...pair(), ...pair()]), null);
  assert.equal(found([...pair(), ...pair(), round({ input: { command: "a" } })]), null);
});

/** A reply with several calls, and their results. */
function replyWith(...commands: readonly string[]): string {
  const ids = commands.map(() => `call_${++count}`);
  const calls = ids.map((id, at) =>
    `**Tool Use:** \`bash\` (\`${id}\`)\n\n\`\`\`json\n{"command":"${commands[at]}"}\n\`\`\`\n\n`
  );
  const results = ids.map((id) => `**Tool Result:** \`${id}\`\n\n\`\`\`\nfailed\n\`\`\`\n\n`);
  return `@Assistant:\n${calls.join("")}@You:\n${results.join("")}`;
}

Deno.test("equal calls in one reply are not a loop before the model has seen their results; equal replies are", () => {
  const three = () => replyWith("make", "make", "make");
  assert.equal(found([three()]), null);
  assert.equal(found([three(), three()]), null);
  assert.equal(found([three(), three(), three()]), 3);
  assert.equal(found([three(), three(), replyWith("make", "make")]), null);
  const pair = () => replyWith("a", "b");
  assert.equal(found([pair(), pair(), pair()]), 2);
  assert.equal(found([replyWith("a", "b"), replyWith("a"), replyWith("b")]), null);
  assert.equal(found([replyWith(...Array.from({ length: 30 }, () => "make"))]), null);
});

Deno.test("a waiting call ends a series of repeated calls, and so does a reply without calls", () => {
  assert.equal(found([round(), round(), round({ result: null })]), null);
  const reply = "@Assistant:\nDone.\n\n@You:\n\n";
  assert.equal(found([round(), reply, round(), round()]), null);
  assert.equal(found([round(), round(), round(), reply]), null);
});
