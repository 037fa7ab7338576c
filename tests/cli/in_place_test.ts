// Changes in place, with real processes, signals and a second writer.

import assert from "node:assert/strict";
import { callsDocument, type Scene, testWithScene as test } from "./harness.ts";
import { callReply, textReply, withServer } from "./replies.ts";

const KEY = { ANTHROPIC_API_KEY: "test-key" };
const QUESTION = "@You:\nHow are you?\n";

/** A call that tells by a file that it runs, and ends when another file is there. */
function gated(id: string, status = "approved") {
  return {
    id,
    command: `echo ${id} >> log; touch ${id}.started; until [ -e gate ]; do sleep 0.05; done`,
    status,
  };
}

test("advance runs from a question through a call and its result to the answer", (place) =>
  withServer([callReply("c1", "echo hello"), textReply("It says hello.")], async ({ env, requests }) => {
    place.write("a.chat", QUESTION);
    const { stdout, stderr } = await place.exits(0, ["advance", "a.chat"], { env: { ...KEY, ...env } });
    assert.equal(stdout, "");
    assert.match(place.read("a.chat"), /```\nhello\n```\n\n@Assistant:\nIt says hello\.\n\n@You:\n\n$/);
    assert.match(JSON.stringify(requests[1]), /hello[^}]*"tool_result"|"tool_result"[^}]*hello/);
    assert.match(stderr, /flemma advance a\.chat\n$/);
  }));

test("a second run waits for the lock if asked to; otherwise it names the holder and exits with 5", async (place) => {
  place.write("a.chat", callsDocument([gated("c1")]));
  const first = place.start(["advance", "--no-autopilot", "a.chat"]);
  await place.appears("c1.started", first);
  const second = await place.exits(5, ["approve", "a.chat"]);
  assert.match(second.stderr, new RegExp(`in use by process ${first.pid} on `));
  const third = place.start(["reject", "a.chat", "c1", "--wait", "60"]);
  const status = await place.run(["status", "a.chat", "--json"]);
  assert.equal(JSON.parse(status.stdout).calls[0].status, "running");
  assert.equal(JSON.parse(status.stdout).next, "wait");
  place.write("gate", "");
  assert.equal((await first.finished).code, 0);
  const { code, stderr } = await third.finished;
  assert.equal(code, 1, "the call has its result by then");
  assert.match(stderr, /already has its result/);
});

test("after kill -9, a question in a buffer that is never saved does not let the file run the call again", async (place) => {
  const document = callsDocument([gated("c1")]);
  place.write("a.chat", document);
  const killed = place.start(["advance", "--no-autopilot", "a.chat"]);
  await place.appears("c1.started", killed);
  killed.kill("SIGKILL");
  await killed.finished;
  place.write("gate", "");
  const advance = ["advance", "--no-autopilot", "--messages", "stderr"];
  const filter = (words: readonly string[], stdin: string) =>
    place.run([...words, "--name", "a.chat"], { stdin });
  // An editor's buffer; each time, a message reports it.
  let buffer = document;
  for (let time = 0; time < 2; time++) {
    const asked = await filter(advance, buffer);
    assert.match(asked.stderr, /c1\) was running when flemma ended/);
    assert.match(asked.stdout, /status=pending/);
    buffer = asked.stdout;
  }
  assert.equal(place.read("a.chat"), document);
  const file = await place.exits(3, ["advance", "--no-autopilot", "a.chat"]);
  assert.match(file.stderr, /c1\) was running when flemma ended/);
  assert.equal(place.read("log"), "c1\n", "nothing ran again");
});

test("after kill -9, a call that a person approves again in a buffer runs there, without another question", async (place) => {
  const document = callsDocument([gated("c1")]);
  place.write("a.chat", document);
  const killed = place.start(["advance", "--no-autopilot", "a.chat"]);
  await place.appears("c1.started", killed);
  killed.kill("SIGKILL");
  await killed.finished;
  place.write("gate", "");
  const filter = async (words: readonly string[], stdin: string) =>
    (await place.run([...words, "--name", "a.chat"], { stdin })).stdout;
  const asked = await filter(["advance", "--no-autopilot"], document);
  const approved = await filter(["approve"], asked);
  assert.match(approved, /status=approved/);
  assert.doesNotMatch(await filter(["advance", "--no-autopilot"], approved), /status=/);
  assert.equal(place.read("log"), "c1\nc1\n");
});

