// Resolves the targets that the user names to the ids of calls.

import { joinNames } from "../../base/names.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import { isPlaceholder } from "../../parser/edits/result_block.ts";
import type { Call, Chat, Place, Turn } from "../../parser/types.ts";
import { liveCalls } from "./open_calls.ts";

/** A target as given on the command line. */
export type TargetSpec =
  /** An id, the number of a call, or the beginning or end of exactly one id. */
  | { readonly kind: "id"; readonly text: string }
  /** With `exact`, only a call or a result block on that line; otherwise also the nearest one of the message. */
  | { readonly kind: "line"; readonly line: number; readonly exact?: boolean }
  /** All pending calls of a tool. */
  | { readonly kind: "tool"; readonly name: string }
  /** All pending calls. */
  | { readonly kind: "all" }
  /** No target was given. Without a target, a command means the only pending call. */
  | { readonly kind: "only" };

function noneIsPending(): Outcome<never> {
  return failure(
    "no-pending-call",
    "No call is pending.",
    "To see the calls of a document: flemma status FILE",
  );
}

/** Returns the ids that a target names, at least one, in document order. */
export function resolveTargets(chat: Chat, spec: TargetSpec): Outcome<string[]> {
  switch (spec.kind) {
    case "id":
      return byId(chat, spec.text);
    case "line": {
      const id = spec.exact === true ? callOnLine(chat, spec.line) : callAtLine(chat, spec.line);
      return id.ok ? success([id.value]) : id;
    }
    case "tool": {
      const ids = pendingIds(chat).filter((id) => chat.call(id)?.name === spec.name);
      if (ids.length > 0) return success(ids);
      return failure("no-pending-call", `No call of ${spec.name} is pending.`, whatIsPending(chat));
    }
    case "all": {
      const ids = pendingIds(chat);
      return ids.length > 0 ? success(ids) : noneIsPending();
    }
    case "only": {
      const ids = pendingIds(chat);
      if (ids.length === 1) return success(ids);
      if (ids.length === 0) return noneIsPending();
      return failure(
        "target-needed",
        `${ids.length} calls are pending; name one, or use --all.`,
        whatIsPending(chat),
      );
    }
  }
}

/** The calls that several targets name, each once, in the order they were named. */
export interface NamedCalls {
  readonly ids: readonly string[];
  /** Calls that were named individually, by id or by line. */
  readonly explicit: ReadonlySet<string>;
}

/** Resolves all targets; fails for the first target that names no call. */
export function resolveAll(chat: Chat, specs: readonly TargetSpec[]): Outcome<NamedCalls> {
  const ids = new Set<string>();
  const explicit = new Set<string>();
  for (const spec of specs) {
    const found = resolveTargets(chat, spec);
    if (!found.ok) return found;
    for (const id of found.value) {
      ids.add(id);
      if (spec.kind === "id" || spec.kind === "line") explicit.add(id);
    }
  }
  return ids.size === 0
    ? failure("unknown-call", "No call is selected.")
    : success({ ids: [...ids], explicit });
}

/**
 * Returns the call that a line belongs to: the nearest one in the message, or in the message that it answers. Lines
 * are 1-based.
 */
export function callAtLine(chat: Chat, asked: number): Outcome<string> {
  // An editor also counts the line after the last line end, and its cursor may be below the text.
  const line = Math.min(asked, chat.turns.at(-1)?.place.end ?? asked);
  const turn = chat.turns.find(({ place }) => place.start <= line && line <= place.end);
  if (turn === undefined) return failure("no-call-here", `Line ${asked} is not part of a message.`);
  if (turn.role === "Assistant") {
    const call = nearest(turn.calls, line);
    if (call !== null) return success(call.id);
    return noCallAt(chat, line, "belongs to");
  }
  const caller = turn.role === "You" ? callingTurn(chat, turn) : undefined;
  if (caller === undefined) return noCallAt(chat, line, "belongs to");
  const result = nearest(turn.results.filter(({ id }) => chat.call(id) !== undefined), line);
  const last: Call | undefined = caller.calls.at(-1);
  const id = result?.id ?? last?.id;
  return id === undefined ? noCallAt(chat, line, "belongs to") : success(id);
}

/** Returns the call whose block, or whose result block, contains the line. */
function callOnLine(chat: Chat, line: number): Outcome<string> {
  const here = [...chat.calls, ...chat.results].find(({ place }) => place.start <= line && line <= place.end);
  return here === undefined ? noCallAt(chat, line, "is on") : success(here.id);
}

