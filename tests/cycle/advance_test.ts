// What an advance writes into documents of all kinds, and what it reports.

import assert from "node:assert/strict";
import fc from "fast-check";
import { callHash } from "../../cycle/plan/call_hash.ts";
import { DENIED } from "../../cycle/plan/sentences.ts";
import { parse } from "../../parser/mod.ts";
import { type Bench, bench, block, callsOf, chatAnswered, chatWith } from "./harness.ts";

const HEADER = { status_style: "header" as const };
const OFF = { ...HEADER, autopilot: { enabled: false, max_turns: 100, max_repeats: 3 } };

const DENIAL = {
  decision: "deny",
  source: "rules",
  detail: "no pushing",
  forModel: "Pushing is done by hand.",
} as const;

function cursors(built: Bench): number[] {
  return built.events.flatMap((event) => event.event === "cursor" ? [event.line] : []);
}

Deno.test("if a document waits for the person, advancing it again and again changes nothing and writes nothing", async () => {
  const text = chatAnswered(
    chatWith(["a", "echo"], ["b", "echo"]),
    block("a", "pending"),
    block("b", "approved", "mine"),
  );
  const built = bench({ text, tools: HEADER });
  for (let step = 0; step < 3; step++) {
    const stop = await built.cycle.advance();
    assert.deepEqual([stop.reason, stop.ids, stop.line], ["pending", ["a"], 21]);
  }
  assert.deepEqual([built.store.commits, built.ran, built.sends()], [[], [], 0]);
});

Deno.test("once advancing a document no longer changes it, a new run does not change it either", async () => {
  const suffix = fc.constantFrom(
    "none",
    "pending",
    "approved",
    "rejected",
    "denied",
    "aborted",
    "error",
    "final",
  );
  const call = fc.record({
    suffix,
    body: fc.constantFrom("", "text"),
    tool: fc.constantFrom("echo", "boom", "ghost"),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 4 }), fc.boolean(), async (calls, fence) => {
      const uses = chatWith(...calls.map(({ tool }, index): [string, string] => [`c${index}`, tool]));
      const blocks = calls.flatMap(({ suffix, body }, index) =>
        suffix === "none" ? [] : [block(`c${index}`, suffix === "final" ? "" : suffix, body)]
      );
      const text = blocks.length === 0 ? uses : chatAnswered(uses, ...blocks);
      const tools = {
        ...OFF,
        status_style: fence ? "fence" as const : "header" as const,
        auto_approve: ["boom"],
      };
      const first = bench({ text, tools });
      for (let step = 0; step < 4; step++) await first.cycle.advance();
      const settled = first.store.text;
      const second = bench({ text: settled, tools });
      await second.cycle.advance();
      assert.equal(second.store.text, settled);
      assert.deepEqual(second.ran, []);
      // What the person wrote outside of blocks is still there, and nothing runs twice.
      assert.ok(settled.startsWith(uses));
      assert.equal(new Set(first.ran).size, first.ran.length);
    }),
    { seed: 21, numRuns: 150 },
  );
});

Deno.test("after each commit, the document's syntax tree equals the tree of the whole text parsed again", async () => {
  const text = chatWith(["a", "echo"], ["b", "boom"], ["c", "slow"]);
  const built = bench({ text, tools: { ...OFF, auto_approve: ["echo", "boom"] } });
  await built.cycle.advance();
  const fresh = parse(built.store.chat.bytes);
  assert.deepEqual(
    built.store.chat.results.map(({ id, status, content }) => [id, status, content]),
    fresh.results.map(({ id, status, content }) => [id, status, content]),
  );
});

Deno.test("in a CR LF document, everything that flemma writes has CR LF line ends", async () => {
  const text = chatWith(["a", "echo", '{"text": "1\\n2"}'], ["b", "slow"], ["c", "boom"]).replaceAll(
    "\n",
    "\r\n",
  );
  const built = bench({ text, tools: { ...OFF, auto_approve: ["echo", "boom"] } });
  await built.cycle.advance();
  await built.cycle.reject("b", "no\nreally");
  assert.doesNotMatch(built.store.text, /[^\r]\n/);
  await built.cycle.advance();
  assert.doesNotMatch(built.store.text, /[^\r]\n/);
  assert.deepEqual(
    built.store.chat.results.map(({ id, status, content }) => [id, status, content]),
    [["a", null, "1\n2"], ["b", "error", "no\nreally"], ["c", "error", "kaput"]],
  );
});

