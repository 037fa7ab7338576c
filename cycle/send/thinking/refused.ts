// Chooses which earlier thinking to leave out after a refusal: as little as the refusal allows.

import type { ProviderError, ThinkingPart } from "../../../providers/types.ts";

/** The thinking of a refused request. */
export interface SentThinking {
  /** All of it, in order. */
  readonly all: readonly ThinkingPart[];
  /** The part of it that the provider can name, by that name. */
  readonly named: ReadonlyMap<string, ThinkingPart>;
  /**
   * Thinking of the open loop of calls, which is sent completely or not at all. Null for a provider that accepts any
   * selection of thinking.
   */
  readonly loop: readonly ThinkingPart[] | null;
  /** True if the thinking is known to have been made with the current key. */
  isOwn(part: ThinkingPart): boolean;
}

/** Matches refusals of a changed message whose calls were just answered. They need not name a block. */
const LOOP_CHANGED = /latest assistant message cannot be modified/i;

/** Matches refusals that concern all thinking of another account or model, although they name only one block. */
const FOREIGN = /encrypted|verified|decrypt|signature/i;

/** Returns selections of thinking to leave out, the smallest first; the last one is all thinking. */
export function refusedThinking(
  { message }: Pick<ProviderError, "message">,
  sent: SentThinking,
): readonly (readonly ThinkingPart[])[] {
  const { all, loop } = sent;
  if (all.length === 0) return [];
  const named = all.filter((part) =>
    [...sent.named].some(([name, each]) => each === part && isIn(message, name))
  );
  const selections = loop === null ? freely(message, sent, named) : inOrder(message, all, loop, named);
  return [...selections, all].filter((selection, index, list) =>
    selection.length > 0 && list.findIndex((other) => other.length === selection.length) === index
  );
}

/** For a provider that accepts any selection: what the refusal names, or what this key did not make. */
function freely(
  message: string,
  { all, isOwn }: SentThinking,
  named: readonly ThinkingPart[],
): readonly (readonly ThinkingPart[])[] {
  const foreign = all.filter((part) => !isOwn(part) || named.includes(part));
  return FOREIGN.test(message) ? [foreign] : [named, foreign];
}

/**
 * For a provider that binds thinking to what comes before it: later thinking depends on earlier thinking, so everything
 * after the named block goes too.
 */
function inOrder(
  message: string,
  all: readonly ThinkingPart[],
  loop: readonly ThinkingPart[],
  named: readonly ThinkingPart[],
): readonly (readonly ThinkingPart[])[] {
  const first = all.findIndex((part) => named.includes(part));
  if (first < 0) return LOOP_CHANGED.test(message) ? [loop] : [];
  const later = new Set(all.slice(first));
  const touchesLoop = loop.some((part) => later.has(part));
  return [all.filter((part) => later.has(part) || (touchesLoop && loop.includes(part)))];
}

/** True if a text contains a name that does not continue on either side. */
function isIn(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const around = [text.charAt(at - 1), text.charAt(at + name.length)];
    if (!around.some((character) => /[\w-]/.test(character))) return true;
  }
  return false;
}
