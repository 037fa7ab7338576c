// Known keys of the person appear neither in results, events and errors nor in requests.

import assert from "node:assert/strict";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import { parse } from "../../parser/mod.ts";
import { dryRun } from "../../cycle/send/request.ts";
import type { CycleEvent } from "../../cycle/types.ts";
import { anthropic } from "../../providers/anthropic/provider.ts";
import { delta, END, frames, sent, SSE } from "../cycle/sending.ts";
import { bytesOf, type Place, testInPlace as test, textOf } from "./place.ts";

const KEY = "sk-ant-api03-0123456789";

const FREE = { overrides: { tools: { require_approval: false }, sandbox: { enabled: false } } };

function call(name: string, input: object): string {
  return `@You:\nhi\n\n@Assistant:\n\n**Tool Use:** \`${name}\` (\`c1\`)\n\n\`\`\`json\n${
    JSON.stringify(input)
  }\n\`\`\`\n`;
}

/** Runs one call in a session of a person with a key. Returns document and events. */
async function called(place: Place, name: string, input: object, tools: readonly object[] = []) {
  const events: CycleEvent[] = [];
  const environment = {
    ...place.environment,
    variables: { ...place.environment.variables, ANTHROPIC_API_KEY: KEY },
  };
  await using session = await place.memory(call(name, input), {
    environment,
    settings: FREE,
    tools: tools as never,
    emit: (event) => void events.push(event),
  });
  await session.execute("c1");
  return {
    document: textOf(session),
    result: session.chat.result("c1")?.content ?? "",
    output: events.flatMap((event) => event.event === "tool:output" ? [event.text] : []).join(""),
    events: JSON.stringify(events),
  };
}

test("the result of a command, its output while it runs and the saved output have the name of the key", async (place) => {
  place.write(".env", `A=1\nKEY=${KEY}\n`);
  const half = KEY.length / 2;
  const command = `cat ${place.path(".env")}; printf ${KEY.slice(0, half)}; sleep 0.2; echo ${
    KEY.slice(half)
  }`;
  const { result, output, events, document } = await called(place, "bash", { command });
  assert.equal(result, "A=1\nKEY=[ANTHROPIC_API_KEY]\n[ANTHROPIC_API_KEY]");
  assert.equal(output, `${result}\n`);
  assert.ok(!events.includes(KEY));
  assert.ok(!document.includes(KEY));
});

test("a long output is saved without the key", async (place) => {
  place.write("log", `${"x".repeat(99)}\n`.repeat(3000) + `${KEY}\n` + `${"y".repeat(99)}\n`.repeat(3000));
  const { result } = await called(place, "bash", { command: `cat ${place.path("log")}` });
  const [, saved = ""] = /Full output: (\S+?)[\].]*$/m.exec(result) ??
    /(\/\S+\.(?:txt|log)\S*)/.exec(result) ?? [];
  const text = Deno.readTextFileSync(saved.replace(/[\].]+$/, ""));
  assert.ok(text.includes("[ANTHROPIC_API_KEY]") && !text.includes(KEY));
});

test("results of read, of a failed command and of other tools have the name of the key", async (place) => {
  place.write("f", `key ${KEY}\n`);
  const read = await called(place, "read", { path: place.path("f") });
  assert.match(read.result, /key \[ANTHROPIC_API_KEY\]/);
  const failed = await called(place, "bash", { command: `cat ${place.path("f")}; exit 3` });
  assert.match(failed.result, /^key \[ANTHROPIC_API_KEY\]\n\nThe command failed/);
  const own = (execute: () => unknown) => [{
    name: "own",
    description: "d",
    input_schema: { type: "object" },
    execute,
  }];
  const structured = await called(
    place,
    "own",
    {},
    own(() => ({ success: true, output: { a: [KEY], [KEY]: 1 } })),
  );
  assert.deepEqual(JSON.parse(structured.result), { a: ["[ANTHROPIC_API_KEY]"], "[ANTHROPIC_API_KEY]": 1 });
  const thrown = await called(
    place,
    "own",
    {},
    own(() => {
      throw new Error(`refused: ${KEY}`);
    }),
  );
  assert.match(thrown.result, /refused: \[ANTHROPIC_API_KEY\]/);
  for (const { events } of [read, failed, structured, thrown]) assert.ok(!events.includes(KEY));
});

