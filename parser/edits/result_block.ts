// Tool result blocks as text: how they are written, and the smallest edits that change one.

import { isSha256 } from "../../base/hash.ts";
import { attachmentsToken } from "../text/attachments.ts";
import { questionsBody } from "../text/questions.ts";
import { readSuffix, readTokens } from "../text/status_words.ts";
import { isLifecycle } from "../text/status_words.ts";
import type { Edit } from "./edit.ts";
import type { Chat, Lifecycle, Result, Status, StatusStyle } from "../types.ts";

/** The status spellings this program writes; `pending-fence` is only read. */
export type WrittenStyle = Exclude<StatusStyle, "pending-fence">;

/** The content of a finished block. */
export interface FinalBlock {
  /** Content of the block, which is written unchanged. */
  readonly content: string;
  /** True to write `error` into the header. */
  readonly error: boolean;
  /** Word after the opening fence: `json` for data, else empty. */
  readonly language: "" | "json";
  /** Names of attached files for the header. Names that are not a SHA-256 are omitted. @default none */
  readonly attachments?: readonly string[];
  /** Id of the background job that the call started, for the header. @default none */
  readonly job?: string;
}

const HEADER = /^(\*\*Tool Result:\*\*\s*`[^`]+`)(.*)$/s;
const SUFFIX = /^(\s*\()(.*)(\)\s*)$/s;
const OPENER = /^(`+)(.*?)(\r?)$/s;
const STATUS_FENCE = /^flemma:(?:tool|pending)(?![A-Za-z0-9_:.%-])/;

const encoder = new TextEncoder();

/** Returns a run of backticks that no run inside `content` can close: at least three, one more than the longest run. */
export function fenceFor(content: string): string {
  return fenceForParts([content]);
}

