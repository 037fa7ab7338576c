// Backslashes that keep a model's words from becoming structure, for writing and for reading.
//
// A line is *live* if the parser would read it as structure at its position. The writer puts one backslash before a
// live line and before any line that is live without its leading backslashes; the reader removes one backslash from
// such a line. Writer and reader use the classifiers of the parser, so they agree.
//
// "Open fence" means two things. Role markers are hidden by any open column-1 fence, closed or not, whatever opened it.
// Tool use headers, thinking tags and abort markers are hidden only by an ordinary fence that text opened and that is
// closed again. The writer always closes the fences that it opens, so for the writer both mean the same.

import {
  abortMarker,
  bareTicks,
  fenceOpen,
  markerRole,
  serverToolTag,
  thinkingClose,
  thinkingTag,
  toolUseHeader,
} from "../text/lines.ts";
import type { Chat, Segment, Turn } from "../types.ts";

const encoder = new TextEncoder();

type Classifier = (bytes: Uint8Array, from: number, to: number) => unknown;

function matches(classifier: Classifier, line: string): boolean {
  const bytes = encoder.encode(line);
  const answer = classifier(bytes, 0, bytes.length);
  return answer !== null && answer !== false;
}

/** A role marker line such as `@You:`. */
function isMarker(line: string): boolean {
  return line.startsWith("@") && matches(markerRole, line);
}

/** A tool use header, an opening or self-closed thinking tag, a server tool tag, or an abort marker. */
function isBlockLine(line: string): boolean {
  if (line.startsWith("*")) return matches(toolUseHeader, line);
  if (line.startsWith("<t")) return matches(thinkingTag, line);
  if (line.startsWith("<s")) return matches(serverToolTag, line);
  return line.startsWith("<!") && matches(abortMarker, line);
}

function withoutBackslashes(line: string): string {
  let start = 0;
  while (line[start] === "\\") start++;
  return line.slice(start);
}

/**
 * Returns the fence state after one more line: the number of backticks of the open fence, or 0. `line` has no line
 * end.
 */
export function fenceAfter(ticks: number, line: string): number {
  if (!line.startsWith(ticks === 0 ? "```" : "`")) return ticks;
  const bytes = encoder.encode(line);
  if (ticks === 0) return fenceOpen(bytes, 0, bytes.length);
  return bareTicks(bytes, 0, bytes.length) >= ticks ? 0 : ticks;
}

/** True if the parser reads a line in an Assistant message as structure when the line is outside every fence. */
export function isLiveInText(line: string): boolean {
  return isMarker(line) || isBlockLine(line);
}

/**
 * True if a line reads as a tool use header, a thinking tag or an abort marker unless a *closed* fence hides it. Such
 * a line must not reach the disk while its fence is still open.
 */
export function needsClosedFence(line: string): boolean {
  return isBlockLine(line);
}

/** Escapes one complete line of Assistant text; `ticks` is the number of backticks of the open fence, 0 if none. */
export function escapeTextLine(line: string, ticks: number): string {
  return ticks === 0 && isLiveInText(withoutBackslashes(line)) ? `\\${line}` : line;
}

/** Escapes the content of a thinking block that begins inside the open fence `ticks` (0 if none). */
export function escapeThinking(content: string, ticks = 0): string {
  const escaper = new ThinkingEscaper(ticks);
  return escaper.write(content) + escaper.end();
}

/** Escapes the content of a thinking block that arrives in parts. */
export class ThinkingEscaper {
  #fence: number;
  /** The unfinished line, held back until the text after it shows whether its beginning must be escaped. */
  #line = "";
  /** True if the beginning of the unfinished line was already returned; the whole line is then text. */
  #isText = false;

  constructor(ticks = 0) {
    this.#fence = ticks;
  }

  /** Number of backticks of the fence that is open after the complete lines, or 0. */
  get fence(): number {
    return this.#fence;
  }

