// A filter prints the complete document exactly once, whatever happens.

import assert from "node:assert/strict";
import { meaningOf } from "../../commands/io/interrupt.ts";
import { callsDocument, testWithScene as test } from "./harness.ts";
import { textReply, withServer } from "./replies.ts";

const QUESTION = "@You:\nHow are you?\n";
const APPROVED = callsDocument([{ id: "c1", command: "echo hello", status: "approved" }]);
const KEY = { ANTHROPIC_API_KEY: "test-key" };
const NOBODY = { ...KEY, FLEMMA_ANTHROPIC_BASE_URL: "http://127.0.0.1:9" };

test("a filter runs an approved call and prints the complete document with its result", async (place) => {
  const { stdout, stderr } = await place.exits(0, ["advance", "--no-autopilot"], { stdin: APPROVED });
  assert.equal(stdout, APPROVED.replace("```flemma:tool status=approved\n```", "```\nhello\n```"));
  assert.equal(stderr, "", "a successful filter prints no message");
});

test("a filter prints the document with the reply added", (place) =>
  withServer([textReply("I am well.")], async ({ env }) => {
    const { stdout } = await place.exits(0, ["advance", "-"], {
      stdin: QUESTION,
      env: { ...KEY, ...env },
    });
    assert.equal(stdout, QUESTION + "\n@Assistant:\nI am well.\n\n@You:\n\n");
  }));

test("every failure of a filter prints the input byte for byte, with its own exit code", async (place) => {
  place.settings("tools: [\n");
  const input = "\ufeff" + QUESTION.replaceAll("\n", "\r\n") + "no line end";
  const invalid = new Uint8Array([...new TextEncoder().encode("@You:\n"), 0xff, 0xfe, 0x0a]);
  const cases: readonly (readonly [readonly string[], number, Record<string, string>])[] = [
    [["advance", "--no-config"], 1, NOBODY],
    [["advance", "--no-config"], 1, {}],
    [["advance"], 2, KEY],
    [["advance", "--no-config", "--modle", "x"], 2, KEY],
    [["advance", "--no-config", "--provider", "nobody"], 2, KEY],
    [["send", "--no-config", "--headers"], 2, KEY],
    [["approve", "-", "nothing", "--no-config"], 1, {}],
    [["execute", "-", "--no-config"], 2, {}],
    [["advanse"], 2, {}],
  ];
  await Promise.all(cases.map(async ([args, exit, env]) => {
    const { code, stdout, stderr } = await place.run(args, { stdin: input, env });
    assert.equal(code, exit, `${args.join(" ")}: ${stderr}`);
    assert.equal(stdout, input, args.join(" "));
    assert.match(stderr, /^flemma: /, args.join(" "));
  }));
  place.write("invalid", invalid);
  const { stdout } = await place.shell("flemma advance --no-config < invalid > out; echo $?");
  assert.equal(stdout, "1\n");
  assert.deepEqual(Deno.readFileSync(place.path("out")), invalid);
});

test("an empty standard input is an empty document", async (place) => {
  for (const stdin of ["", "\n\n"]) {
    const { stdout, stderr } = await place.exits(4, ["advance"], { stdin });
    assert.equal(stdout, stdin);
    assert.match(stderr, /no message/);
  }
});

