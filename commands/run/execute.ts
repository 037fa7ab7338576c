// `flemma execute`: runs or resolves one call now, whatever its status.

import { joinNames } from "../../base/names.ts";
import { resolveAll } from "../../cycle/plan/targets.ts";
import type { Invocation } from "../invocation.ts";
import { Exit } from "../io/exit.ts";
import { numberOption } from "../line/options.ts";
import { drive } from "./drive.ts";
import type { CommandDocument } from "../document/open.ts";
import { specOf, targetsOf } from "../line/targets.ts";

export async function run(invocation: Invocation): Promise<number> {
  return await drive(invocation, async (document) => {
    const id = oneCall(invocation, document);
    return typeof id === "string" ? await document.session.execute(id) : id;
  });
}

/** Returns the id of the call to execute, or the exit code after reporting the error. */
function oneCall({ messages, arguments: given }: Invocation, { targets, session }: CommandDocument) {
  if (targets.length === 0 && numberOption(given, "line") === undefined) {
    messages.say("flemma: execute needs a TARGET: the id of a call, or --line N.");
    return { exit: Exit.usage };
  }
  const found = resolveAll(session.chat, targetsOf(targets, given).map(specOf));
  if (!found.ok) {
    messages.problem(found.problem);
    return { exit: Exit.failure };
  }
  const [id, ...more] = found.value.ids;
  if (id !== undefined && more.length === 0) return id;
  messages.say(`flemma: execute takes one call, not ${joinNames(found.value.ids)}.`);
  return { exit: Exit.usage };
}