test("after kill -9 the person is asked about the call that was running, the next call runs, and nothing runs twice", async (place) => {
  place.settings("tools: { max_concurrent: 1 }\n");
  const document = callsDocument([gated("c1"), {
    id: "c2",
    command: "echo c2 >> log",
    status: "approved",
  }]);
  place.write("a.chat", document);
  const killed = place.start(["advance", "--no-autopilot", "a.chat"]);
  await place.appears("c1.started", killed);
  killed.kill("SIGKILL");
  await killed.finished;
  assert.equal(place.read("a.chat"), document, "an approved block stays approved until its result is ready");
  const next = await place.exits(3, ["advance", "a.chat"]);
  assert.match(next.stderr, /An earlier run \(process \d+ on .*\) ended without finishing\./);
  assert.match(next.stderr, /c1\) was running when flemma ended/);
  const after = place.read("a.chat");
  assert.match(after, /\*\*Tool Result:\*\* `c1`\n\n```flemma:tool status=pending\n```\n/);
  assert.match(after, /\*\*Tool Result:\*\* `c2`\n\n```\n\(no output\)\n```\n/);
  assert.equal(place.read("log"), "c1\nc2\n");
  place.write("gate", "");
  await place.exits(0, ["approve", "a.chat"]);
  await place.exits(0, ["advance", "--no-autopilot", "a.chat"]);
  assert.equal(place.read("log"), "c1\nc2\nc1\n", "only what a person approved again ran again");
});

test("an interrupt stops running tools, writes the document, and exits with 130", async (place) => {
  place.write("a.chat", callsDocument([gated("c1")]));
  const run = place.start(["advance", "a.chat"]);
  await place.appears("c1.started", run);
  run.kill("SIGINT");
  const { code, stderr } = await run.finished;
  assert.equal(code, 130, stderr);
  assert.match(place.read("a.chat"), /\*\*Tool Result:\*\* `c1` \(error\)\n\n```\n[^\n]+\n```\n$/);
  assert.match((await place.run(["status", "a.chat"])).stdout, /next: /);
});

test("if an interrupt arrives during streaming, the partial reply is kept and marked", (place) =>
  withServer([{ ...textReply("Half an answer"), hang: true }], async ({ env }) => {
    place.write("a.chat", QUESTION);
    const run = place.start(["advance", "a.chat"], { env: { ...KEY, ...env } });
    await grows(place, "a.chat", "Half an answer");
    run.kill("SIGINT");
    assert.equal((await run.finished).code, 130);
    assert.match(place.read("a.chat"), /Half an answer\n\n<!-- flemma:aborted: .* -->\n$/);
  }));

test("after a crash during streaming, the document contains the partial reply without a mark", (place) =>
  withServer([{ ...textReply("Half an answer"), hang: true }, textReply("Again.")], async ({ env }) => {
    place.write("a.chat", QUESTION);
    const run = place.start(["advance", "a.chat"], { env: { ...KEY, ...env } });
    await grows(place, "a.chat", "Half an answer");
    run.kill("SIGKILL");
    await run.finished;
    assert.match(place.read("a.chat"), /^@You:\nHow are you\?\n\n@Assistant:\nHalf an answer\n?$/);
  }));

test("--no-stream writes the reply once, at its end", (place) =>
  withServer([{ ...textReply("Half an answer"), hang: true }], async ({ env, received }) => {
    place.write("a.chat", QUESTION);
    const run = place.start(["advance", "a.chat", "--no-stream"], { env: { ...KEY, ...env } });
    await received(1);
    run.kill("SIGKILL");
    await run.finished;
    assert.equal(place.read("a.chat"), QUESTION);
  }));

