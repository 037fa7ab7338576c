// Results that arrive while the document is written are written together, and no call with effects overtakes them.

import assert from "node:assert/strict";
import type { Edit } from "../../parser/edits/edit.ts";
import type { ToolDefinition } from "../../tools/definition.ts";
import { withoutWaiting } from "../waiting.ts";
import { bench, block, chatAnswered, chatWith } from "./harness.ts";

const READS: ToolDefinition = {
  name: "read",
  description: "gives back its text",
  input_schema: { type: "object" },
  effects: "reads",
  execute: (input) => ({ success: true, output: input.text }),
};

const IDS = ["a", "b", "c", "d", "e"];

/** Approved calls of a tool that only reads. */
function reads(ids: readonly string[]) {
  const calls = chatWith(...ids.map((id) => [id, "read", `{"text":"text of ${id}"}`] as const));
  return bench({
    text: chatAnswered(calls, ...ids.map((id) => block(id, "approved"))),
    definitions: [READS],
  });
}

/** Holds each commit until it is let through; tells which tools had been called when it came. */
function gate(tried: ReturnType<typeof bench>) {
  const { store, ran } = tried;
  const commit = store.commit.bind(store);
  const received: (readonly string[])[] = [];
  const open: (() => void)[] = [];
  store.commit = async (edits: readonly Edit[]) => {
    received.push([...ran]);
    await new Promise<void>((resolve) => open.push(resolve));
    return await commit(edits);
  };
  /** Lets the next commit through as soon as it is there. */
  const next = async () => {
    while (open.length === 0) await new Promise((resolve) => setTimeout(resolve, 0));
    open.shift()!();
  };
  return { received, next };
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 0));
}

/** Reads that have all been called, of which `next` lets one write after another through. */
async function allRunning() {
  const tried = reads(IDS);
  const { next } = gate(tried);
  const pressed = tried.cycle.advance();
  await until(() => tried.ran.length === IDS.length);
  return { tried, next, pressed };
}

Deno.test("results that arrive while the document is being written are written together, each into its own block", async () => {
  const tried = reads(IDS);
  const { received, next } = gate(tried);
  const pressed = tried.cycle.advance();
  await until(() => tried.ran.length === IDS.length);
  // The first result is still on its way to the disk.
  assert.equal(received.length, 1);
  await next();
  await next();
  await pressed;
  assert.deepEqual(received.length, 2);
  for (const id of IDS) assert.equal(tried.store.chat.result(id)?.content, `text of ${id}`);
  assert.deepEqual(tried.journal.log.filter((line) => line.startsWith("end")), IDS.map((id) => `end ${id}`));
});

Deno.test("a call with effects waits until earlier results are written, and does not run if the person rejected it meanwhile", async () => {
  const text = chatAnswered(
    chatWith(["a", "read", '{"text":"one"}'], ["b", "echo", '{"text":"two"}']),
    block("a", "approved"),
    block("b", "approved"),
  );
  const tried = bench({ text, definitions: [READS] });
  const { next } = gate(tried);
  const pressed = tried.cycle.advance();
  await until(() => tried.ran.length === 1);
  // Whoever looks at the document while the first result is written takes the approval back.
  const { store } = tried;
  store.text = store.text.replace("`b` (approved)", "`b` (rejected)");
  await next();
  const more = (async () => {
    for (let commits = 0; commits < 2; commits++) await next();
  })();
  await Promise.race([pressed, more]);
  assert.deepEqual(tried.ran, ["a"]);
});

Deno.test("if a call was deleted from the document, its result is reported, and other results are still written", async () => {
  const { tried, next, pressed } = await allRunning();
  const { store } = tried;
  await next();
  await until(() => store.chat.result("a")?.content !== "");
  const [before, behind] = [
    store.text.indexOf("**Tool Use:** `read` (`c`)"),
    store.text.indexOf(
      "**Tool Use:** `read` (`d`)",
    ),
  ];
  store.text = store.text.slice(0, before) + store.text.slice(behind);
  await next();
  const stop = await pressed;
  assert.equal(stop.problem?.code, "call-gone");
  assert.deepEqual(tried.journal.bodies.map(({ id, body }) => [id, body]), [["c", "text of c"]]);
  for (const id of ["a", "b", "d", "e"]) assert.equal(store.chat.result(id)?.content, `text of ${id}`);
});

Deno.test("if result blocks were deleted meanwhile, the results are written in new blocks, in order", async () => {
  const { tried, next, pressed } = await allRunning();
  const { store } = tried;
  await next();
  await until(() => store.chat.result("a")?.content !== "");
  store.text = store.text.slice(0, store.text.indexOf("**Tool Result:** `b`"));
  let over = false;
  pressed.finally(() => over = true);
  while (!over) {
    await Promise.race([pressed, next()]);
  }
  assert.deepEqual(
    store.chat.results.map(({ id, content }) => [id, content]),
    IDS.map((id) => [id, `text of ${id}`]),
  );
  assert.deepEqual(store.chat.diagnostics, []);
});

Deno.test("if results arrive just before everything is cancelled, they are written completely", async () => {
  const { tried, next, pressed } = await allRunning();
  tried.cycle.cancelAll();
  await next();
  await next();
  await pressed;
  for (const id of IDS) assert.equal(tried.store.chat.result(id)?.content, `text of ${id}`);
});

Deno.test("between two writes of results, a run rests as long as the first one took, unless it is being stopped", async () => {
  for (const isStopped of [false, true]) {
    const waits = await withoutWaiting(async () => {
      const { tried, next, pressed } = await allRunning();
      if (isStopped) tried.cycle.cancelAll();
      await next();
      await next();
      await pressed;
    });
    assert.equal(waits.length, isStopped ? 0 : 1);
  }
});

Deno.test("an exception during a write of results ends the run with it", async () => {
  const tried = reads(IDS);
  tried.store.commit = () => Promise.reject(new Error("broken store"));
  await assert.rejects(tried.cycle.advance(), /broken store/);
});
