// Reads the status of a tool result, in its three spellings, and the extra tokens of its header.

import {
  readFence,
  readSuffix,
  type StatusToken,
  type StatusWords,
  type UnknownStatus,
} from "../text/status_words.ts";
import type { Meta, MetaValue, Status, StatusStyle } from "../types.ts";

/** What header and opening fence say about a result. */
export interface StatusReading {
  readonly status: Status | null;
  readonly style: StatusStyle | null;
  readonly meta: Meta | null;
  /** A word that was probably meant as a status, but is not the name of one; and whether it is in the header. */
  readonly unknown?: UnknownStatus & { readonly inHeader: boolean };
}

/**
 * Reads a result's status.
 * @param suffix the text inside the parentheses of the header; null without them
 * @param language the language directly after the backticks of the opening fence
 * @param info the text after the language
 */
export function readStatus(suffix: string | null, language: string, info: string): StatusReading {
  const header = suffix === null ? null : readSuffix(suffix);
  const meta = header === null ? null : metaOf(header);
  const unknownParts = unknownOf(header, true);
  if (header !== null && header.found !== null) {
    return { status: header.found.status, style: "header", meta, ...unknownParts };
  }
  if (language === "flemma:tool") {
    const fence = readFence(info);
    return { status: fence.found?.status ?? "pending", style: "fence", meta, ...unknownOf(fence, false) };
  }
  if (language === "flemma:pending") return { status: "pending", style: "pending-fence", meta };
  return { status: null, style: null, meta };
}

function unknownOf(words: StatusWords | null, inHeader: boolean): Pick<StatusReading, "unknown"> {
  return words === null || words.unknown === null ? {} : { unknown: { ...words.unknown, inHeader } };
}

function metaOf({ tokens, found }: StatusWords): Meta | null {
  return collectMeta(tokens.filter((token) => token !== found?.token));
}

/**
 * If no token has a key, returns an array; otherwise an object, in which the key of a token without a key is its
 * number.
 */
function collectMeta(tokens: readonly StatusToken[]): Meta | null {
  if (tokens.length === 0) return null;
  if (tokens.every((token) => token.key === null)) return tokens.map((token) => token.value);
  const entries: [string, MetaValue][] = [];
  let position = 0;
  for (const token of tokens) entries.push([token.key ?? String(++position), token.value]);
  return Object.fromEntries(entries);
}
