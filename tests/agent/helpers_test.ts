// Documents that ask helpers: what is made, what waits, what goes on, and what is refused.

import assert from "node:assert/strict";
import { openChat } from "../../agent/open.ts";
import type { Said } from "./helpers.ts";
import { advance, ask, modelOf, OFFERED, resultIn, withKey } from "./helpers.ts";
import { inPlace, type Place, sessionOf } from "./place.ts";

const CHAT = "@You:\nAsk somebody.\n";

/** A caller that asks with these calls, then ends; helpers answer as `helper` says. */
function caller(calls: readonly Said[], helper: (last: string, first: string) => readonly Said[]) {
  return modelOf(({ last, first }) =>
    first.includes("Ask somebody")
      ? last.includes("tool_result") ? ["All done."] : calls
      : helper(last, first)
  );
}

Deno.test("a question to a helper makes a document, and its last reply is the result", () =>
  inPlace(async (place) => {
    place.settings(OFFERED);
    place.write("notes.chat", CHAT);
    const model = caller([ask("call_1", "Two and two? {{ 1 + 1 }}", { name: "counter" })], () => ["Four."]);
    const { reason, events } = await advance(place, "notes.chat", model);
    assert.equal(reason, "done");
    const result = resultIn(place.read("notes.chat"), "call_1");
    assert.equal(result, "Four.\n\nHelper: counter (notes.chat.d/counter.chat)");
    const helper = place.read("notes.chat.d/counter.chat");
    assert.ok(helper.includes("@You:\n{% raw %}Two and two? {{ 1 + 1 }}{% endraw %}\n"), helper);
    assert.ok(model.asked[1]!.first.includes("Two and two? {{ 1 + 1 }}"));
    assert.ok(!model.asked[1]!.tools.some(({ name }) => name === "ask_document"));
    const finished = events.filter(({ event }) => event === "request:finished");
    assert.equal(finished.length, 2, "requests of helpers are not reported as those of the caller");
  }));

Deno.test("without being offered there is no such tool, no folder, and none of its code", () =>
  inPlace(async (place) => {
    place.write("notes.chat", CHAT);
    const model = caller(["Nobody to ask."], () => []);
    assert.equal((await advance(place, "notes.chat", model)).reason, "done");
    assert.ok(!model.asked[0]!.tools.some(({ name }) => name === "ask_document"));
    assert.deepEqual(names(place), ["notes.chat"]);
  }));

Deno.test("the code of helpers is loaded only by a dynamic import", async () => {
  const root = new URL("../../", import.meta.url);
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", new URL("cli.ts", root).pathname],
  }).output();
  const { modules } = JSON.parse(new TextDecoder().decode(stdout));
  const helpers = new URL("agent/runtime/helpers/", root).href;
  const importers = modules.filter(({ specifier }: { specifier: string }) => !specifier.startsWith(helpers));
  const found = importers.flatMap(({ dependencies = [] }) =>
    dependencies.filter(({ code, isDynamic }: { code?: { specifier: string }; isDynamic?: boolean }) =>
      code?.specifier.startsWith(helpers) && isDynamic !== true
    )
  );
  assert.ok(importers.length > 100);
  assert.deepEqual(found, []);
});

