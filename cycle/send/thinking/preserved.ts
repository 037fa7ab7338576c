// Which thinking of earlier replies still counts, by digests, before anything is sent.
//
// Signed thinking belongs to what stood before it when it was made: tools, system prompt, every message. When that has
// changed, the provider refuses the request or drops the thinking and all that comes after it. So what no longer counts
// is left out from the first such block on, the whole of an open loop of calls with it, and stays out for good: putting
// it back would spoil the thinking that was made without it. What nothing is known of goes out, and the provider decides.

import { quickHash } from "../../../base/hash.ts";
import type { Outline, PrefixPiece, ThinkingPart } from "../../../providers/types.ts";
import type { ThinkingEntry, ThinkingState } from "../../types.ts";

/** An outline in digests. */
export interface Digests {
  /** Of each piece. */
  readonly pieces: readonly string[];
  /** Of all pieces before each, and of all at the end. */
  readonly prefixes: readonly string[];
  readonly thinking: readonly {
    readonly part: ThinkingPart;
    /** The piece that it is in. */
    readonly piece: number;
    readonly key: string;
    readonly text: string;
  }[];
}

/** What is left out of a request, and why. */
export interface ThinkingEvaluation {
  readonly leftOut: ReadonlySet<ThinkingPart>;
  /** What was left out by this judgement and not before, in order. */
  readonly lost: readonly ThinkingPart[];
  /** Keys that are left out from now on. */
  readonly stale: readonly string[];
  /** The first piece that is not what it was in the last request; null when none is, or nothing is known. */
  readonly changed: number | null;
  /** Thinking that is sent although the model cannot read it, and that was not reported yet. */
  readonly unread: readonly { readonly part: ThinkingPart; readonly key: string }[];
}

/** The key of a block of thinking: a digest of its signature, which is unique. */
export function keyOf(part: Pick<ThinkingPart, "content" | "signature" | "redacted">): string {
  return quickHash(part.redacted ? `redacted ${part.content}` : part.signature?.value ?? "");
}

/** The digest of a block's text, which its signature vouches for. */
export function textOf(part: Pick<ThinkingPart, "content">): string {
  return quickHash(part.content);
}

/** Reads an outline into digests. */
export function digestsOf(outline: Outline): Digests {
  const pieces: string[] = [];
  const prefixes = [quickHash("")];
  for (const { text } of outline.pieces) {
    const piece = quickHash(text);
    const before = prefixes.at(-1)!;
    pieces.push(piece);
    // What is sent for its thinking only is no part of what later thinking belongs to.
    prefixes.push(text === "" ? before : quickHash(before + piece));
  }
  const thinking = outline.pieces.flatMap((piece, index) =>
    piece.thinking.map((part) => ({ part, piece: index, key: keyOf(part), text: textOf(part) }))
  );
  return { pieces, prefixes, thinking };
}

/** Decides what is sent of the thinking in a document. */
export function evaluateThinking(
  outline: Outline,
  digests: Digests,
  state: ThinkingState,
): ThinkingEvaluation {
  const { thinking } = digests;
  const out = new Set<number>();
  const first = firstStale(outline, digests, state);
  thinking.forEach(({ key }, index) => {
    if (state.stale.has(key) || index >= first) out.add(index);
  });
  const isWhole = (index: number) => thinking[index]!.piece >= outline.whole;
  if ([...out].some(isWhole)) thinking.forEach((_, index) => isWhole(index) && out.add(index));
  const news = [...out].sort((a, b) => a - b).filter((index) => !state.stale.has(thinking[index]!.key));
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

/** The first block that does not fit any more and was not left out before; Infinity when all do. */
function firstStale(outline: Outline, { thinking, prefixes }: Digests, state: ThinkingState): number {
  let before: string | null = null;
  for (const [index, { key, text, piece }] of thinking.entries()) {
    if (state.stale.has(key)) continue;
    const record = state.records.get(key);
    if (record !== undefined) {
      if (record.text !== text) return index;
      // Without a prefix: made by a model that does not look at it.
      if (record.prefix !== null && (outline.mismatch === "drop" || outline.mismatch === "error")) {
        if (record.prefix !== prefixes[piece]) return index;
        // Thinking may be missing from the start of the run; any other gap spoils what comes after it.
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

/** What to remember of the pieces of a request, given those of the one before; null when nothing is new. */
export function sentEntry(pieces: readonly string[], sent: readonly string[]): ThinkingEntry | null {
  const same = pieces.findIndex((piece, index) => piece !== sent[index]);
  const from = same < 0 ? pieces.length : same;
  return from === pieces.length && sent.length === pieces.length
    ? null
    : { kind: "sent", from, pieces: pieces.slice(from) };
}

/** A rough count of a piece's tokens, enough to say how much is lost. */
export function roughTokens(pieces: readonly PrefixPiece[]): number {
  return Math.round(pieces.reduce((sum, { text }) => sum + text.length, 0) / 4);
}