test("changes that another program makes in other parts of the file while a tool runs are kept", async (place) => {
  const document = callsDocument([gated("c1")]) + "\nA note.\n";
  place.write("a.chat", document);
  const run = place.start(["advance", "--no-autopilot", "a.chat"]);
  await place.appears("c1.started", run);
  place.write("a.chat", document.replace("Please.", "Please, now.").replace("A note.", "Two notes."));
  place.write("gate", "");
  const { code, stderr } = await run.finished;
  assert.equal(code, 0, stderr);
  const after = place.read("a.chat");
  assert.match(after, /^@You:\nPlease, now\.\n/);
  assert.match(after, /```\n\(no output\)\n```\n\nTwo notes\.\n$/);
});

test("a tool in the sandbox can write next to the document, but not into it or into the state folder", async (place) => {
  const command = "echo x > beside; echo x >> a.chat; mv beside a.chat; echo x > $XDG_STATE_HOME/flemma/x; " +
    "echo x > ../outside; ls -1";
  place.write("a.chat", callsDocument([{ id: "c1", command, status: "approved" }]));
  await place.exits(0, ["advance", "--no-autopilot", "a.chat"]);
  assert.equal(place.read("beside"), "x\n");
  assert.match(place.read("a.chat"), /^@You:\nPlease\./);
  assert.match(place.read("a.chat"), /a\.chat\nbeside\n```\n$/);
  assert.throws(() => Deno.statSync(`${place.folder}/state/flemma/x`));
  assert.throws(() => Deno.statSync(`${place.folder}/outside`));
});

test("the document keeps its file mode, and a symbolic link to it stays a link", async (place) => {
  place.write("real.chat", callsDocument([{ id: "c1", command: "true", status: "pending" }]));
  await Deno.chmod(place.path("real.chat"), 0o600);
  await Deno.symlink("real.chat", place.path("a.chat"));
  await place.exits(0, ["approve", "a.chat"]);
  assert.ok(Deno.lstatSync(place.path("a.chat")).isSymlink);
  assert.equal(Deno.statSync(place.path("a.chat")).mode! & 0o777, 0o600);
  assert.match(place.read("real.chat"), /status=approved/);
});

test("--json prints one event per line, and --cursor prints the next position to edit", (place) =>
  withServer([callReply("c1", "true")], async ({ env }) => {
    place.settings("tools: { auto_approve_sandboxed: false }\n");
    place.write("a.chat", QUESTION);
    const json = await place.exits(3, ["advance", "a.chat", "--json"], { env: { ...KEY, ...env } });
    const events = json.stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
    const names = new Set(events.map(({ event }) => event));
    for (
      const name of ["request:sending", "text", "request:finished", "approval:pending", "cursor", "stopped"]
    ) {
      assert.ok(names.has(name), `${name} is among ${[...names].join(" ")}`);
    }
    const pending = events.find(({ event }) => event === "approval:pending");
    assert.ok(!("diff" in pending), "a command changes what it likes");
    const reported = events.find(({ event }) => event === "text");
    assert.equal(place.read("a.chat").split("\n")[reported.line - 1], reported.text.split("\n")[0]);
    assert.equal(pending.preview, "bash: $ true");
    assert.match(json.stderr, /1 call waits for you: flemma approve a\.chat c1\n$/);
    const line = place.read("a.chat").split("\n").findIndex((text) => text.startsWith("**Tool Result")) + 1;
    const cursor = await place.run(["advance", "a.chat", "--cursor", "--quiet"]);
    assert.equal(cursor.stdout, `a.chat:${line}\n`);
    assert.equal(cursor.code, 3);
  }));

test("a server that stops responding is reported, and the document is unchanged", (place) =>
  withServer([{
    status: 529,
    body: '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
  }], async ({ env }) => {
    place.write("a.chat", QUESTION);
    const { stderr } = await place.exits(1, ["advance", "a.chat", "--no-retry"], {
      env: { ...KEY, ...env },
    });
    assert.match(stderr, /Overloaded/);
    assert.equal(place.read("a.chat"), QUESTION);
  }));

async function grows(place: Scene, name: string, text: string): Promise<void> {
  while (!place.read(name).includes(text)) await new Promise((done) => setTimeout(done, 5));
}
