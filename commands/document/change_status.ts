// What approve and reject share: finding the calls, changing their status, saying what comes next.

import { hostOf } from "../host.ts";
import { failure, type Outcome, type Problem, success } from "../../base/problem.ts";
import { operands } from "../../base/shell_word.ts";
import { MemoryStore } from "../../cycle/storage/memory_store.ts";
import { compose, type Runtime } from "../../agent/session.ts";
import { type OpenDocument, withDocument } from "./open.ts";
import { Exit } from "../io/exit.ts";
import { asFragment } from "./fragment.ts";
import type { Invocation } from "../invocation.ts";
import { targetIds } from "./targets.ts";
import { refuse } from "../io/refuse.ts";

export interface Marking {
  /** The word for what was done, e.g. `approved`. */
  readonly done: string;
  /** Refuses a call that was not named by itself; null lets it pass. */
  guard?(runtime: Runtime, id: string, label: string): Problem | null;
  mark(runtime: Runtime, id: string): Promise<Problem | null>;
}

/** Marks the calls that the command line names. Nothing runs. */
export async function markCalls(invocation: Invocation, marking: Marking): Promise<number> {
  return await withDocument(invocation, async (document) => {
    const fragment = document.mode === "filter" ? asFragment(document.store.chat) : null;
    if (fragment === null || document.mode !== "filter") {
      return await mark(invocation, document, document.store, marking);
    }
    const inner = new MemoryStore(fragment.bytes, document.store.path);
    const code = await mark(invocation, document, inner, marking);
    document.store.replace(fragment.unwrap(inner.chat.bytes));
    return code;
  });
}

async function mark(
  invocation: Invocation,
  document: OpenDocument,
  store: OpenDocument["store"],
  marking: Marking,
): Promise<number> {
  const { messages } = invocation;
  const given = invocation.arguments;
  if (store.chat.turns.length === 0) {
    messages.say(`flemma: ${document.label}: the text holds no message and no tool result block.`);
    return Exit.diagnostics;
  }
  const ids = targetIds(store.chat, document.targets, given);
  if (!ids.ok) return refuse(invocation, ids.problem);
  const runtime = await compose(hostOf(invocation), store, {
    emit: (event) => {
      if (event.event === "notice") messages.note(`flemma: ${event.message}`);
    },
  });
  if (!runtime.ok) return refuse(invocation, runtime.problem);
  const named = new Set(explicitIds(store, document.targets, invocation));
  const allowed = guarded(
    ids.value,
    (id) => named.has(id) ? null : marking.guard?.(runtime.value, id, document.label) ?? null,
  );
  if (!allowed.ok) return refuse(invocation, allowed.problem);
  for (const id of allowed.value) {
    const problem = await marking.mark(runtime.value, id);
    if (problem !== null) return refuse(invocation, problem);
  }
  messages.note(
    `${marking.done}: ${ids.value.join(", ")}. Nothing ran; go on with: flemma advance ${
      operands(document.label)
    }`,
  );
  return Exit.ok;
}

/** Ids that were named one by one, not as "all", by tool, or for being the only one. */
function explicitIds(
  store: OpenDocument["store"],
  words: readonly string[],
  invocation: Invocation,
): readonly string[] {
  const lines = new Map([...invocation.arguments.options].filter(([name]) => name === "line"));
  if (words.length === 0 && lines.size === 0) return [];
  const found = targetIds(store.chat, words, { ...invocation.arguments, options: lines });
  return found.ok ? found.value : [];
}

/** All ids, or the first refusal: a command marks everything it was asked to, or nothing. */
function guarded(ids: readonly string[], guard: (id: string) => Problem | null): Outcome<readonly string[]> {
  for (const id of ids) {
    const problem = guard(id);
    if (problem !== null) return failure(problem.code, problem.message, problem.next);
  }
  return success(ids);
}
