// Calls of a reply that was not received completely: which ones policy may still decide, and what is reported.

import assert from "node:assert/strict";
import { unfinishedDowngrade } from "../../agent/trust/downgrades.ts";
import { unfinishedDoubts } from "../../agent/trust/unconfirmed.ts";
import type { CycleEvent } from "../../cycle/types.ts";
import { parse } from "../../parser/mod.ts";
import { type ApprovalDecision, withDowngrades } from "../../tools/approval/mod.ts";

const call = (id: string) => ({ id, name: "bash", input: {} });

Deno.test("if policy would approve a call of an incomplete reply, the call waits for the person and is reported once", async () => {
  const decisions: Readonly<Record<string, ApprovalDecision>> = {
    runs: { decision: "approve", source: "config" },
    denied: { decision: "deny", source: "config" },
    asked: { decision: "require_approval", source: "config" },
    whole: { decision: "approve", source: "config" },
  };
  const events: CycleEvent[] = [];
  const ids = new Set(["runs", "denied", "asked"]);
  const downgrade = unfinishedDowngrade({ unfinished: () => ids }, (event) => events.push(event));
  const decide = withDowngrades(({ id }) => Promise.resolve(decisions[id]!), [downgrade]);
  const decided = await Promise.all(Object.keys(decisions).map((id) => decide(call(id))));
  assert.deepEqual(decided.map(({ decision }) => decision), [
    "require_approval",
    "deny",
    "require_approval",
    "approve",
  ]);
  assert.deepEqual(decided.map(({ source }) => source), [
    "urn:flemma:approval:unfinished",
    "config",
    "config",
    "config",
  ]);
  await decide(call("runs"));
  assert.deepEqual(events.map((event) => event.event === "notice" ? event.id : event.event), ["runs"]);
  // What is remembered may change during a run.
  ids.delete("runs");
  assert.equal((await decide(call("runs"))).decision, "approve");
});

Deno.test("status lists calls of an incomplete reply only while they have no block", () => {
  const use = (id: string) => `**Tool Use:** \`bash\` (\`${id}\`)\n\n\`\`\`json\n{}\n\`\`\`\n\n`;
  const block = "@You:\n\n**Tool Result:** `b`\n\n```flemma:tool status=pending\n```\n";
  const chat = parse(
    new TextEncoder().encode(`@Assistant:\n${["a", "b", "c", "d"].map(use).join("")}${block}`),
  );
  const reported = (...ids: string[]) => unfinishedDoubts(chat, new Set(ids), "/x/a b.chat");
  assert.deepEqual(reported(), []);
  assert.deepEqual(reported("b", "gone"), [], "it waits already, or is not there any more");
  assert.deepEqual(reported("a", "b"), [
    "The program ended before the reply with a was complete, so it waits for you. To be asked: flemma advance '/x/a b.chat'",
  ]);
  assert.match(
    reported("a", "d")[0]!,
    /the reply with a, d was complete, so they wait for you\. To be asked: flemma advance /,
  );
});
