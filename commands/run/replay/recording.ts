// Splits a conversation into steps to replay: replies, user texts, and results to compare. Pure.

import type { RegisteredTool } from "../../../agent/types.ts";
import { DENIED, INTERRUPTED, REJECTED } from "../../../cycle/plan/sentences.ts";
import { isLifecycle } from "../../../parser/text/status_words.ts";
import { unescapeTurn } from "../../../parser/edits/escape.ts";
import type { Call, Chat, Result, Turn } from "../../../parser/types.ts";
import type { ReplyBlock } from "../../../providers/replay/script.ts";
import { citedPages, RecordedSearches } from "./recorded_searches.ts";

export interface RecordedResult {
  readonly id: string;
  readonly name: string;
  readonly line: number;
  readonly content: string;
  readonly isError: boolean;
}

export type RecordedStep =
  | { readonly do: "reply"; readonly blocks: readonly ReplyBlock[]; readonly line: number }
  | { readonly do: "result"; readonly result: RecordedResult }
  | { readonly do: "say"; readonly text: string };

export interface Recording {
  /** The document up to the first reply. */
  readonly beginning: Uint8Array;
  /** The user's last words before the first reply. */
  readonly first: string;
  readonly steps: readonly RecordedStep[];
}

/**
 * Splits a conversation into steps. It leaves out user text after the last reply and its results, because nothing
 * answers that text.
 */
export function recordingOf(chat: Chat): Recording {
  const first = chat.turns.findIndex(({ role, segments }) => role === "Assistant" && segments.length > 0);
  if (first < 0) return { beginning: chat.bytes, first: "", steps: [] };
  const steps: RecordedStep[] = [];
  const searches = new RecordedSearches();
  for (const turn of chat.turns.slice(first)) {
    if (turn.role === "Assistant") {
      const blocks = blocksOf(chat, turn, searches);
      if (blocks.length > 0) steps.push({ do: "reply", blocks, line: turn.place.start });
      continue;
    }
    for (const result of turn.results) {
      const call = chat.call(result.id);
      // A call that still waits did not run, and a replay must not run it.
      if (call === undefined || isLifecycle(result.status)) continue;
      steps.push({ do: "result", result: recorded(call, result) });
    }
    const text = wordsOf(chat, turn);
    if (text !== "") steps.push({ do: "say", text });
  }
  const last = steps.findLastIndex(({ do: what }) => what !== "say");
  const beginning = chat.bytes.slice(0, chat.turns[first]!.place.from);
  const asked = chat.turns.slice(0, first).findLast(({ role }) => role === "You");
  return {
    beginning,
    first: asked === undefined ? "" : wordsOf(chat, asked),
    steps: steps.slice(0, last + 1),
  };
}

/**
 * Returns the text, calls and searches of a reply. Thinking is left out, because only the provider can create it, and of
 * searches only the visible lines are read.
 */
function blocksOf(chat: Chat, turn: Turn, searches: RecordedSearches): readonly ReplyBlock[] {
  const blocks: ReplyBlock[] = [];
  for (const segment of unescapeTurn(chat, turn)) {
    if (segment.kind === "text") {
      const text = segment.value.trim();
      if (text !== "") blocks.push({ text });
    } else if (segment.kind === "tool_use") {
      const { id, name, inputText } = segment;
      blocks.push({ tool_use: { id, name, input_text: inputText } });
    } else if (segment.kind === "server_tool" && segment.what === "blocks") {
      blocks.push(...searches.read(segment.content, segment.provider));
    } else if (segment.kind === "server_tool") {
      const last = blocks.at(-1);
      const cites = citedPages(segment.content);
      if (last !== undefined && "text" in last && cites.length > 0) blocks.splice(-1, 1, { ...last, cites });
    }
  }
  searches.endReply();
  return blocks;
}

/** Returns the text of a turn without its results, unchanged. */
function wordsOf(chat: Chat, turn: Turn): string {
  const decoder = new TextDecoder();
  const lineEnd = chat.bytes.indexOf(0x0a, turn.place.from);
  let at = lineEnd < 0 ? turn.place.to : Math.min(lineEnd + 1, turn.place.to);
  let text = "";
  for (const { place } of turn.results.toSorted((a, b) => a.place.from - b.place.from)) {
    text += decoder.decode(chat.bytes.subarray(at, Math.max(at, place.from)));
    at = Math.max(at, place.to);
  }
  return (text + decoder.decode(chat.bytes.subarray(at, Math.max(at, turn.place.to)))).trim();
}

function recorded(call: Call, { id, content, status, header }: Result): RecordedResult {
  const isError = status === "error";
  return {
    id,
    name: call.name,
    line: header.start,
    content,
    isError,
  };
}

/**
 * True if the call of a result had run; a replay does not run refused calls. A person may refuse a call in any words,
 * so an error counts as a real run only for built-in tools.
 *
 * @param tool the tool that would run now; undefined if there is none
 */
export function hadRun({ content, isError }: RecordedResult, tool: RegisteredTool | undefined): boolean {
  if (!isError) return true;
  if ([DENIED, REJECTED, INTERRUPTED].includes(content.trim()) || tool?.origin !== "built-in") return false;
  if (tool.command_input !== undefined) {
    return /^The command (?:failed|ended) with exit code \d+/m.test(content);
  }
  // Tools that change only files of the copy, or nothing, are safe to run again.
  return tool.on_disk === true || tool.effects === "none";
}