Deno.test("the tool asks by default", () =>
  inPlace(async (place) => {
    place.settings("tools: { $append: [ask_document] }\n");
    place.write("notes.chat", CHAT);
    const model = caller([ask("call_1", "Why?")], () => ["Because."]);
    assert.equal((await advance(place, "notes.chat", model)).reason, "pending");
    assert.deepEqual(names(place), ["notes.chat"], "an empty folder for helpers does not stay");
    approve(place, "notes.chat");
    assert.equal((await advance(place, "notes.chat", model)).reason, "done");
    assert.match(resultIn(place.read("notes.chat"), "call_1"), /^Because\.\n\nHelper: helper \(/);
  }));

Deno.test("a helper that waits leaves the call open, and goes on after an approval in its document", () =>
  inPlace(async (place) => {
    place.settings(OFFERED);
    place.write("notes.chat", CHAT);
    const model = caller(
      [ask("call_1", "Write it.", { name: "writer" })],
      (last) =>
        last.includes("tool_result")
          ? ["Written."]
          : [["call_1", "bash", { label: "Look", command: "echo hi", timeout: null }]],
    );
    const asks = { settings: { overrides: { tools: { rules: [{ ask: "bash" }] } } } };
    const first = await advance(place, "notes.chat", model, asks);
    assert.equal(first.reason, "pending");
    assert.deepEqual(first.ids, ["call_1"]);
    const waiting = first.events.find((event) => event.event === "tool:waiting");
    assert.ok(waiting?.event === "tool:waiting");
    assert.equal(waiting.path, "notes.chat.d/writer.chat");
    assert.match(
      waiting.message,
      /^The helper writer \(notes\.chat\.d\/writer\.chat\) waits for you: bash: /,
    );
    assert.match(
      place.read("notes.chat"),
      /`call_1` \(helper=writer\)\n\n```flemma:tool status=pending\n```/,
    );
    // Nothing was decided: the call stays open, and nothing is asked again.
    const requests = model.asked.length;
    assert.equal((await advance(place, "notes.chat", model, asks)).reason, "pending");
    assert.equal(model.asked.length, requests);
    approve(place, "notes.chat.d/writer.chat");
    const last = await advance(place, "notes.chat", model, asks);
    assert.equal(last.reason, "done", last.problem?.message);
    assert.match(resultIn(place.read("notes.chat"), "call_1"), /^Written\.\n\nHelper: writer/);
    assert.equal(place.read("notes.chat.d/writer.chat").split("Write it.").length, 2);
  }));

Deno.test("text that a person writes into the block of a waiting call is the result", () =>
  inPlace(async (place) => {
    place.settings(OFFERED);
    place.write("notes.chat", CHAT);
    const model = caller(
      [ask("call_1", "Write it.")],
      () => [["call_1", "bash", { label: "Look", command: "echo hi", timeout: null }]],
    );
    const asks = { settings: { overrides: { tools: { rules: [{ ask: "bash" }] } } } };
    await advance(place, "notes.chat", model, asks);
    const text = place.read("notes.chat");
    place.write("notes.chat", text.replace("status=pending\n", "status=pending\nLeave it.\n"));
    assert.equal((await advance(place, "notes.chat", model, asks)).reason, "done");
    assert.equal(resultIn(place.read("notes.chat"), "call_1"), "Leave it.");
  }));

Deno.test("a helper is continued by its name, and others are refused with those that exist", () =>
  inPlace(async (place) => {
    place.settings(OFFERED);
    place.write("notes.chat", CHAT);
    await advance(place, "notes.chat", caller([ask("call_1", "First?", { name: "one" })], () => ["A."]));
    place.write("notes.chat", `${place.read("notes.chat")}Ask somebody again.\n`);
    const model = modelOf(({ last, first }) =>
      !first.includes("Ask somebody")
        ? ["B."]
        : last.includes("again")
        ? [ask("call_2", "Second?", { document: "one" }), ask("call_3", "?", { document: "two" })]
        : ["Done."]
    );
    assert.equal((await advance(place, "notes.chat", model)).reason, "done");
    const text = place.read("notes.chat");
    assert.match(resultIn(text, "call_2"), /^B\.\n\nHelper: one/);
    assert.equal(resultIn(text, "call_3"), "There is no helper two. There are: one.");
    assert.match(
      place.read("notes.chat.d/one.chat"),
      /First\?\n\n@Assistant:\nA\.\n\n@You:\nSecond\?\n\n@Assistant:\nB\./,
    );
  }));

Deno.test("a renamed document finds its helpers; a fork gets the name of their owner", () =>
  inPlace(async (place) => {
    place.settings(OFFERED);
    place.write("notes.chat", CHAT);
    await advance(place, "notes.chat", caller([ask("call_1", "First?", { name: "one" })], () => ["A."]));
    const again = `${place.read("notes.chat")}Ask somebody again.\n`;
    const model = () =>
      modelOf(({ last, first }) =>
        !first.includes("Ask somebody")
          ? ["B."]
          : last.includes("again")
          ? [ask("call_2", "Second?", { document: "one" })]
          : ["Done."]
      );
    place.write("fork.chat", again);
    await advance(place, "fork.chat", model());
    assert.equal(
      resultIn(place.read("fork.chat"), "call_2"),
      `The helper one belongs to ${place.path("notes.chat")}. Ask a new helper.`,
    );
    Deno.removeSync(place.path("fork.chat"));
    Deno.removeSync(place.path("notes.chat"));
    place.write("moved.chat", again);
    await advance(place, "moved.chat", model());
    assert.match(
      resultIn(place.read("moved.chat"), "call_2"),
      /^B\.\n\nHelper: one \(notes\.chat\.d\/one\.chat\)/,
    );
  }));

Deno.test("flemma puts no helper into a link, or into a folder that it did not make", () =>
  inPlace(async (place) => {
    place.settings(OFFERED);
    place.write("notes.chat", CHAT);
    const model = () => caller([ask("call_1", "Why?")], () => ["Because."]);
    Deno.mkdirSync(place.path("elsewhere"));
    Deno.symlinkSync(place.path("elsewhere"), place.path("notes.chat.d"));
    await advance(place, "notes.chat", model());
    assert.match(resultIn(place.read("notes.chat"), "call_1"), /^notes\.chat\.d is a symbolic link/);
    Deno.removeSync(place.path("notes.chat.d"));
    Deno.mkdirSync(place.path("notes.chat.d"));
    place.write("notes.chat.d/other.chat", "@You:\nHello\n");
    place.write("notes.chat", CHAT);
    await advance(place, "notes.chat", model());
    assert.match(
      resultIn(place.read("notes.chat"), "call_1"),
      /^The folder notes\.chat\.d was not made by flemma/,
    );
    assert.deepEqual([...Deno.readDirSync(place.path("elsewhere"))], []);
  }));

Deno.test("a helper that a link or another file replaced is not continued", () =>
  inPlace(async (place) => {
    place.settings(OFFERED);
    place.write("notes.chat", CHAT);
    await advance(place, "notes.chat", caller([ask("call_1", "First?", { name: "one" })], () => ["A."]));
    place.write("notes.chat", `${place.read("notes.chat")}Ask somebody again.\n`);
    place.write("other.chat", "@You:\nHello\n");
    Deno.removeSync(place.path("notes.chat.d/one.chat"));
    Deno.symlinkSync(place.path("other.chat"), place.path("notes.chat.d/one.chat"));
    place.write("notes.chat.d/two.chat", "@You:\nHello\n");
    const model = modelOf(({ last }) =>
      last.includes("again")
        ? [ask("call_2", "?", { document: "one" }), ask("call_3", "?", { document: "two" })]
        : ["Done."]
    );
    await advance(place, "notes.chat", model);
    const text = place.read("notes.chat");
    assert.match(resultIn(text, "call_2"), /^notes\.chat\.d\/one\.chat is a symbolic link/);
    assert.match(
      resultIn(text, "call_3"),
      /^notes\.chat\.d\/two\.chat was not made by flemma on this machine/,
    );
    assert.equal(place.read("other.chat"), "@You:\nHello\n");
  }));

Deno.test("only a trusted document may offer helpers by itself", () =>
  inPlace(async (place) => {
    place.write(
      "notes.chat",
      `\`\`\`yaml\nflemma: { tools: { $append: [ask_document] } }\n\`\`\`\n\n${CHAT}`,
    );
    const model = caller([ask("call_1", "Why?")], () => ["Because."]);
    const first = await advance(place, "notes.chat", model);
    assert.ok(!model.asked[0]!.tools.some(({ name }) => name === "ask_document"));
    assert.ok(first.events.some((event) => event.event === "notice" && event.code === "helpers-untrusted"));
    await using session = sessionOf(
      await openChat(place.path("notes.chat"), { environment: withKey(place) }),
    );
    const trusted = await session.trust();
    assert.ok(trusted.ok && trusted.value.lines.some((line) => line.includes("ask_document")));
    await session.close();
    place.write("notes.chat", place.read("notes.chat").split("\n@Assistant:")[0]! + "\n");
    const again = caller([ask("call_1", "Why?")], () => ["Because."]);
    assert.equal((await advance(place, "notes.chat", again)).reason, "pending");
  }));

Deno.test("questions beyond the limit of a run are refused, those of another run are not", () =>
  inPlace(async (place) => {
    place.settings(`${OFFERED}subagents: { max_calls: 2 }\n`);
    place.write("notes.chat", CHAT);
    const model = caller(["a", "b", "c"].map((id) => ask(id, `Question ${id}?`)), () => ["Yes."]);
    await advance(place, "notes.chat", model);
    const results = ["a", "b", "c"].map((id) => resultIn(place.read("notes.chat"), id));
    assert.equal(results.filter((text) => text.startsWith("Yes.")).length, 2);
    assert.match(
      results[2]!,
      /^This run has asked helpers 2 times, which is the limit \(subagents\.max_calls\)/,
    );
    place.write("notes.chat", `${place.read("notes.chat")}Ask somebody again.\n`);
    const next = modelOf(({ last, first }) =>
      !first.includes("Ask somebody") ? ["No."] : last.includes("again") ? [ask("d", "More?")] : ["Done."]
    );
    await advance(place, "notes.chat", next);
    assert.match(resultIn(place.read("notes.chat"), "d"), /^No\./);
  }));

Deno.test("a helper with too many turns ends with an error that names it", () =>
  inPlace(async (place) => {
    place.settings(`${OFFERED}subagents: { max_turns: 2 }\n`);
    place.write("notes.chat", CHAT);
    let made = 0;
    const model = caller(
      [ask("call_1", "Count.", { name: "counter" })],
      () => [[`c${++made}`, "calculator", { expression: `${made}` }]],
    );
    await advance(place, "notes.chat", model);
    const result = resultIn(place.read("notes.chat"), "call_1");
    assert.match(result, /^The helper stopped after as many replies .*\(subagents\.max_turns\)\./);
    assert.ok(result.endsWith("Helper: counter (notes.chat.d/counter.chat)"));
  }));

Deno.test("caller and helpers spend one budget, and its end leaves the call open", () =>
  inPlace(async (place) => {
    place.settings(OFFERED);
    place.write("notes.chat", CHAT);
    const model = caller(
      [ask("call_1", "Count.", { name: "counter" })],
      (last) => last.includes("tool_result") ? ["Done."] : [["c", "calculator", { expression: "1" }]],
    );
    const limit = (tokens: number) => ({ settings: { overrides: { run: { max_tokens: tokens } } } });
    let tokens = 1000;
    let stop = await advance(place, "notes.chat", model, limit(tokens));
    while (!/helper=counter/.test(place.read("notes.chat"))) {
      assert.equal(stop.reason, "budget", stop.problem?.message);
      tokens += 300;
      Deno.removeSync(place.path("notes.chat"));
      place.write("notes.chat", CHAT);
      if (names(place).includes("notes.chat.d")) {
        Deno.removeSync(place.path("notes.chat.d"), { recursive: true });
      }
      stop = await advance(place, "notes.chat", model, limit(tokens));
    }
    assert.equal(stop.reason, "budget");
    assert.equal(stop.problem?.code, "budget-reached");
    const last = await advance(place, "notes.chat", model);
    assert.equal(last.reason, "done");
    assert.match(resultIn(place.read("notes.chat"), "call_1"), /^Done\.\n\nHelper: counter/);
  }));

Deno.test("files are decided like reads before anything is made", () =>
  inPlace(async (place) => {
    place.settings(`${OFFERED}sandbox: { policy: { deny_read: [${place.path("hidden.txt")}] } }\n`);
    place.write("notes.chat", CHAT);
    place.write("facts.txt", "The sky is green.\n");
    place.write("hidden.txt", "secret\n");
    const files = (...paths: string[]) => ({ files: paths });
    const model = caller([
      ask("a", "One?", { name: "one", ...files("facts.txt") }),
      ask("b", "Two?", { name: "two", ...files("facts.txt", "hidden.txt") }),
      ask("c", "Three?", { name: "three", ...files("none.txt") }),
    ], () => ["Yes."]);
    await advance(place, "notes.chat", model);
    const text = place.read("notes.chat");
    assert.match(resultIn(text, "a"), /^Yes\./);
    assert.match(resultIn(text, "b"), /^The file hidden\.txt cannot be attached/);
    assert.match(resultIn(text, "c"), /^The file none\.txt does not exist/);
    assert.deepEqual([...Deno.readDirSync(place.path("notes.chat.d"))].map(({ name }) => name), ["one.chat"]);
    assert.ok(place.read("notes.chat.d/one.chat").includes("@../facts.txt"));
    assert.ok(model.asked[1]!.first.includes("The sky is green."));
    assert.ok(!model.asked[1]!.first.includes(place.folder), "no absolute path is sent");
  }));

Deno.test("cancelling the caller cancels its helpers", () =>
  inPlace(async (place) => {
    place.settings(OFFERED);
    place.write("notes.chat", CHAT);
    const controller = new AbortController();
    const aborted: (AbortSignal | null | undefined)[] = [];
    const model = modelOf(async ({ first, signal }) => {
      if (first.includes("Ask somebody")) return [ask("a", "One?"), ask("b", "Two?")];
      aborted.push(signal);
      if (aborted.length === 2) controller.abort();
      await new Promise((_, reject) => signal!.addEventListener("abort", () => reject(signal!.reason)));
      return [];
    });
    const stop = await advance(place, "notes.chat", model, { signal: controller.signal });
    assert.equal(stop.reason, "cancelled");
    assert.equal(aborted.length, 2);
    assert.ok(aborted.every((signal) => signal?.aborted));
    assert.match(place.read("notes.chat"), /`a` \(error\)/);
  }));

Deno.test("helpers work in parallel up to their own limit, with the same system message and tools", () =>
  inPlace(async (place) => {
    place.settings(OFFERED);
    place.write("notes.chat", CHAT);
    let working = 0;
    let most = 0;
    const gate = Promise.withResolvers<void>();
    const ids = ["a", "b", "c", "d", "e"];
    const model = modelOf(async ({ first, last }) => {
      if (first.includes("Ask somebody")) {
        return last.includes("tool_result") ? ["Done."] : ids.map((id) => ask(id, `Question ${id}?`));
      }
      most = Math.max(most, ++working);
      if (working === 4) gate.resolve();
      await gate.promise;
      working--;
      return ["Yes."];
    });
    assert.equal((await advance(place, "notes.chat", model)).reason, "done");
    assert.equal(most, 4);
    const helpers = model.asked.filter(({ first }) => !first.includes("Ask somebody"));
    assert.equal(helpers.length, 5);
    const prefixes = helpers.map(({ system, tools }) => JSON.stringify({ system, tools }));
    assert.equal(new Set(prefixes).size, 1);
    for (const id of ids) assert.match(resultIn(place.read("notes.chat"), id), /^Yes\./);
  }));

/** Approves every pending call of a document, as a person types it. */
function approve(place: Place, name: string): void {
  place.write(name, place.read(name).replaceAll("status=pending", "status=approved"));
}

function names(place: Place): string[] {
  return [...Deno.readDirSync(place.path("."))].map(({ name }) => name).sort();
}

Deno.test("one list shows the calls of a document and of its helpers", () =>
  inPlace(async (place) => {
    place.settings(OFFERED);
    place.write("notes.chat", CHAT);
    const model = caller(
      [ask("call_1", "Write it.", { name: "writer" })],
      () => [["c1", "bash", { label: "Look", command: "echo hi", timeout: null }]],
    );
    const asks = { settings: { overrides: { tools: { rules: [{ ask: "bash" }] } } } };
    await advance(place, "notes.chat", model, asks);
    const options = { environment: withKey(place), ...asks, readOnly: true };
    await using session = sessionOf(await openChat(place.path("notes.chat"), options));
    const [call, ...more] = await session.calls();
    assert.deepEqual([call?.id, call?.status, more.length], ["call_1", "pending", 0]);
    assert.equal(call?.helper?.name, "writer");
    assert.equal(call.helper.path, place.path("notes.chat.d/writer.chat"));
    assert.deepEqual(call.helper.calls.map(({ id, status }) => [id, status]), [["c1", "pending"]]);
  }));

Deno.test("a text without a file offers no helpers, even if the settings do", () =>
  inPlace(async (place) => {
    place.settings(OFFERED);
    const model = caller(["Nobody to ask."], () => []);
    await using session = await place.memory(CHAT, { environment: withKey(place), fetch: model.fetch });
    assert.equal((await session.advance()).reason, "done");
    assert.ok(!model.asked[0]!.tools.some(({ name }) => name === "ask_document"));
  }));
