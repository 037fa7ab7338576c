// Which result answers which call, told by their places: ids may repeat, and results may stand anywhere.

import type { Part, Prompt, PromptMessage } from "../../prompt/types.ts";

export type CallPart = Extract<Part, { kind: "tool_use" }>;
export type ResultPart = Extract<Part, { kind: "tool_result" }>;

/** The calls of one id that have been met so far. */
interface Met {
  /** Of the last message that has any, in order. */
  latest: CallPart[];
  /** The message they stand in. */
  message: PromptMessage;
}

/**
 * The result of each call that has one, in the order of the results. Providers want every call answered once,
 * right behind it, whatever a document looks like.
 *
 * A result belongs to the nearest message above that calls by its id. Of several such calls in one message the last
 * are answered, in their order: of calls with one id only the last is ever run. A further result takes the place of
 * the last. A result above all calls of its id belongs to the first of them that is left without one; a result that
 * no call has the id of, to none.
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
          // Taken out first, so that the order stays that of the results.
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

/** The answers with those of each group of calls, which share a message and an id, at the end of the group. */
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
 * One sentence for each call that goes out as unanswered although its id has a result, which another call of
 * that id took. Calls whose id has none were told of when the prompt was made.
 */
export function reusedIdWarnings(prompt: Prompt): readonly string[] {
  const answers = pairResults(prompt.history);
  const reported = new Set(prompt.unresolved.map(({ id }) => id));
  return prompt.history.flatMap(({ parts }) => parts).flatMap((part) =>
    part.kind === "tool_use" && !answers.has(part) && !reported.has(part.id)
      ? [
        `The call ${part.id} of ${part.name} has no result of its own: another call has the same id. The ` +
        "provider is told that none was given.",
      ]
      : []
  );
}
