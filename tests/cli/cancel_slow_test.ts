// `flemma cancel` stops work of another process: a call by id or line, a request, or everything.

import assert from "node:assert/strict";
import { textReply, withServer } from "./replies.ts";
import { type Scene, type Started, testWithScene as test } from "./harness.ts";

const call = (id: string, command: string) =>
  `**Tool Use:** \`bash\` (\`${id}\`)\n\n\`\`\`json\n${
    JSON.stringify({ label: "x", command, timeout: null })
  }\n\`\`\`\n`;

/** A document with calls that say that they began and then wait. */
const waiting = (...ids: readonly string[]) =>
  `@You:\nDo it.\n\n@Assistant:\nI will.\n\n${
    ids.map((id) => call(id, `echo output of ${id}; touch began-${id}; sleep 60`)).join("\n")
  }`;

/** Starts a run of these calls and waits until they go on. */
async function running(place: Scene, document: string, ...ids: readonly string[]): Promise<Started> {
  place.write(document, waiting(...ids));
  const started = place.start(["advance", document, "--approve", "bash", "--no-autopilot"]);
  for (const id of ids) await place.appears(`began-${id}`, started);
  return started;
}

const cancel = (place: Scene, ...args: readonly string[]) => place.run(["cancel", ...args]);

test("cancel stops one call by its id while another continues, and then stops the other", async (place) => {
  const started = await running(place, "a.chat", "call_1", "call_2");
  const second = await cancel(place, "a.chat", "call_2");
  assert.equal(second.code, 0, second.stderr);
  assert.equal(second.stderr, "Cancelled call_2 (bash).\nStill running: call_1 (bash).\n");
  const again = await cancel(place, "a.chat", "call_2");
  assert.equal(again.code, 1);
  assert.match(again.stderr, /The call call_2 is not running\.\n.*Running: call_1/);

  const rest = await cancel(place, "a.chat");
  assert.equal(rest.stderr, "Cancelled call_1 (bash).\n");
  // The run is over when the command is: nothing waits for it any more.
  const text = place.read("a.chat");
  assert.match(text, /\*\*Tool Result:\*\* `call_1`.*\n\n```[^\n]*\noutput of call_1\n/);
  assert.match(text, /\*\*Tool Result:\*\* `call_2`.*\n\n```[^\n]*\noutput of call_2\n/);
  const finished = await started.finished;
  assert.equal(finished.code, 1);
  assert.match(finished.stderr, /Another process \(\d+\) cancelled call_2 \(bash\)\./);
  assert.deepEqual([...Deno.readDirSync(`${place.folder}/state/flemma/running`)], []);
});

test("cancel stops all calls together, and --json reports what was stopped", async (place) => {
  const started = await running(place, "a.chat", "call_1", "call_2");
  const all = await cancel(place, "a.chat", "--all", "--json");
  assert.equal(all.code, 0, all.stderr);
  assert.deepEqual(JSON.parse(all.stdout), {
    cancelled: [
      { what: "call", id: "call_1", tool: "bash" },
      { what: "call", id: "call_2", tool: "bash" },
    ],
    running: [],
    ended: true,
  });
  assert.equal((await started.finished).code, 1);
});

test("cancel --line stops the call at that line, or the first running call if that call is not running", async (place) => {
  const started = await running(place, "a.chat", "call_1", "call_2");
  const line = place.read("a.chat").split("\n").findIndex((text) => text.includes("`call_2`")) + 1;
  const at = await cancel(place, "a.chat", "--line", String(line));
  assert.match(at.stderr, /^Cancelled call_2 /);
  const elsewhere = await cancel(place, "a.chat", "--line", "1");
  assert.match(elsewhere.stderr, /^Cancelled call_1 /);
  await started.finished;
});

