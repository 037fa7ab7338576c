// Matching of results to calls by position: ids may repeat, and results may be anywhere in the document.

import type { Part, Prompt, PromptMessage } from "../../prompt/types.ts";

export type CallPart = Extract<Part, { kind: "tool_use" }>;
export type ResultPart = Extract<Part, { kind: "tool_result" }>;

interface Met {
  /** Calls of the last message that contains calls, in order. */
  latest: CallPart[];
  message: PromptMessage;
}

/**
 * Maps each answered call to its result, in the order of the results. Providers require one result for each call,
 * immediately after it, whatever the document looks like.
 *
 * - A result belongs to the nearest message above with a call of its id. Of several such calls in one message, the last
 *   ones are answered, in order: of calls with the same id only the last is ever run.
 * - A further result replaces the last one.
 * - A result above all calls of its id belongs to the first of them without a result; one without any call is ignored.
 */
export function pairResults(history: readonly PromptMessage[]): ReadonlyMap<CallPart, ResultPart> {
  const answers = new Map<CallPart, ResultPart>();
  const met = new Map<string, Met>();
  const early = new Map<string, ResultPart>();
  const unanswered: CallPart[] = [];
  const groups: CallPart[][] = [];
  for (const message of history) {
    for (const part of message.parts) {
      if (part.kind === "tool_use") {
        const known = met.get(part.id);
        if (known?.message === message) known.latest.push(part);
        else {
          const latest = [part];
          groups.push(latest);
          met.set(part.id, { latest, message });
        }
        unanswered.push(part);
      } else if (part.kind === "tool_result") {
        const calls = met.get(part.toolUseId)?.latest;
        const call = calls?.find((candidate) => !answers.has(candidate)) ?? calls?.at(-1);
        if (call === undefined) early.set(part.toolUseId, part);
        else {
          // An existing entry is deleted first, because the order of the map must be the order of the results.
          answers.delete(call);
          answers.set(call, part);
        }
      }
    }
  }
  for (const call of unanswered) {
    const result = answers.has(call) ? undefined : early.get(call.id);
    if (result === undefined) continue;
    answers.set(call, result);
    early.delete(call.id);
  }
  return towardsTheLast(answers, groups);
}

/** Moves the results within each group of calls with the same message and id to the end of the group. */
function towardsTheLast(
  answers: ReadonlyMap<CallPart, ResultPart>,
  groups: readonly (readonly CallPart[])[],
): ReadonlyMap<CallPart, ResultPart> {
  const place = new Map<CallPart, CallPart>();
  for (const group of groups) {
    const answered = group.filter((call) => answers.has(call));
    answered.forEach((call, index) => place.set(call, group[group.length - answered.length + index]!));
  }
  return new Map([...answers].map(([call, result]) => [place.get(call)!, result]));
}

/**
 * Returns a warning for each call that is sent without a result because the result went to another call with the same
 * id. Excludes calls whose id has no result; they were reported when the prompt was built.
 */
export function reusedIdWarnings(prompt: Prompt): readonly string[] {
  const answers = pairResults(prompt.history);
  const reported = new Set(prompt.unresolved.map(({ id }) => id));
  return prompt.history.flatMap(({ parts }) => parts).flatMap((part) =>
    part.kind === "tool_use" && !answers.has(part) && !reported.has(part.id)
      ? [
        `The call ${part.id} of ${part.name} has the id of another call, so it is sent without a result.`,
      ]
      : []
  );
}