test("after a server error or disconnect a filter prints at least the question, and marks a partial reply", (place) =>
  withServer(
    [
      { status: 500, body: "broken" },
      { ...textReply("Half an ans"), cut: true },
      { ...textReply("Half an ans"), cut: true },
    ],
    async ({ env }) => {
      const options = { stdin: QUESTION, env: { ...KEY, ...env } };
      const failed = await place.run(["advance", "--no-retry"], options);
      assert.deepEqual([failed.code, failed.stdout], [1, QUESTION]);
      // Editors throw away the text of a failing filter.
      const cut = await place.exits(0, ["advance"], options);
      const strict = await place.exits(1, ["advance", "--exit-code"], options);
      assert.match(strict.stderr, /connection ended/);
      const id = /flemma recover (\S+)\n$/.exec(strict.stderr)![1]!;
      assert.equal((await place.run(["recover", id])).stdout, strict.stdout);
      assert.ok(cut.stdout.startsWith(`${QUESTION}\n@Assistant:\nHalf an ans`), cut.stdout);
      assert.match(cut.stdout, /<!-- flemma:aborted: .* -->/);
    },
  ));

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGALRM"] as const) {
  test(`if ${signal} arrives while a tool runs, the filter prints and saves the document with the stopped call`, async (place) => {
    const document = callsDocument([{
      id: "c1",
      command: "touch started; exec sleep 600",
      status: "approved",
    }]);
    const run = place.start(["advance"], { stdin: document });
    await place.appears("started", run);
    run.kill(signal);
    const { code, stdout, stderr } = await run.finished;
    assert.deepEqual([code, stderr], [0, ""]);
    const kept = await place.run(["recover"]);
    assert.equal(kept.stdout, stdout, "an editor may have thrown away what an interrupted filter gave");
    const [before] = document.split("**Tool Result:**");
    assert.ok(stdout.startsWith(`${before}**Tool Result:** \`c1\` (error)\n\n\`\`\`\n`), stdout);
    assert.ok(stdout.endsWith("\n```\n"), stdout);
  });
}

test("a second interrupt ends the run immediately, and the document is still printed", async (place) => {
  const command = "trap '' TERM INT HUP; touch started; while :; do sleep 1; done";
  const document = callsDocument([{ id: "c1", command, status: "approved" }]);
  const run = place.start(["advance", "--no-sandbox", "--events", "stderr"], { stdin: document });
  await place.appears("started", run);
  let over = false;
  const finished = run.finished.finally(() => over = true);
  // Pressed until it is so: on a slow machine two may be too far apart to be one after the other.
  while (!over) {
    // Nobody is there any more once it has ended.
    try {
      run.kill("SIGINT");
    } catch {
      break;
    }
    await new Promise((done) => setTimeout(done, 150));
  }
  const { stdout, stderr } = await finished;
  assert.ok(stdout.startsWith("@You:\nPlease.\n\n@Assistant:\nI will.\n"), stdout);
  assert.match(stderr, /"event":"tool:executing"/);
  assert.doesNotMatch(stderr, /"event":"stopped"/, "a normal end is reported");
});

Deno.test("a signal is ignored if it follows an interrupt within 0.1 seconds, and is a second interrupt if it comes within two seconds", () => {
  // A process and its group are signalled by two calls of the system, one after the other.
  const rows = [
    [Infinity, "first"],
    [0, "same"],
    [99, "same"],
    [100, "second"],
    [1999, "second"],
    [2000, "first"],
  ] as const;
  for (const [since, meaning] of rows) assert.equal(meaningOf(since), meaning, String(since));
});

test("if standard output and standard error are the same, messages are not printed but can be read later", async (place) => {
  place.write("in", QUESTION);
  const merged = await place.shell("flemma advance < in 2>&1");
  assert.equal(merged.stdout, QUESTION);
  const file = await place.shell("flemma advance < in > out 2>&1; cat out");
  assert.equal(file.stdout, QUESTION);
  const usage = await place.shell("flemma advance --bad < in 2>&1");
  assert.equal(usage.stdout, QUESTION);
  const apart = await place.shell("flemma advance < in 2> err; cat err");
  assert.match(apart.stdout, /ANTHROPIC_API_KEY/);
  const last = await place.run(["status", "--last"]);
  assert.match(last.stdout, /ANTHROPIC_API_KEY/);
  const editor = await place.shell("flemma advance < in 2> err; cat err", { env: { VIMRUNTIME: "/v" } });
  assert.equal(editor.stdout, QUESTION, "some editors read both streams");
  const asked = await place.shell("flemma advance --messages stderr < in 2>&1 >out", {
    env: { VIMRUNTIME: "/v" },
  });
  assert.match(asked.stdout, /ANTHROPIC_API_KEY/);
  await place.shell("flemma advance --messages words < in 2>&1 >out");
  assert.match(place.read("words"), /ANTHROPIC_API_KEY/);
});

