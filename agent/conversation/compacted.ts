// Shortens a long conversation: a new document with a summary of its beginning, or the same document with shorter
// results. Pure.

import { concat } from "../../base/bytes.ts";
import { visible } from "../../base/visible.ts";
import { applyEdits, type Edit } from "../../parser/edits/edit.ts";
import { replaceBlock } from "../../parser/edits/result_block.ts";
import { openTurn } from "../../parser/edits/turn.ts";
import { parse } from "../../parser/mod.ts";
import { isLifecycle } from "../../parser/text/status_words.ts";
import type { Chat, Result, Turn } from "../../parser/types.ts";
import type { Cut } from "./cut.ts";
import { literalTags } from "./question.ts";
import { quoteLine, quoteText } from "./quoted.ts";

const REQUEST =
  "Stop here and summarize this conversation for someone who will continue it without having read it. Include: " +
  "what the user wants, in their own words where those matter; what was decided and why; the state of every file " +
  "that was read or changed, by path; what failed and why; what is open, and what comes next. Keep names, paths, " +
  "commands, numbers and error messages exact. Do not call tools. Reply with the summary only.";

/**
 * Returns the conversation up to the cut, with a message that asks for a summary. The request of this conversation
 * begins with the same text as the last request, which the provider has cached.
 *
 * @param instructions additional instructions of the user for the summary; empty for none
 */
export function appendSummaryRequest(chat: Chat, cut: Cut, instructions: string): Uint8Array {
  const before = parse(chat.bytes.slice(0, cut.kept));
  const more = instructions.trim() === "" ? "" : `\n\n${literalTags(instructions.trim())}`;
  return bytesOf(before.bytes, inLinesOf(chat, `${openTurn(before, "You")}${REQUEST}${more}\n`));
}

/**
 * Returns the new document: the head of the old one, the summary, and the kept turns byte for byte. Thinking in the
 * kept turns is dropped, because it was made for the earlier text, which is gone.
 *
 * @param name the name of the old document
 */
export function compactChat(chat: Chat, cut: Cut, summary: string, name: string): Uint8Array {
  return applyEdits(chat.bytes, compactEdits(chat, cut, summary, name));
}

/**
 * Returns the edits that make the new document from the old one.
 *
 * @param name the name of the document with the summarized messages
 * @param below further text of the message with the summary, in complete lines
 */
export function compactEdits(
  chat: Chat,
  cut: Cut,
  summary: string,
  name: string,
  below = "",
): readonly Edit[] {
  const head = chat.slice(0, cut.head);
  const { summed, asked } = cut;
  const begins = head.length === 0 ? "" : ending(head);
  const summaryText = `${begins}@You:\n${quoteLine(sourceLine(visible(name), summed))}\n\n${
    quoteText(summary.trim(), "summary")
  }\n${below}`;
  const question = asked === null ? "" : new TextDecoder().decode(wordsOf(chat, asked));
  const tail = cut.kept === chat.byteLength && asked === null ? inLinesOf(chat, "@You:\n\n") : "";
  const insert = `${inLinesOf(chat, summaryText)}${question}${tail}`;
  return [{ from: cut.head, to: cut.kept, insert }, ...thinkingEdits(chat, cut)];
}

function sourceLine(name: string, summed: readonly Turn[]): string {
  const lines = `lines ${summed[0]!.place.start} to ${summed.at(-1)!.place.end}`;
  return `This conversation continues ${name}. Here is a summary of its first ${summed.length} messages (${lines}):`;
}

/** Returns the line feeds to append so that the last line is complete and followed by an empty line. */
function ending(bytes: Uint8Array): string {
  if (bytes.at(-1) !== LF) return "\n\n";
  return bytes.at(-2) === LF ? "" : "\n";
}

const LF = 0x0a;

/**
 * Returns a message of the person without results of calls and background jobs, because these calls are in the summary.
 */
