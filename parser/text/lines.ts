// Byte-level classifiers of one line: the only place that decides what begins or ends structure.
//
// Every function takes `(bytes, from, to)`: `from` is the first byte of a line, `to` the end of its text without the
// line end. The caller knows the line end (LF, or CR LF in a document in which every line ends so); a remaining CR
// counts as ASCII whitespace. All patterns start in column 1.

/** A half-open range of byte offsets. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * First bytes of lines that may begin or end structure. The scanner looks for nothing else, so a classifier for another
 * kind of line needs its first byte here.
 */
export const STARTERS = "`@*<";

const TICK = 0x60;
const COLON = 0x3a;
const AT = 0x40;
const QUOTE = 0x22;
const OPEN_PAREN = 0x28;
const CLOSE_PAREN = 0x29;

/** True for ASCII whitespace: space, tab, LF, VT, FF, CR. Unicode spaces do not count. */
export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || (byte !== undefined && byte >= 0x09 && byte <= 0x0d);
}

/** True for ASCII letters and digits. The underscore is not a word character. */
function isWord(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);
}

function literal(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

const TOOL_USE = literal("**Tool Use:**");
const TOOL_RESULT = literal("**Tool Result:**");
const JOB_RESULT = literal("**Job Result:**");
const THINKING = literal("<thinking");
const THINKING_CLOSE = literal("</thinking>");
const REDACTED = literal("redacted>");
const SIGNATURE = literal(':signature="');
const SERVER_TOOL = literal("<server_tool");
const SERVER_TOOL_CLOSE = literal("</server_tool>");
const BLOCKS = literal(':blocks="');
const CITATIONS = literal(':citations="');
const COMMENT_OPEN = literal("<!--");
const COMMENT_CLOSE = literal("-->");
const ABORTED = literal("flemma:aborted:");
/** The roles of messages, as markers spell them. */
export const ROLE_NAMES: readonly string[] = ["System", "You", "Assistant"];
const ROLES = ROLE_NAMES.map(literal);

function startsWith(bytes: Uint8Array, from: number, to: number, word: Uint8Array): boolean {
  if (to - from < word.length) return false;
  for (let index = 0; index < word.length; index++) {
    if (bytes[from + index] !== word[index]) return false;
  }
  return true;
}

function skipSpace(bytes: Uint8Array, from: number, to: number): number {
  while (from < to && isSpace(bytes[from])) from++;
  return from;
}

function skipSpaceBack(bytes: Uint8Array, from: number, to: number): number {
  while (to > from && isSpace(bytes[to - 1])) to--;
  return to;
}

function skipWord(bytes: Uint8Array, from: number, to: number): number {
  while (from < to && isWord(bytes[from])) from++;
  return from;
}

function skipTicks(bytes: Uint8Array, from: number, to: number): number {
  while (from < to && bytes[from] === TICK) from++;
  return from;
}

function indexOf(bytes: Uint8Array, byte: number, from: number, to: number): number {
  // Lines are short, so a loop finishes before the built-in search would have started.
  for (let at = from; at < to; at++) if (bytes[at] === byte) return at;
  return -1;
}

/** True if the range has only whitespace, or is empty. */
export function isBlankRange(bytes: Uint8Array, from: number, to: number): boolean {
  return skipSpace(bytes, from, to) === to;
}

/** Reads a role marker line such as `@You:`; returns the span of the role word. */
export function markerRole(bytes: Uint8Array, from: number, to: number): Span | null {
  if (from >= to || bytes[from] !== AT) return null;
  const end = skipWord(bytes, from + 1, to);
  if (end === from + 1 || end >= to || bytes[end] !== COLON) return null;
  return isBlankRange(bytes, end + 1, to) ? { from: from + 1, to: end } : null;
}

/** Reads a marker with text on its line, `@You: hello`, for the three known roles. */
export function legacyMarker(
  bytes: Uint8Array,
  from: number,
  to: number,
): { readonly role: Span; readonly text: Span } | null {
  if (from >= to || bytes[from] !== AT) return null;
  for (const role of ROLES) {
    const end = from + 1 + role.length;
    if (!startsWith(bytes, from + 1, to, role) || end >= to || bytes[end] !== COLON) continue;
    if (isBlankRange(bytes, end + 1, to)) return null;
    return { role: { from: from + 1, to: end }, text: { from: end + 1, to } };
  }
  return null;
}

/** Returns the number of backticks (3 or more) of a line that opens a fence which hides markers; else 0. */
export function fenceOpen(bytes: Uint8Array, from: number, to: number): number {
  const end = skipTicks(bytes, from, to);
  if (end - from < 3 || indexOf(bytes, TICK, end, to) >= 0) return 0;
  return end - from;
}

/** Returns the number of backticks of a line that has nothing but whitespace after them; else 0. */
export function bareTicks(bytes: Uint8Array, from: number, to: number): number {
  const end = skipTicks(bytes, from, to);
  return end > from && isBlankRange(bytes, end, to) ? end - from : 0;
}

/** True if a line closes a fence of `ticks` backticks under the fence rule. */
export function fenceClose(bytes: Uint8Array, from: number, to: number, ticks: number): boolean {
  return bareTicks(bytes, from, to) >= ticks;
}

/** The fence of a tool block: one or more backticks, a language, and any text. */
export interface BlockOpen {
  readonly ticks: number;
  /** Word characters, colon, dot, underscore, percent, minus. The span may be empty. */
  readonly language: Span;
  /** The text after the language. */
  readonly info: Span;
}

/** Reads the opening line of a tool block's body. */
export function blockOpen(bytes: Uint8Array, from: number, to: number): BlockOpen | null {
  const end = skipTicks(bytes, from, to);
  if (end === from) return null;
  let language = end;
  while (language < to && isLanguage(bytes[language])) language++;
  return { ticks: end - from, language: { from: end, to: language }, info: { from: language, to } };
}

function isLanguage(byte: number | undefined): boolean {
  return isWord(byte) || byte === COLON || byte === 0x2e || byte === 0x5f || byte === 0x25 || byte === 0x2d;
}

/** The spans of a Tool Use header. */
export interface ToolUseHeader {
  readonly name: Span;
  readonly id: Span;
}

/** Reads a Tool Use header: name in backticks, id in backticks inside parentheses; further text is ignored. */
export function toolUseHeader(bytes: Uint8Array, from: number, to: number): ToolUseHeader | null {
  if (!startsWith(bytes, from, to, TOOL_USE)) return null;
  const name = ticked(bytes, skipSpace(bytes, from + TOOL_USE.length, to), to);
  if (name === null) return null;
  const paren = skipSpace(bytes, name.to + 1, to);
  if (paren >= to || bytes[paren] !== OPEN_PAREN) return null;
  const id = ticked(bytes, paren + 1, to);
  if (id === null || id.to + 1 >= to || bytes[id.to + 1] !== CLOSE_PAREN) return null;
  const early = indexOf(bytes, CLOSE_PAREN, id.from, id.to);
  return early < 0 ? { name, id } : null;
}

/** The spans of a Tool Result header. */
export interface ToolResultHeader {
  readonly id: Span;
  /**
   * The text inside the parentheses, up to the last parenthesis; null unless the parentheses are the whole rest of the
   * line.
   */
  readonly suffix: Span | null;
}

/** Reads a Tool Result header with its id and optional suffix. */
export function toolResultHeader(bytes: Uint8Array, from: number, to: number): ToolResultHeader | null {
  if (!startsWith(bytes, from, to, TOOL_RESULT)) return null;
  const id = ticked(bytes, skipSpace(bytes, from + TOOL_RESULT.length, to), to);
  if (id === null) return null;
  const open = skipSpace(bytes, id.to + 1, to);
  const close = skipSpaceBack(bytes, open, to) - 1;
  const whole = open < close && bytes[open] === OPEN_PAREN && bytes[close] === CLOSE_PAREN;
  return { id, suffix: whole ? { from: open + 1, to: close } : null };
}

/** A header of a background job's result: the span of its id; the rest of the line is ignored. */
export function jobResultHeader(bytes: Uint8Array, from: number, to: number): Span | null {
  if (!startsWith(bytes, from, to, JOB_RESULT)) return null;
  return ticked(bytes, skipSpace(bytes, from + JOB_RESULT.length, to), to);
}

/** Returns the non-empty text in single backticks that begins at `from`. */
function ticked(bytes: Uint8Array, from: number, to: number): Span | null {
  if (from >= to || bytes[from] !== TICK) return null;
  const end = indexOf(bytes, TICK, from + 1, to);
  return end > from + 1 ? { from: from + 1, to: end } : null;
}

/** The contents of an opening thinking tag. */
export interface ThinkingTag {
  /** True for `<thinking …/>`, which is a whole block on one line. */
  readonly selfClosed: boolean;
  readonly redacted: boolean;
  readonly signature: { readonly provider: Span; readonly value: Span } | null;
}

/** Reads an opening or self-closed thinking tag that is the whole line. */
export function thinkingTag(bytes: Uint8Array, from: number, to: number): ThinkingTag | null {
  if (!startsWith(bytes, from, to, THINKING)) return null;
  const afterName = from + THINKING.length;
  if (isTagEnd(bytes, afterName, to)) return { selfClosed: false, redacted: false, signature: null };
  const attribute = skipSpace(bytes, afterName, to);
  if (attribute === afterName) return null;
  if (startsWith(bytes, attribute, to, REDACTED)) {
    const whole = attribute + REDACTED.length === to;
    return whole ? { selfClosed: false, redacted: true, signature: null } : null;
  }
  const providerEnd = skipWord(bytes, attribute, to);
  if (providerEnd === attribute || !startsWith(bytes, providerEnd, to, SIGNATURE)) return null;
  const value = providerEnd + SIGNATURE.length;
  const quote = indexOf(bytes, QUOTE, value, to);
  if (quote < 0) return null;
  const end = skipSpace(bytes, quote + 1, to);
  const selfClosed = end < to && bytes[end] === 0x2f;
  if (!isTagEnd(bytes, selfClosed ? end + 1 : end, to)) return null;
  const signature = { provider: { from: attribute, to: providerEnd }, value: { from: value, to: quote } };
  return { selfClosed, redacted: false, signature };
}

function isTagEnd(bytes: Uint8Array, at: number, to: number): boolean {
  return at + 1 === to && bytes[at] === 0x3e;
}

/** True for exactly the line `</thinking>`. */
export function thinkingClose(bytes: Uint8Array, from: number, to: number): boolean {
  return to - from === THINKING_CLOSE.length && startsWith(bytes, from, to, THINKING_CLOSE);
}

/** The contents of an opening tag of a tool that the provider ran. */
export interface ServerToolTag {
  readonly what: "blocks" | "citations";
  readonly provider: Span;
  readonly value: Span;
}

/** Reads an opening tag of a tool that the provider ran, such as `<server_tool anthropic:blocks="…">`. */
export function serverToolTag(bytes: Uint8Array, from: number, to: number): ServerToolTag | null {
  if (!startsWith(bytes, from, to, SERVER_TOOL)) return null;
  const afterName = from + SERVER_TOOL.length;
  const provider = skipSpace(bytes, afterName, to);
  const providerEnd = skipWord(bytes, provider, to);
  if (provider === afterName || providerEnd === provider) return null;
  const isBlocks = startsWith(bytes, providerEnd, to, BLOCKS);
  if (!isBlocks && !startsWith(bytes, providerEnd, to, CITATIONS)) return null;
  const value = providerEnd + (isBlocks ? BLOCKS : CITATIONS).length;
  const quote = indexOf(bytes, QUOTE, value, to);
  if (quote < 0 || !isTagEnd(bytes, skipSpace(bytes, quote + 1, to), to)) return null;
  return {
    what: isBlocks ? "blocks" : "citations",
    provider: { from: provider, to: providerEnd },
    value: { from: value, to: quote },
  };
}

/** True for exactly the line `</server_tool>`. */
export function serverToolClose(bytes: Uint8Array, from: number, to: number): boolean {
  return to - from === SERVER_TOOL_CLOSE.length && startsWith(bytes, from, to, SERVER_TOOL_CLOSE);
}

/** Reads an abort marker that is the whole line; returns the span of its trimmed message. */
export function abortMarker(bytes: Uint8Array, from: number, to: number): Span | null {
  if (!startsWith(bytes, from, to, COMMENT_OPEN)) return null;
  const word = skipSpace(bytes, from + COMMENT_OPEN.length, to);
  if (!startsWith(bytes, word, to, ABORTED)) return null;
  const text = word + ABORTED.length;
  const end = to - COMMENT_CLOSE.length;
  if (end < text || !startsWith(bytes, end, to, COMMENT_CLOSE)) return null;
  const start = skipSpace(bytes, text, end);
  return { from: start, to: skipSpaceBack(bytes, start, end) };
}

/** Reads the first line of a frontmatter block: three backticks and a language word; returns the word. */
export function frontmatterOpen(bytes: Uint8Array, from: number, to: number): Span | null {
  if (skipTicks(bytes, from, to) !== from + 3) return null;
  const end = skipWord(bytes, from + 3, to);
  return end > from + 3 && isBlankRange(bytes, end, to) ? { from: from + 3, to: end } : null;
}

/** True for the last line of a frontmatter block: exactly three backticks and whitespace. */
export function frontmatterClose(bytes: Uint8Array, from: number, to: number): boolean {
  return bareTicks(bytes, from, to) === 3;
}
