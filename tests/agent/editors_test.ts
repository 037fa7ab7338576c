// How editors use the library: a language server over a buffer, and an agent protocol with prompts and permissions.

import assert from "node:assert/strict";
import { newChat } from "../../agent/conversation/new_chat.ts";
import { openChat } from "../../agent/open.ts";
import type { Problem } from "../../base/problem.ts";
import { MemoryStore } from "../../cycle/storage/memory_store.ts";
import type { CycleEvent } from "../../cycle/types.ts";
import { setStatus } from "../../parser/edits/result_block.ts";
import type { Edit } from "../../parser/mod.ts";
import {
  answer,
  answered,
  asking,
  bytesOf,
  codeOf,
  ECHO,
  sessionOf,
  testInPlace as test,
  textOf,
  waiting,
  withModel,
} from "./place.ts";

/** An editor's buffer as a language server sees it: edits are asked for, and refused when the person typed meanwhile. */
class Buffer extends MemoryStore {
  /** Types before the next edit arrives. */
  typing: (() => void) | null = null;

  constructor(text: string, path: string | null) {
    super(bytesOf(text), path);
  }

  type(edit: Edit): void {
    super.commit([edit]);
  }

  override commit(edits: readonly Edit[]): Promise<Problem | null> {
    const seen = this.chat;
    this.typing?.();
    this.typing = null;
    if (this.chat === seen) return super.commit(edits);
    return Promise.resolve({ code: "document-changed", message: "The buffer was changed meanwhile." });
  }
}

test("on an open buffer, a language server offers diagnostics, calls, an approval as an edit, commands and progress", async (place) => {
  const text = answered(asking(["a", "echo", '{"text":"hi"}']), answer("a", "pending"));
  const buffer = new Buffer(text, place.path("a.chat"));
  const events: string[] = [];
  await withModel([{ reply: [{ text: "Done." }] }], async (provider) => {
    await using session = await place.memory("", {
      store: buffer,
      provider,
      tools: [ECHO],
      emit: ({ event }) => events.push(event),
    });
    assert.equal(session.path, place.path("a.chat"));
    assert.deepEqual((await session.diagnose()).diagnostics.map(({ code }) => code), ["tool_use_unresolved"]);
    assert.deepEqual((await session.calls()).map(({ line, preview }) => [line, preview]), [[
      15,
      'echo: text="hi"',
    ]]);
    // A code action is an edit that the editor makes by itself.
    for (const edit of setStatus(buffer.chat, buffer.chat.result("a")!, "approved", "fence")) {
      buffer.type(edit);
    }
    assert.equal((await session.calls())[0]?.status, "approved");
    assert.equal((await session.advance()).reason, "done");
    assert.match(textOf({ chat: buffer.chat }), /```\nhi\n```\n\n@Assistant:\nDone\./);
    assert.ok(events.includes("tool:executing") && events.includes("request:finished"));
    assert.throws(() => Deno.statSync(place.path("a.chat")), "the file itself is not touched");
  });
});

test("if a changed buffer refuses an edit, the run stops, the person's text is kept, and the next run continues", async (place) => {
  const buffer = new Buffer(asking(["a", "echo", '{"text":"hi"}']), null);
  await using session = await place.memory("", {
    store: buffer,
    tools: [ECHO],
    settings: { approve: ["echo"], overrides: { tools: { autopilot: { enabled: false } } } },
  });
  buffer.typing = () => buffer.type({ from: 5, to: 5, insert: "\ntyped" });
  const { reason, problem } = await session.advance();
  assert.deepEqual([reason, problem?.code], ["conflict", "document-changed"]);
  assert.match(textOf(session), /typed/);
  assert.equal((await session.advance()).reason, "stepped");
  assert.match(textOf(session), /typed[^]*```\nhi\n```/);
});

test("an agent protocol session creates a document, sends prompts, asks for permission, and continues with the decision", async (place) => {
  const { environment } = place;
  const call = { tool_use: { id: "call_1", name: "echo", input: { text: "hi" } } };
  await withModel(
    [{ reply: [call] }, { reply: [{ text: "One." }] }, { reply: [{ text: "Two." }] }],
    async (provider) => {
      const made = await newChat("s.chat", { question: "First" }, { environment });
      assert.ok(made.ok);
      const updates: CycleEvent[] = [];
      await using session = sessionOf(
        await openChat(made.value.path, {
          environment,
          provider,
          tools: [ECHO],
          emit: (event) => updates.push(event),
        }),
      );
      assert.equal((await session.advance()).reason, "pending");
      const [waits] = (await session.calls()).filter(({ status }) => status === "pending");
      assert.equal(codeOf(await session.approve(waits!.id)), "ok");
      assert.equal((await session.advance()).reason, "done");
      // The next prompt is text below the last marker.
      const end = session.chat.byteLength;
      assert.equal(await session.edit([{ from: end, to: end, insert: "Second\n" }]), null);
      assert.equal((await session.advance()).reason, "done");
      assert.deepEqual(session.chat.turns.map(({ role }) => role[0]).join(""), "YAYAYAY");
      assert.ok(updates.some((event) => event.event === "text" && event.text === "Two."));
    },
  );
});

test("an agent protocol session cancels a prompt while its tool runs, and rejects a call with a reason", async (place) => {
  const { environment } = place;
  const { tool, begun } = waiting();
  place.write("s.chat", asking(["a", "wait"], ["b", "echo", '{"text":"hi"}']));
  await using session = sessionOf(
    await openChat("s.chat", { environment, tools: [tool, ECHO], settings: { approve: ["wait"] } }),
  );
  const prompt = session.advance();
  await begun;
  assert.equal(session.cancel(), true);
  assert.equal((await prompt).reason, "cancelled");
  assert.deepEqual(await session.reject("b", "Not now."), { ok: true, value: ["b"] });
  assert.match(place.read("s.chat"), /`b`\n\n```flemma:tool status=rejected\nNot now\.\n/);
});
