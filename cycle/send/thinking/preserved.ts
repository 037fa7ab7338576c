// Decides which thinking of earlier replies is still valid, by digests, before anything is sent.
//
// Signed thinking belongs to the text before it at the time when it was made: tools, system prompt, every message. If
// that has changed, the provider rejects the request or drops the thinking and all that follows it. So invalid
// thinking is left out from the first such block on, together with the whole of an open loop of calls, and stays out
// permanently: restoring it would invalidate the thinking that was made without it. Thinking without a record is sent,
// and the provider decides.

import { quickHash } from "../../../base/hash.ts";
import type { Outline, PrefixPiece, ThinkingPart } from "../../../providers/types.ts";
import type { ThinkingEntry, ThinkingState } from "../../types.ts";

/** Digests of an outline. */
export interface Digests {
  /** Digests of the pieces, one for each. */
  readonly pieces: readonly string[];
  /** For each piece, the digest of all pieces before it; at the end, the digest of all pieces. */
  readonly prefixes: readonly string[];
  readonly thinking: readonly {
    readonly part: ThinkingPart;
    /** Index of the piece that contains the thinking. */
    readonly piece: number;
    readonly key: string;
    readonly text: string;
  }[];
}

/** What is left out of a request, and why. */
export interface ThinkingEvaluation {
  readonly leftOut: ReadonlySet<ThinkingPart>;
  /** Thinking that this evaluation left out in addition to earlier ones, in order. */
  readonly lost: readonly ThinkingPart[];
  /** Keys of thinking blocks that are left out from now on. */
  readonly stale: readonly string[];
  /** Index of the first piece that differs from the last request; null if no piece differs, or if nothing is known. */
  readonly changed: number | null;
  /** Thinking that is sent although the model cannot read it, and that was not reported yet. */
  readonly unread: readonly { readonly part: ThinkingPart; readonly key: string }[];
}

/** Returns the key of a thinking block: a digest of its signature, which is unique. */
export function thinkingKey(part: Pick<ThinkingPart, "content" | "signature" | "redacted">): string {
  return quickHash(part.redacted ? `redacted ${part.content}` : part.signature?.value ?? "");
}

/** Returns the digest of a block's text, which its signature covers. */
export function digestThinkingText(part: Pick<ThinkingPart, "content">): string {
  return quickHash(part.content);
}

export function digestsOf(outline: Outline): Digests {
  const pieces: string[] = [];
  const prefixes = [quickHash("")];
  for (const { text } of outline.pieces) {
    const piece = quickHash(text);
    const before = prefixes.at(-1)!;
    pieces.push(piece);
    // A piece without text is sent only for its thinking, so later thinking does not depend on it.
    prefixes.push(text === "" ? before : quickHash(before + piece));
  }
  const thinking = outline.pieces.flatMap((piece, index) =>
    piece.thinking.map((part) => ({
      part,
      piece: index,
      key: thinkingKey(part),
      text: digestThinkingText(part),
    }))
  );
  return { pieces, prefixes, thinking };
}

/** Decides which thinking of a document is sent. */
export function evaluateThinking(
  outline: Outline,
  digests: Digests,
  state: ThinkingState,
): ThinkingEvaluation {
  const { thinking } = digests;
  const out = new Set<number>();
  const copies = copiesIn(outline, digests, state);
  const first = firstStale(outline, digests, state, copies);
  thinking.forEach(({ key }, index) => {
    if (state.stale.has(key) || index >= first || copies.has(index)) out.add(index);
  });
  const isWhole = (index: number) => thinking[index]!.piece >= outline.whole;
  if ([...out].some(isWhole)) thinking.forEach((_, index) => isWhole(index) && out.add(index));
  const news = [...out].sort((a, b) => a - b).filter((index) =>
    !state.stale.has(thinking[index]!.key) && !copies.has(index)
  );
  const sent = thinking.filter((_, index) => !out.has(index));
  return {
    leftOut: new Set([...out].map((index) => thinking[index]!.part)),
    lost: news.map((index) => thinking[index]!.part),
    stale: news.map((index) => thinking[index]!.key),
    changed: firstChange(digests.pieces, state.sent),
    unread: sent.filter(({ key }) => {
      const record = state.records.get(key);
      return record !== undefined && !outline.canRead(record.model) && !state.unread.has(key);
    }).map(({ part, key }) => ({ part, key })),
  };
}

/**
 * Returns the indexes of thinking that the document contains once more elsewhere, as in a copied turn, and that is not
 * at the place where it was made. Copies are left out, and the original stays valid.
 */
function copiesIn(
  { mismatch }: Outline,
  { thinking, prefixes }: Digests,
  { records }: ThinkingState,
): ReadonlySet<number> {
  const isChecked = mismatch === "drop" || mismatch === "error";
  const indexes = new Map<string, number[]>();
  if (isChecked) {
    for (const [index, { key }] of thinking.entries()) indexes.set(key, [...indexes.get(key) ?? [], index]);
  }
  return new Set(
    [...indexes].flatMap(([key, places]) => {
      const prefix = records.get(key)?.prefix;
      const original = places.find((index) => prefixes[thinking[index]!.piece] === prefix) ?? places[0]!;
      return places.filter((index) => index !== original);
    }),
  );
}

/**
 * Returns the index of the first thinking block that is no longer valid and was not left out before; Infinity if all
 * are valid.
 */
function firstStale(
  outline: Outline,
  { thinking, prefixes }: Digests,
  state: ThinkingState,
  copies: ReadonlySet<number>,
): number {
  let before: string | null = null;
  for (const [index, { key, text, piece }] of thinking.entries()) {
    if (state.stale.has(key) || copies.has(index)) continue;
    const record = state.records.get(key);
    if (record !== undefined) {
      if (record.text !== text) return index;
      // The record has no prefix if the model that made the thinking does not check the text before it.
      if (record.prefix !== null && (outline.mismatch === "drop" || outline.mismatch === "error")) {
        if (record.prefix !== prefixes[piece]) return index;
        // The first thinking blocks of the conversation may be missing. Any other gap invalidates the thinking after
        // the gap.
        if (before !== null && record.before !== before) return index;
      }
    }
    before = key;
  }
  return Infinity;
}

function firstChange(pieces: readonly string[], sent: readonly string[]): number | null {
  const at = pieces.findIndex((piece, index) => index < sent.length && piece !== sent[index]);
  return at < 0 ? null : at;
}

/** Returns the entry that records the pieces of a request, relative to the entry before; null if nothing changed. */
export function sentEntry(pieces: readonly string[], sent: readonly string[]): ThinkingEntry | null {
  const same = pieces.findIndex((piece, index) => piece !== sent[index]);
  const from = same < 0 ? pieces.length : same;
  return from === pieces.length && sent.length === pieces.length
    ? null
    : { kind: "sent", from, pieces: pieces.slice(from) };
}

/** Returns a rough token count of pieces, precise enough to say how much is lost. */
export function estimatePieceTokens(pieces: readonly PrefixPiece[]): number {
  return Math.round(pieces.reduce((sum, { text }) => sum + text.length, 0) / 4);
}