/** Returns the problem that a line names no call, with the nearest calls. */
function noCallAt(chat: Chat, line: number, relation: "belongs to" | "is on"): Outcome<never> {
  const near = [...chat.calls, ...chat.results].map((block) => ({
    block,
    away: Math.max(block.place.start - line, line - block.place.end),
  }))
    .sort((a, b) => a.away - b.away)
    .filter(({ block }, at, all) => all.findIndex((other) => other.block.id === block.id) === at).slice(0, 2)
    .map(({ block: { id, place } }) => `${shortCallName(chat, id)} (line ${place.start})`);
  return failure(
    "no-call-here",
    `No call ${relation} line ${line}.`,
    near.length === 0 ? "The document has no calls." : `The nearest: ${near.join(", ")}`,
  );
}

function callingTurn(chat: Chat, turn: Turn): Turn | undefined {
  const before = chat.turns[turn.index - 1];
  return before?.role === "Assistant" && before.calls.length > 0 ? before : undefined;
}

/**
 * Returns the block that contains a line, else the closest block. Of two equally close blocks, returns the earlier
 * one.
 */
function nearest<T extends { readonly place: Place }>(blocks: readonly T[], line: number): T | null {
  let closest: T | null = null;
  let least = Infinity;
  for (const block of blocks) {
    const distance = Math.max(block.place.start - line, line - block.place.end, 0);
    if (distance < least) {
      closest = block;
      least = distance;
    }
  }
  return closest;
}

/** Minimum number of characters of a partial id; fewer could be a typing mistake. */
const SHORTEST_PIECE = 4;

/** Finds an exact id, else the number of a call, else the only id that begins or ends with the text. */
function byId(chat: Chat, text: string): Outcome<string[]> {
  const ids = [...new Set([...liveCalls(chat).map(({ id }) => id), ...chat.results.map(({ id }) => id)])];
  if (ids.includes(text)) return success([text]);
  const [, digits] = /^#?([0-9]{1,9})$/.exec(text) ?? [];
  const numbered = digits === undefined ? undefined : numberedIds(chat)[Number(digits) - 1];
  if (numbered !== undefined) return success([numbered]);
  const matches = ids.filter((id) =>
    text.length >= SHORTEST_PIECE && (id.startsWith(text) || id.endsWith(text))
  );
  const [only] = matches;
  if (only !== undefined && matches.length === 1) return success([only]);
  if (matches.length > 1) {
    return failure(
      "target-ambiguous",
      `${matches.length} ids begin or end with ${text}.`,
      `One of: ${joinNames(matches)}`,
    );
  }
  const next = ids.length === 0 ? "The document has no calls." : `The calls are: ${joinNames(ids)}`;
  if (digits !== undefined) return failure("unknown-call", `There is no call ${digits}.`, next);
  const reason = text.length < SHORTEST_PIECE
    ? `, and a part of an id needs at least ${SHORTEST_PIECE} characters`
    : ", and no id begins or ends with it";
  return failure("unknown-call", `No call has the id ${text}${reason}.`, next);
}

/**
 * Returns the ids of the document's calls in numbering order. In a fragment without calls, returns the ids of its
 * result blocks.
 */
function numberedIds(chat: Chat): readonly string[] {
  const calls = chat.calls.map(({ id }) => id);
  return calls.length > 0 ? calls : chat.results.map(({ id }) => id);
}

/**
 * Returns the numbers of all calls by id, counted over the whole document, whatever their status. If several calls
 * have the same id, the last one counts.
 */
export function callNumbers(chat: Chat): ReadonlyMap<string, number> {
  return new Map(numberedIds(chat).map((id, at) => [id, at + 1]));
}

/** Matches ids that are short enough to type without error. */
const HANDY = /^\w[\w-]{0,7}$/;

/** Returns the shortest unambiguous name of a call to type: its id if that is short, else its number. */
export function shortCallName(chat: Chat, id: string): string {
  return shortCallNames(chat, [id])[0]!;
}

/** Like `shortCallName`, for several calls; reads the document only once. */
export function shortCallNames(chat: Chat, ids: readonly string[]): string[] {
  const numbers = callNumbers(chat);
  const known = new Set([...numbers.keys(), ...chat.results.map(({ id }) => id)]);
  return ids.map((id) => {
    const number = numbers.get(id);
    // The number names the call, unless another call has this number as its id.
    return HANDY.test(id) || number === undefined || known.has(String(number)) ? id : String(number);
  });
}

/** Returns the ids of pending blocks. A fragment of a document may contain blocks without their calls. */
function pendingIds(chat: Chat): string[] {
  const ids = chat.results.filter((result) =>
    isPlaceholder(result) && result.status === "pending" &&
    chat.result(result.id)?.place.from === result.place.from
  ).map(({ id }) => id);
  return [...new Set(ids)];
}

function whatIsPending(chat: Chat): string {
  const ids = pendingIds(chat);
  if (ids.length === 0) return "Nothing is pending.";
  const numbers = callNumbers(chat);
  return `Pending: ${joinNames(ids.map((id) => `${numbers.get(id) ?? "-"} ${id}`))}`;
}