test("the messages of the last filter run are shown only for the document of that run", async (place) => {
  const other = "@You:\nAnother\n";
  await place.run(["advance"], { stdin: QUESTION });
  await place.run(["approve", "--name", "b.chat", "zzzz"], { stdin: other });
  const piped = await place.run(["status", "--last"], { stdin: QUESTION });
  assert.match(piped.stdout, /ANTHROPIC_API_KEY/);
  for (const args of [["b.chat"], ["--name", "b.chat"], []]) {
    const { stdout } = await place.run(["status", "--last", ...args]);
    assert.match(stdout, /zzzz/, args.join(" "));
  }
  const none = await place.run(["status", "--last"], { stdin: other });
  assert.equal(none.stdout, "");
  assert.match(none.stderr, /of this document/);
});

test("a filter does not crash when the reader of its output goes away", async (place) => {
  place.write("in", `@You:\n${"long line of text\n".repeat(60_000)}`);
  const { stdout, stderr } = await place.shell("(flemma advance < in; echo code $? >&2) | head -c 10");
  assert.equal(stdout, "@You:\nlong");
  assert.match(stderr, /The reader of standard output closed it/);
  assert.match(stderr, /code 1\n$/);
  assert.doesNotMatch(stderr, /\bat \w+ \(/);
});

test("if a call is pending, a filter reports its id and exits with 0, or with 3 if --exit-code is given", async (place) => {
  place.settings("tools: { auto_approve_sandboxed: false }\n");
  const stdin = callsDocument([{ id: "c1", command: "touch ran" }]);
  const [plain, strict] = await Promise.all([
    place.run(["advance"], { stdin }),
    place.run(["advance", "--exit-code"], { stdin }),
  ]);
  assert.deepEqual([plain.code, strict.code], [0, 3]);
  assert.equal(plain.stderr, "");
  assert.match(strict.stderr, /c1/);
  for (const { stdout } of [plain, strict]) {
    assert.ok(stdout.endsWith("**Tool Result:** `c1`\n\n```flemma:tool status=pending\n```\n"), stdout);
  }
  const last = await place.run(["status", "--last"], { stdin });
  assert.match(last.stdout, /flemma approve c1\n/);
  assert.ok(!place.exists("ran"));
});

test("in filter mode, events go to the named file, one JSON object per line", async (place) => {
  const args = ["advance", "--no-autopilot", "--json", "--events", "events.jsonl"];
  const { stdout } = await place.run(args, { stdin: APPROVED });
  assert.ok(stdout.startsWith("@You:"), "standard output is the document, also with --json");
  const events = place.read("events.jsonl").trimEnd().split("\n").map((line) => JSON.parse(line));
  const names = events.map(({ event }) => event);
  assert.ok(names.includes("tool:executing") && names.includes("tool:finished"), names.join(" "));
  assert.deepEqual(events.at(-1), { event: "stopped", reason: "stepped", ids: [], line: null, exit: 0 });
});

test("--name tells a filter the document's name, and the filter does not touch that file", async (place) => {
  await Deno.mkdir(place.path("project"));
  const stdin = callsDocument([{ id: "c1", command: "pwd", status: "approved" }]);
  const { stdout } = await place.run(["advance", "--no-autopilot", "--name", "project/x.chat"], { stdin });
  assert.match(stdout, /\/place\/project\n/);
  assert.ok(!place.exists("project/x.chat"));
});

test("a tool cannot read the document from standard input", async (place) => {
  const stdin = callsDocument([{ id: "c1", command: "cat; echo end", status: "approved" }]);
  const { stdout } = await place.run(["advance", "--no-autopilot"], { stdin });
  assert.match(stdout, /```\nend\n```\n$/);
});