export function wordsOf(chat: Chat, { place, results, segments }: Turn): Uint8Array {
  const jobs = segments.flatMap((segment) =>
    segment.kind === "text" && segment.job === true ? segment.place ?? [] : []
  );
  const places = [...results.map(({ place }) => place), ...jobs].sort((a, b) => a.from - b.from);
  const edits = places.map(({ from, end }): Edit => ({
    from: from - place.from,
    to: Math.min(lineBegin(chat, end + 1), place.to) - place.from,
    insert: "",
  }));
  return applyEdits(chat.slice(place.from, place.to), edits);
}

/** Returns the edits that remove the thinking blocks of the kept turns, and the blank line after each of them. */
function thinkingEdits(chat: Chat, cut: Cut): readonly Edit[] {
  return cut.turns.flatMap((turn) => turn.segments).filter(({ kind }) => kind === "thinking")
    .map((segment): Edit => {
      const { from, end } = segment.place!;
      const next = end + 1;
      const blank = next <= chat.lineCount && chat.lineText(next).trim() === "" && next <= lastLine(cut);
      const to = lineBegin(chat, blank ? next + 1 : next);
      return { from, to, insert: "" };
    });
}

function lastLine({ turns }: Cut): number {
  return turns.at(-1)?.place.end ?? 0;
}

function lineBegin(chat: Chat, line: number): number {
  return line > chat.lineCount ? chat.byteLength : chat.lineStart(line);
}

export interface Pruned {
  readonly result: Result;
  readonly tool: string;
}

/** Returns the final results in the summarized turns whose text is longer than `bytes` and can be shortened. */
export function longResults(chat: Chat, cut: Cut, bytes: number): readonly Pruned[] {
  return cut.summed.flatMap(({ results }) => results)
    .filter((result) => !isLifecycle(result.status) && shortened(result.content, bytes) !== null)
    .map((result) => ({ result, tool: chat.call(result.id)?.name ?? "result" }));
}

/** Shortens the results; `place` is the path where the complete result is stored. */
export function withShortResults(...given: Parameters<typeof shortResultEdits>): Uint8Array {
  return applyEdits(given[0].bytes, shortResultEdits(...given));
}

/** Returns the edits that shorten the results; `place` is the path where the complete result is stored. */
export function shortResultEdits(
  chat: Chat,
  results: readonly Pruned[],
  bytes: number,
  place: (pruned: Pruned) => string,
): readonly Edit[] {
  return results.map((pruned) => {
    const { content, status, attachments } = pruned.result;
    const short = shortened(content, bytes) ?? [content, ""];
    const text = `${short[0]}\n\n[… shortened. Complete result: ${place(pruned)}]\n\n${short[1]}`;
    const block = { content: text, error: status === "error", language: "", attachments } as const;
    return replaceBlock(chat, pruned.result, block);
  });
}

/**
 * Number of lines kept at the beginning and at the end of a long result, and number of characters kept of each line.
 */
const LINES = 10;
const CHARACTERS = 200;

/** Returns the first and last lines of a text longer than `bytes`; null if the text stays unchanged. */
function shortened(text: string, bytes: number): readonly [string, string] | null {
  if (new TextEncoder().encode(text).length <= bytes) return null;
  const lines = text.split("\n");
  const cut = (line: string) =>
    [...line].length > CHARACTERS ? `${[...line].slice(0, CHARACTERS).join("")}…` : line;
  const first = lines.slice(0, LINES).map(cut).join("\n");
  const last = lines.slice(Math.max(LINES, lines.length - LINES)).map(cut).join("\n");
  return first.length + last.length < text.length ? [first, last] : null;
}

function bytesOf(...parts: readonly (Uint8Array | string)[]): Uint8Array {
  return concat(parts.map((part) => typeof part === "string" ? new TextEncoder().encode(part) : part));
}

function inLinesOf({ eol }: Chat, text: string): string {
  return eol === "\n" ? text : text.replaceAll(/\r?\n/g, eol);
}
