// `flemma execute`: runs or resolves one call now, whatever its state.

import { withDocument } from "./open.ts";
import { drive } from "./drive.ts";
import { Exit } from "../io/exit.ts";
import type { Invocation } from "../invocation.ts";
import { numberOption } from "../line/options.ts";
import { targetIds } from "./targets.ts";

export async function run(invocation: Invocation): Promise<number> {
  const { messages } = invocation;
  return await withDocument(invocation, async (document) => {
    const { targets, store } = document;
    if (targets.length === 0 && numberOption(invocation.arguments, "line") === undefined) {
      messages.say("flemma: execute needs a TARGET: the id of a call, or --line N.");
      return Exit.usage;
    }
    const ids = targetIds(store.chat, targets, invocation.arguments);
    if (!ids.ok) {
      messages.problem(ids.problem);
      return Exit.failure;
    }
    const [id] = ids.value;
    if (id === undefined || ids.value.length > 1) {
      messages.say(`flemma: execute takes one call, not ${ids.value.join(", ")}.`);
      return Exit.usage;
    }
    return await drive(invocation, document, ({ cycle }) => cycle.executeOne(id));
  });
}
