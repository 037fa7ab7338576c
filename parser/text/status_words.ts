// Reads the status of a result, with its position, so that edits replace exactly what was read.

import { editDistance, nearest } from "../../base/names.ts";
import type { Lifecycle, MetaValue, Status } from "../types.ts";

/** A `key=value` or bare token of a header suffix or of a status fence. */
export interface StatusToken {
  readonly key: string | null;
  readonly value: MetaValue;
  /** Range in the text, including quotes. */
  readonly from: number;
  readonly to: number;
}

/** A word where a status is expected, but which is not the name of a status. */
export interface UnknownStatus {
  /** The word as written. */
  readonly word: string;
  /** The status that is probably meant. */
  readonly near: Status | null;
}

/** A status and its position in a text. */
export interface FoundStatus {
  readonly status: Status;
  /** The token that states the status; null if no token states it. */
  readonly token: StatusToken | null;
}

/** What a text says about a status. */
export interface StatusWords {
  /** All tokens, except those that a later token with the same key replaces. */
  readonly tokens: readonly StatusToken[];
  readonly found: FoundStatus | null;
  readonly unknown: UnknownStatus | null;
}

/** Every status, with the words that are read as this status in addition to its name. */
const OTHER_WORDS: Readonly<Record<Status, readonly string[]>> = {
  pending: [],
  approved: [],
  rejected: ["reject"],
  denied: ["deny"],
  aborted: [],
  error: [],
};

/**
 * True if a block with this status is a placeholder, because its call is not finished. Null is the status of a
 * successful result.
 */
export function isLifecycle(status: Status | null): status is Lifecycle {
  return status !== null && status !== "error";
}

const STATUSES = Object.keys(OTHER_WORDS) as readonly Status[];

/** Every word that states a status, in lower case. */
export const STATUS_WORDS: ReadonlyMap<string, Status> = new Map([
  ...STATUSES.map((status) => [status, status] as const),
  ...STATUSES.flatMap((status) => OTHER_WORDS[status].map((word) => [word, status] as const)),
]);

/** Maximum edit distance at which a bare word of a header is taken for a mistyped status. */
const NEAR = 2;

/**
 * Reads the text inside the parentheses of a header, and ignores case. The value of `status=` is read as a status, and
 * so is a word without a key that resembles a status. If the value is not a status, the block waits for the user, as a
 * pending block does.
 */
export function readSuffix(suffix: string): StatusWords {
  const tokens = lastOfEachKey(readTokens(suffix));
  const keyed = tokens.find(({ key }) => key === "status");
  const unknown = keyed === undefined || word(keyed.value) !== null ? null : unknownStatus(suffix, keyed);
  const known = [keyed, ...tokens.filter(({ key }) => key === null)]
    .find((token) => token !== undefined && word(token.value) !== null);
  if (known !== undefined) return { tokens, found: foundStatus(known), unknown };
  if (keyed !== undefined) return { tokens, found: { status: "pending", token: keyed }, unknown };
  const near = tokens.find(({ key, value }) => key === null && isNear(value));
  if (near === undefined) return { tokens, found: null, unknown: null };
  return { tokens, found: { status: "pending", token: near }, unknown: unknownStatus(suffix, near) };
}

/**
 * Reads the text after the language of a `flemma:tool` fence. Only the key `status` counts, and `error` is not
 * allowed; any other text means pending.
 */
export function readFence(info: string): StatusWords {
  const tokens = lastOfEachKey(readTokens(info));
  const token = tokens.find(({ key }) => key === "status") ?? null;
  const status = word(token?.value);
  if (isLifecycle(status)) return { tokens, found: { status, token }, unknown: null };
  const unknown = token === null ? null : unknownStatus(info, token);
  return { tokens, found: { status: "pending", token }, unknown };
}

function foundStatus(token: StatusToken): FoundStatus {
  return { status: word(token.value) ?? "pending", token };
}

function word(value: MetaValue | undefined): Status | null {
  return typeof value === "string" ? STATUS_WORDS.get(value.toLowerCase()) ?? null : null;
}

