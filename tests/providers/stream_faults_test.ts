// Every fault of a stream with every provider, over real sockets: the document holds what arrived and nothing else,
// and no failure is reported as success.

import assert from "node:assert/strict";
import type { SendOutcome } from "../../cycle/types.ts";
import { serve } from "./loopback.ts";
import { BEFORE, type Ending, FAULTS, WHOLE } from "./stream_faults.ts";
import { DIALECTS } from "./same_stream.ts";
import { sendOnce } from "./send_once.ts";

function check(ending: Ending, { outcome, after }: { outcome: SendOutcome; after: string }): void {
  if (ending.is === "failed") {
    assert.ok(outcome.kind === "failed", JSON.stringify(outcome));
    if (ending.says !== undefined) assert.match(outcome.problem.message, ending.says);
    if (ending.text === null) return assert.equal(after, BEFORE);
    const kept = `${BEFORE}\n@Assistant:\n${ending.text}`;
    assert.ok(after.startsWith(kept), after);
    // Nothing but the mark of a reply that broke off may stand below, and no call that could run.
    assert.match(after.slice(kept.length), /^(?:\n<!-- flemma:aborted: [^\n]* -->\n)?$/);
    return;
  }
  assert.ok(outcome.kind === "completed", JSON.stringify(outcome));
  const ids = /\{\{ID\}\}/.test(ending.document ?? "");
  const shown = ids
    ? after.replace(/\(`(?:call_\w+|urn:flemma:tool:bash:[0-9a-f]+|toolu_\w+)`\)/g, "(`{{ID}}`)")
    : after;
  assert.equal(shown, ending.document ?? WHOLE);
  if (ids) assert.equal(new Set(after.match(/\(`[^`]*`\)/g)).size, after.match(/\(`[^`]*`\)/g)!.length);
  const isWarned = ending.is === "cut" || ending.warns === true;
  assert.ok(!isWarned || outcome.warnings.length > 0, "the person is told");
  assert.equal(outcome.reply, ending.is === "cut" ? "cut" : ending.warns === true ? "doubtful" : "whole");
}

for (const dialect of DIALECTS) {
  for (const [what, { answer, ending }] of Object.entries(FAULTS)) {
    Deno.test(`${dialect.provider}: ${what} gives the expected document and outcome`, async () => {
      const server = serve(() => answer(dialect));
      try {
        // Only silence has to wait for its end; whatever answers gets all the time that a busy machine takes.
        const seconds = answer(dialect).hang ? 0.4 : 300;
        const { provider, model, keyVariable } = dialect;
        const ended = await sendOnce(BEFORE, {
          provider,
          model,
          url: server.url,
          parameters: { timeout: seconds },
          variables: { [keyVariable]: "k" },
          tools: () => [{ name: "bash", description: "", input_schema: { type: "object" } }],
        });
        check(typeof ending === "function" ? ending(dialect) : ending, ended);
      } finally {
        await server.close();
      }
    });
  }
}