/** Does the same as `fenceFor` for content that is given in parts. */
export function fenceForParts(parts: Iterable<string>): string {
  let longest = 2;
  /** Number of backticks at the end of the parts so far. */
  let open = 0;
  for (const part of parts) {
    for (const { 0: { length }, index } of part.matchAll(/`+/g)) {
      longest = Math.max(longest, index === 0 ? open + length : length);
    }
    let from = part.length;
    while (from > 0 && part[from - 1] === "`") from--;
    open = from === 0 ? open + part.length : part.length - from;
  }
  return "`".repeat(longest + 1);
}

export function finalLines(id: string, block: FinalBlock): string[] {
  const fence = fenceFor(block.content);
  const { error } = block;
  // A name may be invented, and a name that is not a SHA-256 could be read as another header token.
  const attachments = (block.attachments ?? []).filter(isSha256);
  const words = [
    ...(error ? ["error"] : []),
    ...(block.job === undefined ? [] : [`job=${block.job}`]),
    ...(attachments.length === 0 ? [] : [attachmentsToken(attachments)]),
  ];
  const header = `**Tool Result:** \`${id}\`${words.length === 0 ? "" : ` (${words.join(" ")})`}`;
  return [header, "", fence + block.language, ...block.content.split("\n"), fence];
}

export function placeholderLines(id: string, status: Lifecycle, style: WrittenStyle): string[] {
  const header = `**Tool Result:** \`${id}\``;
  return style === "header"
    ? [`${header} (${status})`, "", "```", "```"]
    : [header, "", "```flemma:tool status=" + status, "```"];
}

/**
 * Returns the spelling for new placeholders. With the setting `auto`, this is the spelling of the last placeholder in
 * the document, or `fence` if there is none; otherwise it is the setting.
 */
export function placeholderStyle(chat: Chat, setting: WrittenStyle | "auto"): WrittenStyle {
  if (setting !== "auto") return setting;
  const last = chat.results.findLast((result) => isPlaceholder(result));
  return last?.style === "header" ? "header" : "fence";
}

/**
 * True if a result is not final: its block is a placeholder.
 * @param result a result of a document
 * @returns false for a final result, also for an error
 */
export function isPlaceholder(result: Result): result is Result & { readonly status: Lifecycle } {
  return isLifecycle(result.status);
}

/** Replaces a block, from header through closing fence, with a finished one; drops extra header tokens. */
export function replaceBlock(chat: Chat, result: Result, block: FinalBlock): Edit {
  return replaceLines(chat, result, finalLines(result.id, block));
}

/**
 * Removes the status and the header tokens from a block, so that the body of the block becomes the result. The fence
 * keeps its length.
 */
export function stripStatus(chat: Chat, result: Result): Edit[] {
  const edits: Edit[] = [];
  const header = chat.lineText(result.header.start);
  const [, name = "", rest = ""] = HEADER.exec(header) ?? [];
  if (SUFFIX.test(rest)) {
    edits.push(lineEdit(chat, result.header.start, header, name + (rest.endsWith("\r") ? "\r" : "")));
  }
  const opener = chat.lineText(result.opener.start);
  const [, ticks = "", info = "", end = ""] = OPENER.exec(opener) ?? [];
  if (STATUS_FENCE.test(info)) edits.push(lineEdit(chat, result.opener.start, opener, ticks + end));
  return edits;
}

/**
 * Changes the status word of a placeholder in its existing spelling, keeping body and other tokens. The old
 * `flemma:pending` spelling has one status only, so such a block gets `style`.
 * @param chat the document
 * @param result the placeholder, one of the document's
 * @param status the new word
 * @param style the spelling for a block with the old one
 * @returns the edits; none if the block has that status already
 */
export function setStatus(chat: Chat, result: Result, status: Lifecycle, style: WrittenStyle): Edit[] {
  const lines = statusLines(chat, result, status, style);
  const edits: Edit[] = [];
  const header = chat.lineText(result.header.start);
  if (lines.header !== header) edits.push(lineEdit(chat, result.header.start, header, lines.header));
  const opener = chat.lineText(result.opener.start);
  if (lines.opener !== opener) edits.push(lineEdit(chat, result.opener.start, opener, lines.opener));
  return edits;
}

/** Returns the short name of the helper in whose document the call of a block waits; null if there is none. */
export function helperOf({ meta }: Pick<Result, "meta">): string | null {
  const name = Array.isArray(meta) || meta === null
    ? null
    : (meta as Readonly<Record<string, unknown>>).helper;
  return name === undefined || name === null ? null : String(name);
}

/** Sets a placeholder to pending, and names the helper in whose document its call waits. */
export function setWaiting(chat: Chat, result: Result, helper: string, style: WrittenStyle): Edit[] {
  const lines = statusLines(chat, result, "pending", style);
  const [, name = lines.header, rest = ""] = HEADER.exec(lines.header) ?? [];
  const [, before = " (", inside = "", after = rest.endsWith("\r") ? ")\r" : ")"] = SUFFIX.exec(rest) ?? [];
  const others = readTokens(inside).filter(({ key }) => key !== "helper")
    .map(({ from, to }) => inside.slice(from, to));
  const plain = readTokens(`helper=${helper}`)[0]?.value === helper;
  const token = plain ? `helper=${helper}` : `helper="${helper}"`;
  const header = `${name}${before}${[...others, token].join(" ")}${after}`;
  const edits: Edit[] = [];
  const was = { header: chat.lineText(result.header.start), opener: chat.lineText(result.opener.start) };
  if (header !== was.header) edits.push(lineEdit(chat, result.header.start, was.header, header));
  if (lines.opener !== was.opener) edits.push(lineEdit(chat, result.opener.start, was.opener, lines.opener));
  return edits;
}

/** Writes `error` into the header of a final result, and keeps everything else. */
export function markError(chat: Chat, result: Result): Edit[] {
  if (result.status !== null) return [];
  const header = chat.lineText(result.header.start);
  return [lineEdit(chat, result.header.start, header, headerWithStatus(header, "error"))];
}

/** Marks a placeholder as rejected with a message, which replaces the body. */
export function rejectWith(chat: Chat, result: Result, message: string, style: WrittenStyle): Edit {
  return fillWith(chat, result, { status: "rejected", body: message }, style);
}

/** Sets a placeholder to a status, with questions of a server as its body. */
export function setQuestions(
  chat: Chat,
  result: Result,
  questions: string,
  status: "pending" | "approved",
  style: WrittenStyle,
): Edit {
  return fillWith(chat, result, { status, body: questionsBody(questions) }, style);
}

function fillWith(
  chat: Chat,
  result: Result,
  { status, body }: { readonly status: Lifecycle; readonly body: string },
  style: WrittenStyle,
): Edit {
  const { header, opener } = statusLines(chat, result, status, style);
  const fence = fenceFor(body);
  const info = OPENER.exec(opener)?.[2] ?? "";
  return replaceLines(chat, result, [header, "", fence + info, ...body.split("\n"), fence]);
}

/** Returns the header and opening fence of a block with another status. */
function statusLines(
  chat: Chat,
  result: Result,
  status: Lifecycle,
  style: WrittenStyle,
): { header: string; opener: string } {
  const header = chat.lineText(result.header.start);
  const opener = chat.lineText(result.opener.start);
  const written = result.style === "fence" || result.style === "header" ? result.style : style;
  const [, ticks = "", info = "", end = ""] = OPENER.exec(opener) ?? [];
  if (written === "fence") return { header, opener: ticks + infoWithStatus(info, status) + end };
  return {
    header: headerWithStatus(header, status),
    opener: result.style === "pending-fence" ? ticks + end : opener,
  };
}

function infoWithStatus(info: string, status: Lifecycle): string {
  const others = readTokens(info).slice(1).filter(({ key }) => key !== "status");
  return ["flemma:tool", `status=${status}`, ...others.map(({ from, to }) => info.slice(from, to))].join(" ");
}

/** Replaces the status word of a header, or inserts one as the first token. */
function headerWithStatus(header: string, status: Status): string {
  const [, name = header, rest = ""] = HEADER.exec(header) ?? [];
  const [, before = " (", inside = "", after = rest.endsWith("\r") ? ")\r" : ")"] = SUFFIX.exec(rest) ?? [];
  const token = readSuffix(inside).found?.token ?? null;
  if (token === null) return `${name}${before}${inside === "" ? status : `${status} ${inside}`}${after}`;
  const word = token.key === null ? status : `status=${status}`;
  return `${name}${before}${inside.slice(0, token.from)}${word}${inside.slice(token.to)}${after}`;
}

function replaceLines(chat: Chat, result: Result, lines: readonly string[]): Edit {
  return {
    from: chat.lineStart(result.place.start),
    to: chat.lineEnd(result.place.end),
    insert: lines.join(chat.eol),
  };
}

/** Replaces only what differs between two versions of one line. */
function lineEdit(chat: Chat, line: number, before: string, after: string): Edit {
  let head = 0;
  const shorter = Math.min(before.length, after.length);
  while (head < shorter && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < shorter - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  const start = chat.lineStart(line);
  return {
    from: start + encoder.encode(before.slice(0, head)).length,
    to: start + encoder.encode(before.slice(0, before.length - tail)).length,
    insert: after.slice(head, after.length - tail),
  };
}