Deno.test("if a reply ends inside an open fence, flemma closes the fence before it writes a placeholder", async () => {
  const text = `${chatWith(["a", "echo"])}\nSee:\n\n\`\`\`\`js\nlet x\n`;
  const built = bench({ text, tools: OFF });
  await built.cycle.advance();
  assert.equal(built.store.text, `${text}\`\`\`\`\n\n@You:\n\n${block("a", "pending")}`);
  assert.equal(built.store.chat.result("a")?.status, "pending");
});

Deno.test("flemma writes the placeholders of one step in one commit, before any call runs", async () => {
  const built: Bench = bench({
    text: chatWith(["a", "echo"], ["b", "slow"], ["c", "echo"]),
    tools: { ...OFF, auto_approve: ["echo"] },
  });
  await built.cycle.advance();
  assert.equal(
    built.store.commits[0],
    chatAnswered(
      chatWith(["a", "echo"], ["b", "slow"], ["c", "echo"]),
      block("a", "approved"),
      block("b", "pending"),
      block("c", "approved"),
    ),
  );
});

Deno.test("each waiting call is reported once with its preview, and the cursor goes to the first waiting call", async () => {
  const built = bench({ text: chatWith(["a", "echo"], ["b", "slow"]), tools: HEADER });
  await built.cycle.advance();
  const pending = built.events.filter(({ event }) => event === "approval:pending");
  assert.deepEqual(pending, [
    { event: "approval:pending", id: "a", name: "echo", preview: "echo: a", line: 21, source: "default" },
    { event: "approval:pending", id: "b", name: "slow", preview: "slow: b", line: 26, source: "default" },
  ]);
  assert.deepEqual(cursors(built), [21]);
});

Deno.test("a denied call is reported with the resolver that denied it, and gets an error result in the same step", async () => {
  const text = chatWith(["a", "echo"]);
  const built = bench({
    text,
    tools: OFF,
    decide: () => Promise.resolve({ decision: "deny", source: "rules" }),
  });
  await built.cycle.advance();
  assert.equal(built.store.text, chatAnswered(text, block("a", "error", DENIED)));
  assert.deepEqual(built.events, [
    { event: "approval:denied", id: "a", name: "echo", preview: "echo: a", source: "rules" },
  ]);
});

Deno.test("no resolver is asked about a call that has a result, was aborted, or has an input that its schema refuses", async () => {
  const asked: string[] = [];
  const built = bench({
    text: chatAnswered(chatWith(["a", "echo"], ["b", "echo"], ["c", "slow"]), block("a", "", "x")),
    tools: OFF,
    checkInput: (definition) => definition.name === "slow" ? ["/ms: is missing"] : [],
    decide: ({ id }) => {
      asked.push(id);
      return Promise.resolve({ decision: "require_approval", source: "default" });
    },
  });
  await built.cycle.advance();
  assert.deepEqual(asked, ["b"]);
  assert.match(built.store.chat.result("c")?.content ?? "", /\/ms: is missing/);
  assert.equal(built.store.chat.result("c")?.status, "error");
});

Deno.test("the cursor goes to a new block that waits for approval, never to an approved block", async () => {
  const tools = { ...HEADER, auto_approve: ["echo"], cursor_after_result: "stay" } as const;
  const built = bench({ text: chatWith(["b", "slow"], ["a", "echo"]), tools });
  await built.cycle.advance();
  assert.equal(cursors(built)[0], built.store.chat.result("b")!.header.start);
  const none = bench({ text: chatWith(["a", "echo"]), tools });
  await none.cycle.advance();
  assert.deepEqual(cursors(none), []);
});

Deno.test("after a result, the cursor goes to the position that the setting defines", async () => {
  const text = `${callsOf("echo", { a: "approved" })}\nwords\n`;
  const lines = async (where: "result" | "next" | "stay") => {
    const built = bench({ text, tools: { ...OFF, cursor_after_result: where } });
    await built.cycle.advance();
    return cursors(built);
  };
  assert.deepEqual(await lines("result"), [15]);
  assert.deepEqual(await lines("next"), [22]);
  assert.deepEqual(await lines("stay"), []);
});

