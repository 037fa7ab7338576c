// Facts remembered about thinking survive the end of a run, an incomplete line and the shortening of a long journal.

import assert from "node:assert/strict";
import { openJournal } from "../../cycle/storage/journal.ts";
import { isThinkingEntry, thinkingEntries, thinkingState } from "../../cycle/storage/thinking_memory.ts";
import type { ThinkingEntry } from "../../cycle/types.ts";
import { testWithState as test } from "../folder.ts";

const RECORD = { key: "k", text: "t", prefix: "p", before: null, model: "m" };
const ENTRIES: readonly ThinkingEntry[] = [
  { kind: "thinking", ...RECORD },
  { kind: "sent", from: 0, pieces: ["a", "b", "c"] },
  { kind: "stale", keys: ["k"] },
  { kind: "sent", from: 2, pieces: ["d", "e"] },
  { kind: "unread", keys: ["u"] },
  { kind: "thinking", ...RECORD, key: "l", before: "k" },
  { kind: "sent", from: 3, pieces: [] },
];

Deno.test("journal entries record which thinking was sent last, which blocks of it are outdated, and where each block was created", () => {
  const state = thinkingState(ENTRIES);
  assert.deepEqual(state.sent, ["a", "b", "d"]);
  assert.deepEqual([...state.stale, ...state.unread, ...state.records.keys()], ["k", "u", "k", "l"]);
  assert.deepEqual(state.records.get("l"), { ...RECORD, key: "l", before: "k" });
  assert.deepEqual(thinkingState(thinkingEntries(state)), state);
  assert.deepEqual(thinkingEntries(thinkingState([])), []);
});

Deno.test("a journal entry with a missing or invalid field is ignored", () => {
  for (const entry of ENTRIES) {
    assert.ok(isThinkingEntry(entry));
    for (const name of Object.keys(entry)) {
      const { [name as keyof ThinkingEntry]: _gone, ...rest } = entry;
      assert.ok(!isThinkingEntry(rest), `${entry.kind} ${name}`);
      assert.ok(!isThinkingEntry({ ...entry, [name]: { x: 1 } }), `${entry.kind} ${name}`);
    }
  }
  assert.ok(!isThinkingEntry({ kind: "sent", from: -1, pieces: [] }));
  assert.ok(!isThinkingEntry({ kind: "sent", from: 0.5, pieces: [] }));
  assert.ok(!isThinkingEntry({ kind: "stale", keys: ["k", 1] }));
});

test("the next run reads the same facts, even after an incomplete line or after a long journal was shortened", async ({ folder, environment }) => {
  const open = async () => {
    const opened = await openJournal({ environment, path: `${folder}/a.chat` });
    assert.ok(opened.ok);
    return opened.value;
  };
  const first = await open();
  assert.deepEqual(first.thinking, thinkingState([]));
  await first.recordThinking(ENTRIES.slice(0, 3));
  await first.recordThinking(ENTRIES.slice(3));
  assert.deepEqual(first.thinking, thinkingState(ENTRIES));
  assert.deepEqual((await open()).thinking, thinkingState(ENTRIES));
  const [name] = [...Deno.readDirSync(`${folder}/state/flemma/journal`)].map((entry) => entry.name);
  const path = `${folder}/state/flemma/journal/${name}`;
  await Deno.writeTextFile(path, '{"kind":"stale","ke', { append: true });
  await (await open()).recordThinking([{ kind: "stale", keys: ["later"] }]);
  assert.deepEqual([...(await open()).thinking.stale], ["k", "later"]);
  // Long enough to be folded at the next record.
  const many = Array.from(
    { length: 4000 },
    (_, index) => ({ kind: "stale" as const, keys: [`stale ${index % 7}`] }),
  );
  await (await open()).recordThinking(many);
  await (await open()).recordThinking(many);
  const { size } = await Deno.stat(path);
  await (await open()).recordThinking([{ kind: "stale", keys: ["last"] }]);
  assert.ok((await Deno.stat(path)).size < size / 10);
  const { thinking } = await open();
  assert.deepEqual(
    [...thinking.stale].sort(),
    ["k", "last", "later", ...many.slice(0, 7).map(({ keys }) => keys[0]!)].sort(),
  );
  assert.deepEqual(thinking.sent, ["a", "b", "d"]);
  assert.equal(thinking.records.size, 2);
});
