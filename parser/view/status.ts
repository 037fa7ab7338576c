// The status of a tool result, in its three spellings, and the extra tokens of its header (chat-format 7.2).

import type { Meta, MetaValue, Status, StatusStyle } from "../types.ts";

/** A `key=value` or bare token of a header suffix or of a status fence. */
interface Token {
  readonly key: string | null;
  readonly value: MetaValue;
}

const WORDS: ReadonlyMap<string, Status> = new Map([
  ["pending", "pending"],
  ["approved", "approved"],
  ["rejected", "rejected"],
  ["reject", "rejected"],
  ["denied", "denied"],
  ["deny", "denied"],
  ["aborted", "aborted"],
  ["error", "error"],
]);

/** What header and opening fence say about a result. */
export interface StatusReading {
  readonly status: Status | null;
  readonly style: StatusStyle | null;
  readonly meta: Meta | null;
}

/**
 * Reads a result's status (tool-cycle 1.1).
 *
 * @param suffix the inside of the parentheses of the header, if there are any
 * @param language the language directly behind the backticks of the opening fence
 * @param info what stands behind the language
 */
export function readStatus(suffix: string | null, language: string, info: string): StatusReading {
  const header = suffix === null ? { status: null, meta: null } : readSuffix(suffix);
  if (header.status !== null) return { ...header, style: "header" };
  if (language === "flemma:tool") return { ...header, status: fenceStatus(info), style: "fence" };
  if (language === "flemma:pending") return { ...header, status: "pending", style: "pending-fence" };
  return { ...header, style: null };
}

/** True for the states in which work is still to be done. */
export function isLifecycle(status: Status | null): boolean {
  return status !== null && status !== "error";
}

function readSuffix(suffix: string): { status: Status | null; meta: Meta | null } {
  const all = splitTokens(suffix).map(readToken);
  // A key given twice counts with its last value, as in a Lua table.
  const lastOf = new Map(all.map((token, index) => [token.key, index]));
  const tokens = all.filter((token, index) => token.key === null || lastOf.get(token.key) === index);
  let chosen = tokens.findIndex((token) => token.key === "status" && word(token.value) !== null);
  if (chosen < 0) chosen = tokens.findIndex((token) => token.key === null && word(token.value) !== null);
  const status = word(tokens[chosen]?.value);
  return { status, meta: collectMeta(tokens.filter((_, index) => index !== chosen)) };
}

/** Only the key counts in a fence, and a failure is never spelt there. */
function fenceStatus(info: string): Status {
  const tokens = splitTokens(info).map(readToken);
  const status = word(tokens.findLast((token) => token.key === "status")?.value);
  return status === null || status === "error" ? "pending" : status;
}

function word(value: MetaValue | undefined): Status | null {
  return typeof value === "string" ? WORDS.get(value) ?? null : null;
}

/** An array when every token is positional, else an object in which positional ones have their number as key. */
function collectMeta(tokens: readonly Token[]): Meta | null {
  if (tokens.length === 0) return null;
  if (tokens.every((token) => token.key === null)) return tokens.map((token) => token.value);
  const entries: [string, MetaValue][] = [];
  let position = 0;
  for (const token of tokens) entries.push([token.key ?? String(++position), token.value]);
  return Object.fromEntries(entries);
}

/** Splits at ASCII whitespace outside quotes. */
function splitTokens(text: string): string[] {
  const tokens: string[] = [];
  let token = "";
  forEachOutsideQuotes(text, (char, quoted) => {
    if (!quoted && /[ \t-\r]/.test(char)) {
      if (token !== "") tokens.push(token);
      token = "";
    } else {
      token += char;
    }
  });
  if (token !== "") tokens.push(token);
  return tokens;
}

/** Calls back for each piece of text; an escape pair is one piece. Quote marks count as quoted. */
function forEachOutsideQuotes(text: string, visit: (piece: string, quoted: boolean) => void): void {
  let quote = "";
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if (quote === "") {
      if (char === '"' || char === "'") quote = char;
      visit(char, quote !== "");
    } else if (char === "\\" && (text[at + 1] === quote || text[at + 1] === "\\")) {
      visit(char + text[++at], true);
    } else {
      visit(char, true);
      if (char === quote) quote = "";
    }
  }
}

function readToken(text: string): Token {
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

/** The inside of a value that is one quoted string from end to end. */
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

/** Numbers as Lua writes them: decimal with fraction and exponent, or hexadecimal. */
function readNumber(text: string): number | null {
  if (/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text)) return Number(text);
  const hex = /^([+-]?)0[xX]([0-9A-Fa-f]+)$/.exec(text);
  return hex === null ? null : Number(`0x${hex[2]}`) * (hex[1] === "-" ? -1 : 1);
}