  /**
   * Takes the next part. Returns escaped text up to the point from which later text could still change the escaping.
   */
  write(part: string): string {
    const lines = part.split("\n");
    const rest = lines.pop() ?? "";
    const out: string[] = [];
    for (const line of lines) {
      out.push(this.#isText ? line : this.#whole(this.#line + line), "\n");
      this.#line = "";
      this.#isText = false;
    }
    if (this.#isText) out.push(rest);
    else {
      this.#line += rest;
      this.#isText = this.#line !== "" && !MAY_COUNT.has(this.#line.charAt(0));
      if (this.#isText) {
        out.push(this.#line);
        this.#line = "";
      }
    }
    return out.join("");
  }

  /** Returns the part of the last line that was held back. */
  end(): string {
    const last = this.#isText ? "" : this.#whole(this.#line);
    this.#line = "";
    return last;
  }

  #whole(line: string): string {
    const live = isLiveInThinking(withoutBackslashes(line), this.#fence);
    this.#fence = fenceAfter(this.#fence, line);
    return live ? `\\${line}` : line;
  }
}

/** First characters of thinking lines that may be live, or may open or close a fence. */
const MAY_COUNT: ReadonlySet<string> = new Set(["\\", "<", "@", "`"]);

function isLiveInThinking(bare: string, ticks: number): boolean {
  return bare.startsWith("</") ? matches(thinkingClose, bare) : ticks === 0 && isMarker(bare);
}

/** Returns the content of a thinking block as the provider sent it: the inverse of `escapeThinking`. */
export function unescapeThinking(content: string, ticks = 0): string {
  if (!content.includes("\\")) return content;
  const lines = content.split("\n").map((line) => {
    const bare = withoutBackslashes(line);
    const live = isLiveInThinking(bare, ticks) && bare.length < line.length;
    ticks = fenceAfter(ticks, line);
    return live ? line.slice(1) : line;
  });
  return lines.join("\n");
}

/**
 * Returns Assistant text as the provider sent it. `value` is the whole text of one segment; `ticks` is the number of
 * backticks of the fence that is open where the segment begins, 0 if none.
 */
export function unescapeText(value: string, ticks = 0): string {
  if (!value.includes("\\")) return value;
  const lines = value.split("\n");
  const closers = laterClosers(lines);
  let hidden = 0; // Backticks of the closed ordinary fence that contains the line.
  const read = lines.map((line, index) => {
    const bare = withoutBackslashes(line);
    const live = bare.length < line.length &&
      ((ticks === 0 && isMarker(bare)) || (hidden === 0 && isBlockLine(bare)));
    ticks = fenceAfter(ticks, line);
    const next = fenceAfter(hidden, line);
    hidden = hidden === 0 && next > (closers[index] ?? 0) ? 0 : next;
    return live ? line.slice(1) : line;
  });
  return read.join("\n");
}

/** Returns, for each line, the longest run of backticks that is alone on a later line: the best closing fence. */
function laterClosers(lines: readonly string[]): readonly number[] {
  const longest = new Array<number>(lines.length);
  let reached = 0;
  for (let index = lines.length - 1; index >= 0; index--) {
    longest[index] = reached;
    const line = lines[index] ?? "";
    if (!line.startsWith("```")) continue;
    const bytes = encoder.encode(line);
    reached = Math.max(reached, bareTicks(bytes, 0, bytes.length));
  }
  return longest;
}

/**
 * Returns the segments of an Assistant message with text and thinking as the provider sent them, to send on or to
 * show. Other roles are never escaped and are returned unchanged.
 */
export function unescapeTurn(chat: Chat, turn: Turn): readonly Segment[] {
  if (turn.role !== "Assistant") return turn.segments;
  const escaped = turn.segments.some((segment) =>
    (segment.kind === "text" && segment.value.includes("\\")) ||
    (segment.kind === "thinking" && segment.content.includes("\\"))
  );
  if (!escaped) return turn.segments;
  let ticks = 0;
  let line = turn.place.start + 1;
  const fenceAt = (target: number): number => {
    for (; line < target; line++) ticks = fenceAfter(ticks, chat.lineText(line));
    return ticks;
  };
  return turn.segments.map((segment): Segment => {
    if (segment.kind === "text" && segment.place !== undefined) {
      const value = unescapeText(segment.value, fenceAt(segment.place.start));
      return { kind: "text", value, place: segment.place };
    }
    if (segment.kind === "thinking") {
      const { signature, redacted, place } = segment;
      const content = unescapeThinking(segment.content, fenceAt(place.start + 1));
      return { kind: "thinking", content, signature, redacted, place };
    }
    return segment;
  });
}

/** Returns the fence that is open after the last line of a message: its number of backticks, or 0. */
export function openFenceAtEnd(chat: Chat, turn: Turn): number {
  let ticks = 0;
  for (let line = turn.place.start + 1; line <= turn.place.end; line++) {
    ticks = fenceAfter(ticks, chat.lineText(line));
  }
  return ticks;
}

const SPACE = "[ \\t\\v\\f\\r]";
const BEGINNINGS: readonly RegExp[] = [
  /^@(?:[A-Za-z0-9]*|[A-Za-z0-9]+:[ \t\v\f\r]*)$/,
  new RegExp(`^${optionally("**Tool Use:**")}$`),
  new RegExp(`^\\*\\*Tool Use:\\*\\*${SPACE}*(?:\`(?:[^\`]+(?:\`${SPACE}*(?:\\((?:\`[^\`)]*)?)?)?)?)?$`),
  new RegExp(`^\\*\\*Tool Use:\\*\\*${SPACE}*\`[^\`]+\`${SPACE}*\\(\`[^\`)]+\`(?:\\)|$)`),
  new RegExp(`^${optionally("<thinking>")}$`),
  new RegExp(`^<thinking${SPACE}+(?:redacted>|[A-Za-z0-9]*)$`),
  new RegExp(`^<thinking${SPACE}+[A-Za-z0-9]+${optionally(':signature="')}$`),
  new RegExp(`^<thinking${SPACE}+[A-Za-z0-9]+:signature="[^"]*(?:"${SPACE}*/?>?)?$`),
  new RegExp(`^${optionally("<server_tool")}$`),
  new RegExp(`^<server_tool${SPACE}+[A-Za-z0-9]*$`),
  new RegExp(
    `^<server_tool${SPACE}+[A-Za-z0-9]+(?:${optionally(':blocks="')}|${optionally(':citations="')})$`,
  ),
  new RegExp(`^<server_tool${SPACE}+[A-Za-z0-9]+:(?:blocks|citations)="[^"]*(?:"${SPACE}*>?)?$`),
  new RegExp(`^${optionally("<!--")}$`),
  new RegExp(`^<!--${SPACE}*${optionally("flemma:aborted:")}$`),
  new RegExp(`^<!--${SPACE}*flemma:aborted:`),
];

/** Returns a pattern source that matches every beginning of a word, including the empty one. */
function optionally(word: string): string {
  let source = "";
  for (const character of [...word].reverse()) {
    source = `(?:${character.replace(/[*$^.()[\]|?+\\/]/g, "\\$&")}${source})?`;
  }
  return source;
}

/**
 * True if the parser may read an unfinished line as structure once more characters arrive. Only such a line must wait
 * for them. Nothing of `partial` has been written yet.
 */
export function mayBecomeLive(partial: string): boolean {
  if (partial === "") return false;
  const bare = withoutBackslashes(partial);
  if (bare === "") return true;
  if (!"@*<".includes(bare.charAt(0))) return false;
  return BEGINNINGS.some((beginning) => beginning.test(bare));
}