test("write does not replace a secret by its name, and edit leaves it where it is", async (place) => {
  const before = `A=1\nKEY=${KEY}\n`;
  place.write(".env", before);
  const path = place.path(".env");
  const refused = await called(place, "write", { path, content: "A=2\nKEY=[ANTHROPIC_API_KEY]\n" });
  assert.match(refused.result, /contains a secret that you see as \[ANTHROPIC_API_KEY\]\. .*Use edit/);
  assert.equal(place.read(".env"), before);
  await called(place, "edit", { path, oldText: "A=1", newText: "A=2" });
  assert.equal(place.read(".env"), before.replace("A=1", "A=2"));
  // Without the secret in the file, the words are words.
  const words = "see [ANTHROPIC_API_KEY] and [OTHER]\n";
  place.write("README", "x\n");
  for (const name of ["README", "new"]) {
    await called(place, "write", { path: place.path(name), content: words });
    assert.equal(place.read(name), words);
  }
});

test("the person's own text is never changed", async (place) => {
  const text = `@You:\nmy key is ${KEY}\n`;
  const environment = { ...place.environment, variables: { ANTHROPIC_API_KEY: KEY } };
  await using session = await place.memory(text, { environment, settings: FREE });
  assert.equal(textOf(session), text);
  await session.send();
  assert.ok(textOf(session).startsWith(text));
});

/** The problem that keeps a document from being sent, with a key in the environment; null if nothing does. */
async function refusal(document: string) {
  const { requests, outcome, after } = await sent({ headers: SSE, body: frames(delta("x"), END) }, {
    before: document,
    variables: { ANTHROPIC_API_KEY: KEY },
  });
  if (outcome.kind !== "failed") return null;
  assert.equal(requests.length, 0);
  assert.equal(after, document);
  return outcome.problem;
}

const REFUSED: readonly (readonly [what: string, document: string, place: string])[] = [
  ["a message", `@You:\nhi\n\nkey: ${KEY}\n`, "line 4"],
  ["the system prompt", `@System:\nkey: ${KEY}\n\n@You:\nhi\n`, "line 2"],
  ["an earlier reply", `@You:\nhi\n\n@Assistant:\nIt is ${KEY}.\n\n@You:\nthanks\n`, "line 5"],
  [
    "an input",
    `${call("bash", { command: `echo ${KEY}` })}\n@You:\n**Tool Result:** \`c1\`\n\n\`\`\`\nx\n\`\`\`\n`,
    "line 9",
  ],
  [
    "a result",
    `${call("bash", {})}\n@You:\n**Tool Result:** \`c1\`\n\n\`\`\`\nx\n${KEY}\n\`\`\`\n`,
    "line 17",
  ],
  ["an attached file", "@You:\nlook: @/FOLDER/f.txt\n", "the file FOLDER/f.txt in the message at line 1"],
];

for (const [what, document, place] of REFUSED) {
  test(`a request that would carry the key in ${what} is refused with its place`, async (folder) => {
    folder.write("f.txt", `a\n${KEY}\n`);
    const here = folder.path("").slice(0, -1);
    const problem = await refusal(document.replace("FOLDER", here));
    assert.equal(problem?.code, "key-in-request");
    const expected = `Not sent: the request would contain the value of ANTHROPIC_API_KEY, from ${place}.`;
    assert.equal(problem.message, expected.replace("FOLDER", here));
  });
}

Deno.test("a document with only a part of the API key is sent; only the complete key prevents sending", async () => {
  assert.equal(await refusal(`@You:\nkey: ${KEY.slice(0, -1)}\n`), null);
});

Deno.test("a server's error that quotes the key is shown without it, before and during a reply", async () => {
  const message = `invalid x-api-key: ${KEY}`;
  const body = JSON.stringify({ type: "error", error: { type: "authentication_error", message } });
  const before = await sent({ status: 401, headers: { "content-type": "application/json" }, body }, {
    variables: { ANTHROPIC_API_KEY: KEY },
  });
  assert.ok(before.outcome.kind === "failed");
  assert.match(before.outcome.problem.message, /invalid x-api-key: \[ANTHROPIC_API_KEY\]/);
  assert.ok(!JSON.stringify(before.outcome).includes(KEY));
  const during = await sent({
    headers: SSE,
    body: frames(delta("Hello"), { type: "error", error: { type: "api_error", message } }),
  }, { variables: { ANTHROPIC_API_KEY: KEY } });
  assert.match(during.after, /flemma:aborted: .*\[ANTHROPIC_API_KEY\]/);
  assert.ok(!during.after.includes(KEY) && !JSON.stringify(during.outcome).includes(KEY));
});

Deno.test("the dry run of a document with the key is refused, too", async () => {
  const prepared = await dryRun({
    chat: parse(bytesOf(`@You:\nkey: ${KEY}\n`)),
    document: null,
    settings: DEFAULT_SETTINGS,
    environment: { cwd: "/", home: "/", variables: {} },
    provider: anthropic,
    tools: [],
  });
  assert.ok(prepared.kind === "failed");
  assert.equal(prepared.problem.code, "key-in-request");
});
