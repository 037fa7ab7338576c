// A session on a text in memory: each method, its refusals, and several calls in parallel.

import assert from "node:assert/strict";
import { chatInMemory, openChat } from "../../agent/open.ts";
import type { CycleEvent } from "../../cycle/types.ts";
import {
  answer,
  answered,
  asking,
  bytesOf,
  codeOf,
  ECHO,
  hangingFetch,
  inPlace,
  running,
  sessionOf,
  testInPlace as test,
  textOf,
  withModel,
} from "./place.ts";

const ECHO_CALL = { tool_use: { id: "call_1", name: "echo", input: { text: "hi" } } };
const LONG = JSON.stringify({ text: "x".repeat(200) });

test("advance runs an approved tool of the host, sends its result and writes the reply", async (place) => {
  await withModel([{ reply: [ECHO_CALL] }, { reply: [{ text: "Done." }] }], async (provider, replay) => {
    const session = await place.memory("@You:\nSay hi.\n", {
      provider,
      tools: [ECHO],
      settings: { approve: ["echo"] },
    });
    const stop = await session.advance();
    assert.deepEqual([stop.reason, stop.problem], ["done", undefined]);
    assert.match(textOf(session), /```\nhi\n```\n\n@Assistant:\nDone\.\n/);
    assert.equal(replay.requests.length, 2);
    assert.match(replay.requests[0]!.body, /"name":"echo"/);
  });
});

test("a call that nothing approves waits, has a preview, and runs once it is approved", async (place) => {
  await withModel([{ reply: [ECHO_CALL] }, { reply: [{ text: "Done." }] }], async (provider) => {
    const session = await place.memory("@You:\nSay hi.\n", { provider, tools: [ECHO] });
    assert.deepEqual((await session.advance()).reason, "pending");
    assert.deepEqual(await session.calls(), [{
      id: "call_1",
      number: 1,
      name: "echo",
      status: "pending",
      line: 14,
      preview: 'echo: text="hi"',
      previewIsCut: false,
      hasText: false,
      doubt: null,
      helper: null,
      questions: null,
      decided: { decision: "require_approval", source: "default" },
    }]);
    assert.deepEqual(await session.approve({ kind: "only" }), { ok: true, value: ["call_1"] });
    assert.equal((await session.advance()).reason, "done");
    assert.deepEqual(await session.calls(), []);
  });
});