test("cancel stops only the run of the named document, or the only run if no document is named", async (place) => {
  const a = await running(place, "a.chat", "call_a");
  place.write("b.chat", waiting("call_b"));
  const none = await cancel(place, "b.chat");
  assert.equal(none.code, 1);
  assert.match(none.stderr, /No run of b\.chat is in progress\./);
  const b = await running(place, "b.chat", "call_b");

  const foreign = await cancel(place, "b.chat", "call_a");
  assert.equal(foreign.code, 1);
  assert.match(foreign.stderr, /No call has the id call_a/);
  const which = await cancel(place);
  assert.equal(which.code, 2);
  assert.match(
    which.stderr,
    /2 documents are running\. Name one\.\n(.*\n)*.*flemma cancel .*\/a\.chat\n.*\/b\.chat/,
  );
  const listed: unknown = JSON.parse((await cancel(place, "--list", "--json")).stdout);
  assert.deepEqual(
    (listed as { document: string; calls: unknown; request: boolean }[])
      .map(({ document, calls, request }) => [document, calls, request]),
    [
      [place.path("a.chat"), [{ id: "call_a", tool: "bash" }], false],
      [place.path("b.chat"), [{ id: "call_b", tool: "bash" }], false],
    ],
  );
  Deno.linkSync(place.path("b.chat"), place.path("other.chat"));
  assert.match((await cancel(place, "other.chat")).stderr, /^Cancelled call_b /);
  assert.match((await cancel(place, "call_a")).stderr, /^Cancelled call_a /);
  await Promise.all([a.finished, b.finished]);
  assert.match((await cancel(place)).stderr, /No document is running\./);
  assert.equal((await cancel(place, "--list")).code, 0);
});

test("cancel reaches a filter that was given the name of its document", async (place) => {
  const args = ["execute", "call_1", "--name", "buffer.chat"];
  const started = place.start(args, { stdin: waiting("call_1") });
  await place.appears("began-call_1", started);
  assert.match((await cancel(place, "buffer.chat")).stderr, /^Cancelled call_1 /);
  assert.match((await started.finished).stdout, /output of call_1/);
});

test("cancelling a request keeps the part of the reply that arrived", async (place) => {
  await withServer([{ ...textReply("Half a reply"), hang: true }], async (server) => {
    place.write("a.chat", "@You:\nHello\n");
    const started = place.start(["advance", "a.chat"], {
      env: { ...server.env, ANTHROPIC_API_KEY: "test-key" },
    });
    while (!place.read("a.chat").includes("Half a reply")) await new Promise((done) => setTimeout(done, 5));
    const named = await cancel(place, "a.chat", "call_1");
    assert.equal(named.code, 1);
    assert.equal((await cancel(place, "a.chat")).stderr, "Cancelled the request.\n");
    assert.equal((await started.finished).code, 1);
    assert.match(place.read("a.chat"), /Half a reply/);
  });
});

test("a killed run no longer counts as running, and its folder is removed", async (place) => {
  const started = await running(place, "a.chat", "call_1");
  started.kill("SIGKILL");
  await started.finished;
  assert.match((await cancel(place, "a.chat")).stderr, /No run of a\.chat is in progress\./);
  assert.deepEqual([...Deno.readDirSync(`${place.folder}/state/flemma/running`)], []);
});

test("cancel refuses invalid combinations of options and says why", async (place) => {
  place.write("a.chat", waiting("call_1"));
  const rows: readonly (readonly [args: readonly string[], code: number, error: RegExp])[] = [
    [["-"], 2, /a piped document has none/],
    [["gone.chat"], 1, /There is no file gone\.chat/],
    [["a.chat", "call_1", "--all"], 2, /cannot be combined/],
    [["a.chat", "--line", "3", "--list"], 2, /cannot be combined/],
    [["a.chat", "call_1", "call_2"], 2, /Unexpected argument call_2/],
    [["a.chat", "--line", "none"], 2, /--line/],
  ];
  for (const [args, code, error] of rows) {
    const finished = await cancel(place, ...args);
    assert.equal(finished.code, code, `${args.join(" ")}: ${finished.stderr}`);
    assert.match(finished.stderr, error);
  }
});
