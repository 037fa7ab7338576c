// What journal entries say about commands that could have reached the document.

import assert from "node:assert/strict";
import { openJournal } from "../../cycle/storage/journal.ts";
import {
  afterEntry,
  entriesOf,
  isUnsettledEntry,
  NOTHING_UNSETTLED,
  type Unsettled,
} from "../../cycle/storage/unsettled.ts";
import { documentKey } from "../../cycle/storage/state_files.ts";
import type { TamperCheck, TamperedParts } from "../../cycle/types.ts";
import { testWithState as test } from "../folder.ts";

const TAMPER_CHECK: TamperCheck = {
  name: "/a.chat",
  leads: "/a.chat",
  file: { dev: 1, ino: 2, born: null, links: 1 },
  approved: { c1: "one" },
  block: "",
};
const TAMPERED: TamperedParts = { why: "so", calls: { c1: "one", c2: "two" }, block: null };
const approval = (id: string, more: { asked?: true } = {}) =>
  ({ kind: "approval", id, by: "person", hash: "new", ...more }) as const;

Deno.test("an approval that appears while commands run is not tampering if policy gave it; it is if policy had left the call to the person", () => {
  const open = afterEntry(NOTHING_UNSETTLED, { kind: "exposed", ...TAMPER_CHECK });
  assert.deepEqual(afterEntry(open, approval("c2")).exposure?.approved, { c1: "one", c2: "new" });
  assert.deepEqual(afterEntry(open, approval("c1")).exposure?.approved, { c1: "new" });
  assert.deepEqual(afterEntry(open, approval("c1", { asked: true })).exposure?.approved, {});
  assert.deepEqual(afterEntry(NOTHING_UNSETTLED, approval("c1")), NOTHING_UNSETTLED);
});

Deno.test("a decision or question about a call clears its tampered mark, and clearing the last mark ends the check", () => {
  const state: Unsettled = { exposure: null, suspects: TAMPERED };
  const one = afterEntry(state, approval("c1"));
  assert.deepEqual(one.suspects?.calls, { c2: "two" });
  assert.equal(afterEntry(one, approval("c2", { asked: true })).suspects, null);
  const block: Unsettled = { exposure: null, suspects: { ...TAMPERED, block: "says" } };
  assert.deepEqual(afterEntry(afterEntry(block, approval("c1")), approval("c2")).suspects, {
    why: "so",
    calls: {},
    block: "says",
  });
});

Deno.test("a journal entry of kind settled ends the tamper check; a state that is written as journal entries is read back unchanged", () => {
  const open: Unsettled = { exposure: TAMPER_CHECK, suspects: TAMPERED };
  const settled = afterEntry(open, { kind: "settled", suspects: null });
  assert.deepEqual(settled, NOTHING_UNSETTLED);
  for (
    const state of [NOTHING_UNSETTLED, open, { ...open, exposure: null }, { ...open, suspects: null }]
  ) {
    assert.deepEqual(entriesOf(state).reduce(afterEntry, NOTHING_UNSETTLED), state);
  }
});

Deno.test("a journal entry with a missing or invalid field has no effect", () => {
  const tamperChecked = { kind: "exposed", ...TAMPER_CHECK };
  const settled = { kind: "settled", suspects: TAMPERED };
  for (
    const good of [tamperChecked, { ...tamperChecked, file: null }, settled, { ...settled, suspects: null }]
  ) {
    assert.ok(isUnsettledEntry(good), JSON.stringify(good));
  }
  const bad = [
    { ...tamperChecked, kind: "other" },
    { ...tamperChecked, name: 1 },
    { ...tamperChecked, leads: null },
    { ...tamperChecked, file: "x" },
    { ...tamperChecked, approved: [1] },
    { ...tamperChecked, approved: { c1: 1 } },
    { ...tamperChecked, block: null },
    { kind: "settled" },
    { ...settled, suspects: { ...TAMPERED, why: 1 } },
    { ...settled, suspects: { ...TAMPERED, calls: null } },
    { ...settled, suspects: { ...TAMPERED, block: 1 } },
  ];
  for (const entry of bad) assert.ok(!isUnsettledEntry(entry), JSON.stringify(entry));
});

test("shortening a long journal keeps the unsettled checks, below the approvals", async ({ folder, environment }) => {
  const path = `${folder}/a.chat`;
  const open = async () => {
    const journal = await openJournal({ environment, path });
    assert.ok(journal.ok);
    return journal.value;
  };
  const first = await open();
  await first.recordApprovals(new Map([["c1", { by: "person", hash: "old" }]]));
  await first.recordTampered(TAMPERED);
  await first.recordTamperCheck(TAMPER_CHECK);
  const file = `${folder}/state/flemma/journal/${await documentKey(path)}.jsonl`;
  const noise = '{"kind":"start","id":"x","tool":"bash","time":""}\n{"kind":"end","id":"x"}\n'.repeat(4000);
  await Deno.writeTextFile(file, noise, { append: true });
  await (await open()).recordEnd("x");
  assert.ok((await Deno.stat(file)).size < 2000, "it was shortened");
  const after = await open();
  assert.deepEqual(after.tampered(), TAMPERED);
  assert.deepEqual(after.tamperCheck(), TAMPER_CHECK);
  assert.deepEqual(after.approval("c1"), { by: "person", hash: "old" });
});
