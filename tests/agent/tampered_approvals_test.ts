// Approvals that a command could have written: their effect until a person confirms them, one row per condition.

import assert from "node:assert/strict";
import { unconfirmedDowngrade, withoutDoubtedApprovals } from "../../agent/trust/downgrades.ts";
import { callDoubts, unconfirmedBlock } from "../../agent/trust/unconfirmed.ts";
import { openJournal } from "../../cycle/storage/journal.ts";
import type { TamperedParts } from "../../cycle/types.ts";
import { type ApprovalDecision, withDowngrades } from "../../tools/approval/mod.ts";

const WHY = "the file was replaced";

const ONE: TamperedParts = { why: WHY, calls: { c1: "hash" }, block: null };

Deno.test("flemma reports that a command could have written the approval of a call only if the call waits", async () => {
  const rows: readonly (readonly [ApprovalDecision["decision"], TamperedParts | null, string, boolean])[] = [
    ["require_approval", ONE, "c1", true],
    ["require_approval", ONE, "c2", false],
    ["require_approval", { ...ONE, calls: {} }, "c1", false],
    ["require_approval", ONE, "constructor", false],
    ["require_approval", null, "c1", false],
    ["approve", ONE, "c1", false],
    ["deny", ONE, "c1", false],
  ];
  for (const [decision, tampered, id, reported] of rows) {
    const given: ApprovalDecision = { decision, source: "config", chain: [] };
    const decide = withDowngrades(() => Promise.resolve(given), [unconfirmedDowngrade({ tampered })]);
    const decided = await decide({ id, name: "bash", input: {} });
    const what = `${decision} ${id}`;
    if (!reported) assert.equal(decided, given, what);
    else {
      assert.equal(decided.decision, "require_approval", what);
      assert.equal(decided.detail, `a command could have written its approval, because ${WHY}`);
      assert.deepEqual(decided.chain, []);
    }
  }
});

Deno.test("the journal records no approval of a call that a command could have approved", async () => {
  const opened = await openJournal({ environment: { cwd: "/", home: "/", variables: {} }, path: null });
  assert.ok(opened.ok);
  const approval = { by: "person", hash: "h" } as const;
  await opened.value.recordApprovals(new Map([["c1", approval], ["c2", approval]]));
  const by = (tampered: TamperedParts | null) => {
    const approvalOf = withoutDoubtedApprovals(opened.value, [unconfirmedDowngrade({ tampered })]);
    return Promise.all(["c1", "c2", "c3"].map(async (id) => (await approvalOf(id))?.by ?? null));
  };
  assert.deepEqual(await by(null), ["person", "person", null]);
  assert.deepEqual(await by(ONE), ["policy", "person", null]);
});

Deno.test("if a command could have written an approval, flemma reports this and says how to confirm the approval", () => {
  assert.deepEqual(callDoubts(null, "/a.chat"), []);
  assert.deepEqual(callDoubts({ ...ONE, calls: {} }, "/a.chat"), []);
  assert.deepEqual(callDoubts(ONE, "/a b.chat"), [
    `A command could have written the approval of c1, because ${WHY}. It counts only once you confirm it: ` +
    "flemma approve '/a b.chat' c1. To look first: flemma review '/a b.chat'",
  ]);
  const [many = ""] = callDoubts({ ...ONE, calls: { c1: "h", c2: "h" } }, "/a.chat");
  assert.match(
    many,
    /^A command could have written the approvals of c1, c2, .* They count only once you confirm them: /,
  );
  const block = unconfirmedBlock(ONE, "/a.chat");
  assert.deepEqual([block.all, block.onlyItsOwn], [true, false]);
  assert.match(block.sentence, /flemma trust \/a\.chat$/);
});