test("if an input does not match the schema of a host's tool, the result is an error and the preview says so", async (place) => {
  const session = await place.memory(asking(["a", "echo", '{"text":1}']), {
    tools: [ECHO],
    settings: { approve: ["echo"], overrides: { tools: { autopilot: { enabled: false } } } },
  });
  assert.match((await session.calls())[0]!.preview, /will not run, \/text: must be string/);
  await session.advance();
  assert.match(textOf(session), /`a` \(error\)\n\n```\n.*does not match the tool's schema/);
});

test("send refuses while calls have no result, and otherwise sends without running tools", async (place) => {
  const open = await place.memory(asking(["a", "echo", '{"text":"x"}']), { tools: [ECHO] });
  const before = textOf(open);
  const { reason, ids, line } = await open.send();
  assert.deepEqual([reason, ids, line], ["unanswered", ["a"], 7]);
  assert.equal(textOf(open), before);
  assert.equal((await (await place.memory("")).send()).reason, "empty");
  await withModel([{ reply: [ECHO_CALL] }], async (provider) => {
    const options = { provider, tools: [ECHO], settings: { approve: ["echo"] } };
    const session = await place.memory("@You:\nHi\n", options);
    const stop = await session.send();
    assert.deepEqual([stop.reason, stop.ids], ["stepped", ["call_1"]]);
    assert.doesNotMatch(textOf(session), /Tool Result/);
  });
});

test("during a request every other operation is refused, and cancel ends the request", async (place) => {
  const { fetch, asked } = hangingFetch();
  await withModel([], async (provider) => {
    const session = await place.memory("@You:\nHi\n", { provider, fetch });
    assert.equal(session.cancel(), false);
    const sending = session.send();
    await asked;
    for (const each of [session.send(), session.advance(), session.execute("a")]) {
      const { reason, problem } = await each;
      assert.deepEqual([reason, problem?.code], ["failed", "busy"]);
    }
    assert.equal(session.cancel(), true);
    assert.equal((await sending).reason, "cancelled");
    assert.equal(session.cancel(), false);
    assert.equal(textOf(session), "@You:\nHi\n");
  });
});

test("send is refused while tools run", async (place) => {
  const settings = { approve: ["wait"], overrides: { tools: { autopilot: { enabled: false } } } };
  const { session, advancing, end } = await running(place, { settings });
  assert.equal((await session.send()).problem?.code, "busy");
  assert.equal((await session.calls())[0]?.status, "running");
  assert.equal(codeOf(await session.approve("a")), "already-running");
  assert.equal(codeOf(await session.reject("a")), "already-running");
  end();
  assert.equal((await advancing).reason, "stepped");
});

test("cancelCall ends only the call it names", async (place) => {
  const { session, advancing } = await running(place);
  assert.equal(session.cancelCall("b"), false);
  assert.equal(session.cancelCall("a"), true);
  const { reason, ids } = await advancing;
  assert.deepEqual([reason, ids], ["cancelled", ["a"]]);
});

test("execute runs one call, named by its id, a prefix of the id, or a line", async (place) => {
  const text = asking(["call_1", "echo", '{"text":"one"}'], ["call_2", "echo", '{"text":"two"}']);
  const off = { overrides: { tools: { autopilot: { enabled: false } } } };
  for (const target of ["call_2", { kind: "line", line: 13 }] as const) {
    const session = await place.memory(text, { tools: [ECHO], settings: off });
    assert.equal((await session.execute(target)).reason, "stepped");
    assert.match(textOf(session), /`call_2`\n\n```\ntwo\n/);
    assert.doesNotMatch(textOf(session), /```\none\n/);
  }
  const session = await place.memory(
    answered(text, answer("call_1", "pending"), answer("call_2", "pending")),
  );
  const before = textOf(session);
  for (
    const [target, code] of [
      ["call_", "target-ambiguous"],
      ["x", "unknown-call"],
      [{ kind: "all" }, "target-ambiguous"],
      [{ kind: "only" }, "target-needed"],
      [{ kind: "line", line: 1 }, "no-call-here"],
      [{ kind: "tool", name: "bash" }, "no-pending-call"],
    ] as const
  ) {
    const { reason, problem } = await session.execute(target);
    assert.deepEqual([reason, problem?.code], ["failed", code], JSON.stringify(target));
  }
  assert.equal(textOf(session), before);
});

test("approve and reject change either all of the given calls or none", async (place) => {
  const calls = asking(["a", "echo", '{"text":"1"}'], ["b", "echo", '{"text":"2"}'], [
    "c",
    "echo",
    '{"text":"3"}',
  ]);
  const text = answered(calls, answer("a", "pending"), answer("b", null, "done"), answer("c", "pending"));
  const session = await place.memory(text);
  for (
    const [targets, code] of [
      [["a", "b"], "already-completed"],
      [["a", "zz"], "unknown-call"],
      [["a", { kind: "tool", name: "bash" }], "no-pending-call"],
      [[], "unknown-call"],
    ] as const
  ) {
    assert.equal(codeOf(await session.approve(...targets)), code);
    assert.equal(codeOf(await session.reject(targets, "no")), code);
    assert.equal(textOf(session), text);
  }
  assert.deepEqual(await session.approve("a", { kind: "line", line: 7 }), { ok: true, value: ["a"] });
  assert.deepEqual(await session.reject({ kind: "all" }, "too long"), { ok: true, value: ["c"] });
  const expected = answered(
    calls,
    answer("a", "approved"),
    answer("b", null, "done"),
    answer("c", "rejected", "too long"),
  );
  assert.equal(textOf(session), expected);
});

test("a call with a shortened preview is approved only by id or line, but can be rejected in any way", async (place) => {
  const text = answered(asking(["a", "echo", LONG]), answer("a", "pending"));
  for (const target of [{ kind: "only" }, { kind: "all" }, { kind: "tool", name: "echo" }] as const) {
    const session = await place.memory(text, { path: "talk.chat" });
    const refused = await session.approve(target);
    assert.equal(codeOf(refused), "preview-cut");
    assert.match(refused.ok ? "" : refused.problem.next ?? "", /line 7.*flemma approve .*\ba$/);
    assert.equal(textOf(session), text);
    assert.equal(codeOf(await session.reject(target)), "ok");
  }
  for (const target of ["a", { kind: "line", line: 8 }] as const) {
    assert.equal(codeOf(await (await place.memory(text)).approve(target)), "ok");
  }
});

test("plan returns the next steps and executes none of them", async (place) => {
  const session = await place.memory(asking(["a", "echo", '{"text":"1"}']), { tools: [ECHO] });
  const before = textOf(session);
  assert.deepEqual((await session.plan()).map((step) => step.do), ["place", "rest"]);
  assert.equal(textOf(session), before);
  assert.deepEqual(await (await place.memory("")).plan(), []);
  assert.deepEqual(await (await place.memory("```yaml\nflemma: { nope: 1 }\n```\n" + before)).plan(), []);
});

test("request returns what send would send, including the frontmatter, without a key and without sending it", async (place) => {
  const text =
    "```yaml\nflemma:\n  model: claude-sonnet-4-6\n  parameters: { temperature: 0.5, thinking: false }\nname: Ada\n```\n" +
    "@System:\nYou are {{ name }}.\n\n@You:\nHi\n";
  const session = await place.memory(text, { fetch: () => assert.fail("it was sent") });
  const prepared = await session.request();
  assert.ok(prepared.kind === "ready");
  const body = JSON.parse(prepared.request.body);
  assert.deepEqual([body.temperature, body.system[0].text], [0.5, "You are Ada."]);
  assert.ok(Object.values(prepared.request.headers).includes("[hidden]"));
  assert.equal(session.settings.parameters.temperature, 0.5);
  assert.equal(session.loaded.settings.parameters.temperature, null);
  assert.deepEqual(session.document.variables, { name: "Ada" });
  const empty = await (await place.memory("@You:\n\n")).request();
  assert.equal(empty.kind, "blocked");
  const unknown = await place.memory("@You:\nHi\n", { settings: { overrides: { provider: "anthropic" } } });
  assert.equal((await unknown.request()).kind, "ready");
});

test("diagnose finds errors in text, frontmatter and templates, in document order", async (place) => {
  const text = "```yaml\nflemma: { nope: 1 }\n```\n@You:\n{{ missing.member }}\n\n@Assistent:\nHm.\n";
  const session = await place.memory(text);
  const { diagnostics, blocked } = await session.diagnose();
  assert.equal(blocked, true);
  const lines = diagnostics.map(({ start }) => start ?? 1);
  assert.deepEqual(lines, [...lines].sort((a, b) => a - b));
  const codes = diagnostics.map(({ code }) => code);
  for (const code of ["config_unknown_key", "role_unknown"]) {
    assert.ok(codes.includes(code), codes.join(" "));
  }
  assert.deepEqual(session.blockers.map(({ code }) => code), ["config_unknown_key"]);
  assert.deepEqual(await (await place.memory("@You:\nHi\n")).diagnose(), { diagnostics: [], blocked: false });
});

test("frontmatter with an error blocks advance, send and execute, but not approve and reject", async (place) => {
  const text = "```yaml\nflemma: { nope: 1 }\n```\n" +
    answered(asking(["a", "echo", '{"text":"1"}']), answer("a", "pending"));
  const session = await place.memory(text, { tools: [ECHO], settings: { approve: ["echo"] } });
  for (const each of [() => session.advance(), () => session.send(), () => session.execute("a")]) {
    assert.equal((await each()).reason, "diagnostics");
  }
  assert.equal(textOf(session), text);
  assert.equal(codeOf(await session.approve("a")), "ok");
});

Deno.test("text or a blank line above the frontmatter blocks the next step until that text or line is removed", async () => {
  await inPlace(async (place) => {
    const text = "```yaml\nflemma: { tools: { auto_approve: [] } }\n```\n" +
      asking(["a", "echo", '{"text":"1"}']);
    const session = await place.memory(text, { tools: [ECHO], settings: { approve: ["echo"] } });
    assert.equal(await session.edit([{ from: 0, to: 0, insert: "\n" }]), null);
    assert.deepEqual(session.chat.frontmatter, null);
    const stop = await session.advance();
    assert.deepEqual([stop.reason, stop.problem?.code], ["diagnostics", "frontmatter_misplaced"]);
    await session.edit([{ from: 0, to: 1, insert: "" }]);
    assert.notEqual((await session.advance()).reason, "diagnostics");
  });
  await inPlace(async (place) => {
    const text = asking(["a", "echo", '{"text":"1"}']);
    const session = await place.memory(text, { tools: [ECHO], settings: { approve: ["echo"] } });
    assert.equal((await session.diagnose()).blocked, false);
    const loose = "flemma:\n  tools: []\n";
    await session.edit([{ from: 0, to: 0, insert: loose }]);
    assert.deepEqual([(await session.advance()).reason, textOf(session)], ["diagnostics", loose + text]);
    await session.edit([{ from: 0, to: loose.length, insert: "" }]);
    assert.notEqual((await session.advance()).reason, "diagnostics");
  });
});

test("if the frontmatter changes between two operations of a session, the second uses the new frontmatter", async (place) => {
  const text = asking(["a", "echo", '{"text":"1"}']);
  const session = await place.memory(text, { tools: [ECHO] });
  const decided = async () => (await session.calls())[0]?.decided;
  assert.equal((await decided())?.decision, "require_approval");
  const block = "```yaml\nflemma: { tools: { auto_approve: [echo] } }\n```\n";
  assert.equal(await session.edit([{ from: 0, to: 0, insert: block }]), null);
  assert.deepEqual(await decided(), { decision: "approve", source: "urn:flemma:approval:frontmatter" });
  assert.deepEqual(session.settings.tools.document?.auto_approve, ["echo"]);
  await session.edit([{ from: 0, to: block.length, insert: "" }]);
  assert.equal((await decided())?.decision, "require_approval");
});

test("if the frontmatter changes during a run, the run stops before it decides, runs or sends anything else", async (place) => {
  await withModel([{ reply: [{ text: "Never." }] }], async (provider, replay) => {
    const { session, advancing, end } = await running(place, { provider });
    await session.edit([{ from: 0, to: 0, insert: "```yaml\nflemma: { model: claude-haiku-4-5 }\n```\n" }]);
    end();
    const stop = await advancing;
    assert.deepEqual([stop.reason, stop.problem?.code], ["diagnostics", "frontmatter_changed"]);
    assert.match(textOf(session), /```\nwaited\n```/);
    assert.equal(replay.requests.length, 0);
    assert.equal((await session.advance()).reason, "done");
    assert.equal(JSON.parse(replay.requests[0]!.body).model, "claude-haiku-4-5");
  });
});

test("if settings become unreadable, no call is decided or run, no request is sent, and each operation reports the reason", async (place) => {
  place.settings("model: claude-haiku-4-5\n");
  const text = asking(["a", "echo", '{"text":"1"}']);
  const session = await place.memory(text, { tools: [ECHO], settings: { approve: ["echo"] } });
  place.settings("modle: x\n");
  assert.equal((await session.calls())[0]?.decided.decision, "approve");
  await session.edit([{ from: 0, to: 0, insert: "```yaml\na: 1\n```\n" }]);
  const before = textOf(session);
  assert.deepEqual(await session.plan(), []);
  assert.equal((await session.calls())[0]?.decided.source, "settings");
  assert.equal((await session.diagnose()).blocked, true);
  assert.equal((await session.request()).kind, "failed");
  for (const each of [session.advance(), session.send(), session.execute("a")]) {
    assert.equal((await each).problem?.code, "config-invalid");
  }
  assert.equal(codeOf(await session.approve("a")), "config-invalid");
  assert.equal(textOf(session), before);
  place.settings("model: claude-haiku-4-5\n");
  assert.equal((await session.calls())[0]?.decided.decision, "approve");
});

test("invalid options of a host, or an invalid text, make opening fail", async (place) => {
  const { environment } = place;
  const open = async (text: string | Uint8Array, options = {}) =>
    codeOf(await chatInMemory(typeof text === "string" ? bytesOf(text) : text, { environment, ...options }));
  const resolver = { resolve: () => null };
  assert.equal(await open("@You:\n"), "ok");
  assert.equal(await open("a\0b"), "document-binary");
  assert.equal(await open(new Uint8Array([0xff, 0xfe])), "document-not-utf8");
  assert.equal(await open("", { tools: [{ name: "a.b", input_schema: {} }] }), "invalid-tool");
  assert.equal(
    await open("", { tools: [{ name: "a", input_schema: { type: "nonsense" } }] }),
    "invalid-tool-schema",
  );
  assert.equal(await open("", { resolvers: [{ ...resolver, name: "" }] }), "resolver-name");
  assert.equal(
    await open("", { resolvers: [{ ...resolver, name: "a" }, { ...resolver, name: "a" }] }),
    "resolver-name",
  );
  const config = { ...resolver, name: "urn:flemma:approval:config" };
  assert.equal(await open("", { resolvers: [config] }), "resolver-name");
  assert.equal(await open("", { settings: { overrides: { modle: "x" } } }), "config-invalid");
  assert.equal(await open("", { settings: { configPath: "none.yaml" } }), "config-missing");
});

test("a host's tool replaces a built-in one of the same name, and this is reported", async (place) => {
  const events: CycleEvent[] = [];
  const bash = { ...ECHO, name: "bash", execute: () => ({ success: true, output: "mine" }) };
  const session = await place.memory(asking(["a", "bash", '{"text":"x"}']), {
    tools: [bash],
    emit: (event) => events.push(event),
    settings: { approve: ["bash"], overrides: { tools: { autopilot: { enabled: false } } } },
  });
  assert.ok(events.some((event) => event.event === "notice" && event.code === "tool-replaced"));
  assert.equal((await session.advance()).reason, "stepped");
  assert.match(textOf(session), /```\nmine\n```/);
});

test("resolvers of the host decide by priority, and an invalid resolver makes opening fail", async (place) => {
  class Guard {
    readonly name = "guard";
    readonly priority = 200;
    readonly #word = "no";
    resolve(_tool: string, { text }: Readonly<Record<string, unknown>>) {
      return text === this.#word ? "deny" as const : text === "yes" ? "approve" as const : null;
    }
  }
  const calls = asking(["a", "echo", '{"text":"no"}'], ["b", "echo", '{"text":"yes"}'], [
    "c",
    "echo",
    '{"text":"?"}',
  ]);
  const session = await place.memory(calls, { tools: [ECHO], resolvers: [new Guard()] });
  const reported = (await session.calls()).map(({ decided: { decision, source } }) =>
    `${decision} by ${source}`
  );
  assert.deepEqual(reported, ["deny by guard", "approve by guard", "require_approval by default"]);
  const events: CycleEvent[] = [];
  const broken = await place.memory(calls, {
    tools: [ECHO],
    resolvers: [{ name: "broken", resolve: () => assert.fail("no answer") }],
    settings: { overrides: { tools: { require_approval: false } } },
    emit: (event) => events.push(event),
  });
  assert.equal((await broken.calls())[0]?.decided.decision, "require_approval");
  const [fault] = events.flatMap((event) =>
    event.event === "notice" && event.code === "resolver-fault" ? [event.message] : []
  );
  assert.equal(
    fault,
    "The resolver broken failed to decide a call: no answer. " +
      "If it comes before the sandbox, neither the sandbox nor require_approval approves the call.",
  );
});

test("text printed by frontmatter is given to the host in escaped form, or dropped if the host does not want it", async (place) => {
  const lines: string[] = [];
  const text = '```lua\nprint("a\\27[2Jb")\n```\n@You:\nHi\n';
  await place.memory(text, { print: (line) => lines.push(line) });
  assert.deepEqual(lines.map((line) => line.includes("\x1b")), [false]);
  await place.memory(text);
});

test("aborting the signal cancels everything that runs and starts nothing else", async (place) => {
  const abort = new AbortController();
  const { session, advancing } = await running(place, { signal: abort.signal });
  abort.abort();
  assert.equal((await advancing).reason, "cancelled");
  assert.equal((await session.advance()).reason, "cancelled");
  assert.equal((await session.send()).reason, "cancelled");
});

test("closing a session cancels running work, waits for its end, and refuses all later operations", async (place) => {
  const { session, advancing } = await running(place);
  await Promise.all([session[Symbol.asyncDispose](), session[Symbol.asyncDispose]()]);
  assert.equal((await advancing).reason, "cancelled");
  const before = textOf(session);
  for (const each of [session.advance(), session.send(), session.execute("a")]) {
    assert.equal((await each).problem?.code, "session-closed");
  }
  assert.equal(codeOf(await session.approve("a")), "session-closed");
  assert.equal(codeOf(await session.reject("a")), "session-closed");
  assert.equal((await session.edit([{ from: 0, to: 0, insert: "x" }]))?.code, "session-closed");
  assert.equal(textOf(session), before);
});

test("a person's typing in an untrusted document does not make its settings trusted", async (place) => {
  const text = "```yaml\nflemma: { sandbox: { enabled: false }, tools: { auto_approve: [bash] } }\n```\n" +
    asking(["a", "bash", '{"command":"true","timeout":null}']);
  place.write("a.chat", text);
  const session = await place.memory(text, { path: "a.chat" });
  assert.equal(session.path, place.path("a.chat"));
  await session.edit([{ from: text.length, to: text.length, insert: "\n" }]);
  const again = await place.memory(textOf(session), { path: "a.chat" });
  assert.equal((await again.calls())[0]?.decided.source, "urn:flemma:approval:trust");
});

test("if the frontmatter changes during a run, the run still completes its running calls", async (place) => {
  const { session, advancing } = await running(place);
  await session.edit([{ from: 0, to: 0, insert: "```yaml\na: 1\n```\n" }]);
  assert.equal((await session.calls())[0]?.status, "running");
  assert.equal(session.cancelCall("a"), true);
  assert.equal((await advancing).reason, "cancelled");
});

test("closing a session ends a request that hangs", async (place) => {
  const { fetch, asked } = hangingFetch();
  await withModel([], async (provider) => {
    const session = await place.memory("@You:\nHi\n", { provider, fetch });
    const sending = session.send();
    await asked;
    await session[Symbol.asyncDispose]();
    assert.equal((await sending).reason, "cancelled");
  });
});

test("an operation that was requested just before closing does not start afterwards", async (place) => {
  const text = answered(asking(["a", "echo", '{"text":"1"}']), answer("a", "pending"));
  const session = await place.memory(text, { tools: [ECHO], settings: { approve: ["echo"] } });
  const advancing = session.advance();
  const approving = session.approve("a");
  await session[Symbol.asyncDispose]();
  assert.equal((await advancing).problem?.code, "session-closed");
  assert.equal(codeOf(await approving), "session-closed");
  assert.equal(textOf(session), text);
});

test("an event comes when the document contains what it describes, and only text comes earlier", async (place) => {
  place.settings("tools: { auto_approve: [echo] }\n");
  place.write("a.chat", "@You:\nSay hi.\n");
  const waits = { tool_use: { id: "call_2", name: "write", input: { path: "a", content: "b" } } };
  await withModel([{ reply: [{ text: "I will." }, ECHO_CALL, waits] }], async (provider) => {
    const seen: Record<string, string> = {};
    await using session = sessionOf(
      await openChat(place.path("a.chat"), {
        environment: place.environment,
        provider,
        tools: [ECHO],
        emit: (event) => seen[`${event.event} ${"id" in event ? event.id : ""}`] = place.read("a.chat"),
      }),
    );
    assert.equal((await session.advance()).reason, "pending");
    const contained: readonly [string, RegExp][] = [
      ["request:finished ", /I will\.[^]*call_1[^]*call_2/],
      ["approval:pending call_2", /`call_2`\n\n```flemma:tool status=pending/],
      ["tool:executing call_1", /`call_1`\n\n```flemma:tool status=approved/],
      ["tool:finished call_1", /`call_1`\n\n```\nhi\n```/],
    ];
    for (const [event, words] of contained) assert.match(seen[event] ?? "no event", words, event);
    assert.doesNotMatch(seen["text "] ?? "I will.", /I will\./);
  });
});