Deno.test("while autopilot continues, results do not move the cursor; when it pauses, the cursor moves to the block at which it pauses", async () => {
  const text = chatAnswered(
    chatWith(["a", "echo"], ["b", "slow"]),
    block("a", "approved"),
    block("b", "pending"),
  );
  const built = bench({ text, tools: HEADER });
  const stop = await built.cycle.advance();
  assert.deepEqual([cursors(built), stop.line], [[27], 27]);
});

Deno.test("flemma refuses to advance a document without messages or with unreadable frontmatter, and does not change it", async () => {
  const empty = bench({ text: "", tools: HEADER });
  assert.equal((await empty.cycle.advance()).reason, "empty");
  const broken = bench({
    text: chatWith(["a", "echo"]),
    tools: HEADER,
    blockers: () => [
      {
        code: "frontmatter_invalid",
        type: "frontmatter",
        severity: "error",
        message: "It is broken.",
        start: 2,
      },
    ],
  });
  const stop = await broken.cycle.advance();
  assert.deepEqual([stop.reason, stop.line, stop.problem?.code], ["diagnostics", 2, "frontmatter_invalid"]);
  assert.equal((await broken.cycle.executeOne("a")).reason, "diagnostics");
  assert.deepEqual([broken.store.commits, empty.store.commits], [[], []]);
});

Deno.test("if errors in the document prevent a request, the run ends with the first of them", async () => {
  const built = bench({
    text: "@You:\nhi\n",
    tools: HEADER,
    send: () =>
      Promise.resolve({
        kind: "blocked",
        diagnostics: [{ code: "x", type: "file", severity: "error", message: "No such file.", start: 1 }],
      }),
  });
  const stop = await built.cycle.advance();
  assert.deepEqual([stop.reason, stop.line, stop.problem?.code], ["diagnostics", 1, "x"]);
});

Deno.test("executing a call that is unknown, already running or without a tool changes nothing, and flemma reports why", async () => {
  const text = chatWith(["a", "ghost"]);
  const built = bench({ text, tools: OFF });
  assert.equal((await built.cycle.executeOne("zz")).problem?.code, "unknown-call");
  assert.equal((await built.cycle.executeOne("a")).problem?.code, "unknown-tool");
  assert.deepEqual([built.store.text, built.notices()], [text, ["unknown-tool"]]);
});

Deno.test("execute cannot override a denial: it reports who denied the call and changes nothing", async () => {
  for (const given of [[], [block("a", "pending")], [block("a", "approved")], [block("a", "", "x")]]) {
    const text = given.length === 0
      ? chatWith(["a", "echo"])
      : chatAnswered(chatWith(["a", "echo"]), ...given);
    const built = bench({ text, tools: OFF, decide: () => Promise.resolve(DENIAL) });
    const stop = await built.cycle.executeOne("a");
    assert.deepEqual([stop.reason, stop.problem?.code], ["failed", "denied-by-policy"]);
    assert.match(stop.problem?.message ?? "", /so it did not run: no pushing\./);
    assert.deepEqual([built.ran, built.store.text], [[], text]);
  }
});

Deno.test("if policy denies a call with the status approved, the call does not run, unless policy had approved the same text earlier", async () => {
  const text = callsOf("echo", { a: "approved" });
  const decide = () => Promise.resolve(DENIAL);
  const byHand = bench({ text, tools: OFF, decide });
  await byHand.cycle.advance();
  assert.deepEqual(byHand.ran, []);
  assert.match(byHand.store.text, /`a` \(error\)\n\n```\nPushing is done by hand\.\n```/);
  assert.ok(byHand.events.some(({ event }) => event === "approval:denied"));
  const byPerson = bench({ text, tools: OFF, decide });
  assert.equal(await byPerson.cycle.approve("a"), null);
  await byPerson.cycle.advance();
  assert.deepEqual(byPerson.ran, []);
  // Decided and about to run: nobody is asked twice about thousands of calls.
  const byPolicy = bench({ text, tools: OFF, decide });
  const [call] = byPolicy.store.chat.calls;
  await byPolicy.journal.recordApprovals(new Map([["a", { by: "policy", hash: await callHash(call!) }]]));
  await byPolicy.cycle.advance();
  assert.deepEqual(byPolicy.ran, ["a"]);
  const asked = bench({ text, tools: OFF, decide });
  await asked.journal.recordApprovals(
    new Map([["a", { by: "policy", hash: await callHash(call!), asked: true }]]),
  );
  await asked.cycle.advance();
  assert.deepEqual(asked.ran, []);
});