function isNear(value: MetaValue): boolean {
  if (typeof value !== "string" || !/^[a-z]{1,12}$/i.test(value)) return false;
  return STATUSES.some((status) => editDistance(value.toLowerCase(), status) <= NEAR);
}

function unknownStatus(text: string, { key, from, to }: StatusToken): UnknownStatus {
  const written = text.slice(key === null ? from : from + key.length + 1, to);
  const bare = written.replace(/^(["'])(.*)\1$/s, "$2");
  return {
    word: bare,
    near: STATUS_WORDS.get(nearest(bare.toLowerCase().slice(0, 40), STATUS_WORDS.keys(), NEAR) ?? "") ?? null,
  };
}

/** If a key is given twice, the last value counts, as in a Lua table. */
function lastOfEachKey(tokens: readonly StatusToken[]): readonly StatusToken[] {
  const lastOf = new Map(tokens.map((token, index) => [token.key, index]));
  return tokens.filter((token, index) => token.key === null || lastOf.get(token.key) === index);
}

/** Returns the tokens of a text, split at ASCII whitespace outside quotes. */
export function readTokens(text: string): StatusToken[] {
  const tokens: StatusToken[] = [];
  let from = -1;
  const end = (to: number) => {
    if (from >= 0) tokens.push({ ...readToken(text.slice(from, to)), from, to });
    from = -1;
  };
  forEachOutsideQuotes(text, (piece, quoted, at) => {
    if (!quoted && /[ \t-\r]/.test(piece)) end(at);
    else if (from < 0) from = at;
  });
  end(text.length);
  return tokens;
}

/**
 * Calls `visit` for each character of a text; an escape pair is visited as one piece. Quote marks are reported as
 * quoted.
 */
function forEachOutsideQuotes(
  text: string,
  visit: (piece: string, quoted: boolean, at: number) => void,
): void {
  let quote = "";
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if (quote === "") {
      if (char === '"' || char === "'") quote = char;
      visit(char, quote !== "", at);
    } else if (char === "\\" && (text[at + 1] === quote || text[at + 1] === "\\")) {
      visit(char + text[at + 1], true, at);
      at++;
    } else {
      visit(char, true, at);
      if (char === quote) quote = "";
    }
  }
}

function readToken(text: string): Pick<StatusToken, "key" | "value"> {
  const keyed = /^([A-Za-z0-9_]+)=(.*)$/s.exec(text);
  return keyed === null
    ? { key: null, value: readValue(text) }
    : { key: keyed[1]!, value: readValue(keyed[2]!) };
}

function readValue(text: string): MetaValue {
  const unquoted = readQuoted(text);
  if (unquoted !== null) return unquoted;
  const items: string[] = [""];
  forEachOutsideQuotes(text, (piece, quoted) => {
    if (piece === "," && !quoted) items.push("");
    else items[items.length - 1] += piece;
  });
  return items.length > 1 ? items.map((item) => readQuoted(item) ?? readScalar(item)) : readScalar(text);
}

/** Returns the content of a value that is one quoted string from end to end. */
function readQuoted(text: string): string | null {
  const quote = text[0];
  if (text.length < 2 || (quote !== '"' && quote !== "'")) return null;
  let inside = "";
  for (let at = 1; at < text.length; at++) {
    const char = text[at]!;
    if (char === quote) return at === text.length - 1 ? inside : null;
    const next = text[at + 1];
    if (char === "\\" && (next === quote || next === "\\")) {
      inside += next;
      at++;
    } else {
      inside += char;
    }
  }
  return null;
}

function readScalar(text: string): MetaValue {
  if (text === "" || text === "nil" || text === "null") return null;
  if (text === "true") return true;
  if (text === "false") return false;
  return readNumber(text) ?? text;
}

/** Reads a number as in Lua: decimal with fraction and exponent, or hexadecimal. */
function readNumber(text: string): number | null {
  if (/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text)) return Number(text);
  const hex = /^([+-]?)0[xX]([0-9A-Fa-f]+)$/.exec(text);
  return hex === null ? null : Number(`0x${hex[2]}`) * (hex[1] === "-" ? -1 : 1);
}