Deno.test("if an approved call is edited while policy decides about it, it does not run in this step", async () => {
  const text = callsOf("echo", { a: "approved" });
  const changes: readonly (readonly [string, string])[] = [
    ["(approved)", "(pending)"],
    ["`echo` (`a`)", "`slow` (`a`)"],
    ["```json\n{}", '```json\n{"text":"other"}'],
    ["(approved)\n\n```\n", "(approved)\n\n```\nmine\n"],
  ];
  for (const [from, to] of changes) {
    const built: Bench = bench({
      text,
      tools: OFF,
      decide: () => {
        built.store.text = built.store.text.replace(from, to);
        return Promise.resolve({ decision: "require_approval", source: "default" });
      },
    });
    await built.cycle.advance();
    assert.deepEqual(built.ran, [], `${from} to ${to}`);
    assert.ok(built.store.text.includes(to));
  }
});

Deno.test("executing one call does not start the others", async () => {
  const text = callsOf("echo", { a: "pending", b: "approved" });
  const built = bench({ text, tools: HEADER });
  const stop = await built.cycle.executeOne("a");
  assert.deepEqual([stop.reason, built.ran, built.sends()], ["stepped", ["a"], 0]);
});

Deno.test("approve and reject refuse a call that has no block and a call that already has a result", async () => {
  const text = chatAnswered(chatWith(["a", "echo"], ["b", "echo"]), block("b", "", "x"));
  const built = bench({ text, tools: OFF });
  assert.equal((await built.cycle.approve("a"))?.code, "no-result-block");
  assert.equal((await built.cycle.approve("b"))?.code, "already-completed");
  assert.equal((await built.cycle.reject("b", "no"))?.code, "already-completed");
  assert.equal((await built.cycle.reject("zz"))?.code, "unknown-call");
  assert.equal(built.store.text, text);
});

Deno.test("approving a call twice writes the status once, and the approval applies only to the approved text", async () => {
  const built = bench({ text: callsOf("echo", { a: "pending" }), tools: OFF });
  assert.equal(await built.cycle.approve("a"), null);
  assert.equal(await built.cycle.approve("a"), null);
  assert.deepEqual([built.store.commits.length, built.journal.approval("a")?.by], [1, "person"]);
});

Deno.test("the plan of the next step can be requested without executing it", async () => {
  const built = bench({ text: chatWith(["a", "echo"]), tools: { ...OFF, auto_approve: ["echo"] } });
  const steps = await built.cycle.plan();
  assert.deepEqual(steps.map((step) => step.do), ["place", "run", "rest"]);
  assert.deepEqual([built.store.commits, built.ran, built.events], [[], [], []]);
});

Deno.test("if approve cannot save the approval, or reject cannot save the text that it replaces, the document stays unchanged", async () => {
  const text = chatAnswered(
    chatWith(["a", "echo"], ["b", "echo"]),
    block("a", "pending"),
    block("b", "pending", "mine"),
  );
  const full = () => Promise.reject(new Deno.errors.PermissionDenied("no room"));
  const unable = bench({ text, tools: { status_style: "header" } });
  unable.journal.recordApprovals = full;
  unable.journal.keepBody = full;
  assert.match((await unable.cycle.approve("a"))?.message ?? "", /no room/);
  assert.match((await unable.cycle.reject("b", "Not so."))?.message ?? "", /no room/);
  assert.deepEqual([unable.store.text, unable.store.commits], [text, []]);
  assert.equal(await unable.cycle.reject("a", "Not so."), null, "nothing has to be saved");
});
