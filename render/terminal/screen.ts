// Rendering of a conversation as terminal lines, message by message.

import { visible } from "../../base/visible.ts";
import { cutToWidth, displayWidth } from "../../base/width.ts";
import type { ReadMarkdown } from "../markdown.ts";
import { helperWords, resultWords } from "../result_words.ts";
import type {
  CallView,
  ConversationView,
  Field,
  HelperView,
  MessageView,
  PartView,
  ResultView,
} from "../types.ts";
import { type Color, colorize, type TerminalFormat } from "./lines.ts";
import { markdownLines } from "./markdown.ts";
import { block, drawSpans, type Fold, GUTTER, note, span, UNFOLDED, wrapSpans } from "./spans.ts";

export interface ScreenOptions extends TerminalFormat {
  readonly full: boolean;
  readonly markdown: ReadMarkdown;
}

/** Left margin of all content from the document. Only flemma's own lines begin at the edge. */
const INDENT = "  ";

/** Generates the lines, without line ends. */
export function* screenLines(conversation: ConversationView, options: ScreenOptions): Generator<string> {
  const inner = { ...options, width: Math.max(10, options.width - INDENT.length) };
  const { settings, preamble, messages } = conversation;
  let isFirst = true;
  const section = function* (title: string, colors: readonly Color[], lines: Iterable<string>) {
    if (!isFirst) yield "";
    isFirst = false;
    yield rule(title, colors, options);
    for (const line of lines) yield line === "" ? "" : INDENT + line;
  };
  if (settings !== null) {
    const lines = block(settings.code, foldOf(options, { head: 4, tail: 0 }), inner, () => ["dim"]);
    yield* section(`frontmatter, ${settings.language}`, ["dim"], lines);
  }
  if (preamble !== null) {
    yield* section(
      "before the first message",
      ["dim"],
      markdownLines(options.markdown(preamble.text), inner),
    );
  }
  for (const message of messages) {
    yield* section(message.role, roleColors(message), messageLines(message, inner));
  }
}

function roleColors({ role }: MessageView): readonly Color[] {
  const color: Color = role === "You" ? "green" : role === "Assistant" ? "cyan" : "yellow";
  return ["bold", color];
}

function rule(title: string, colors: readonly Color[], format: TerminalFormat): string {
  const word = cutToWidth(visible(title), format.width - 6);
  const dashes = "─".repeat(Math.max(2, format.width - displayWidth(word) - 4));
  return `${colorize("──", "dim", format)} ${colorize(word, colors, format)} ${
    colorize(dashes, "dim", format)
  }`;
}

function* messageLines({ parts }: MessageView, options: ScreenOptions): Generator<string> {
  for (const [at, part] of parts.entries()) {
    if (at > 0) yield "";
    yield* partLines(part, options);
  }
}

function partLines(part: PartView, options: ScreenOptions): readonly string[] {
  switch (part.kind) {
    case "prose":
      return markdownLines(options.markdown(part.text), options);
    case "thinking":
      return part.redacted || part.text.trim() === ""
        ? [note("thinking, hidden by the provider", options)]
        : [
          colorize("thinking", ["dim", "italic"], options),
          ...block(part.text.trim(), foldOf(options, { head: 3, tail: 0 }), options, () => ["dim"]),
        ];
    case "server_tool":
      return [
        colorize(part.title, ["dim", "italic"], options),
        ...block(part.text.trim(), foldOf(options, { head: 6, tail: 0 }), options, () => ["dim"]),
      ];
    case "aborted":
      return wrapSpans([span(`interrupted: ${part.text}`, "yellow")], options.width).map((line) =>
        drawSpans(line, options)
      );
    case "call":
      return callLines(part, options);
    case "result":
      return resultLines(part, options);
  }
}

function callLines({ tool, id, label, fields, result, helper }: CallView, options: ScreenOptions): string[] {
  const head = [span("▸ ", "magenta"), span(tool, "bold", "magenta"), span(` ${id}`, "dim")];
  if (label !== "") head.push(span(` ${label}`, "italic"));
  return [
    ...wrapSpans(head, options.width).map((line) => drawSpans(line, options)),
    ...fields.flatMap((field) => fieldLines(field, options)),
    ...(result === null ? [colorize("no result yet", "yellow", options)] : resultLines(result, options)),
    ...(helper === undefined ? [] : helperLines(helper, options)),
  ];
}

/** Renders the line about a helper, and its conversation unless helpers are folded. */
function helperLines(helper: HelperView, options: ScreenOptions): string[] {
  const { name, waits, conversation } = helper;
  const head = [
    span("▸ ", "magenta"),
    span("helper ", "magenta"),
    span(name, "bold", "magenta"),
    span(`: ${helperWords(helper)}`, waits ? "yellow" : "dim"),
  ];
  const lines = wrapSpans(head, options.width).map((line) => drawSpans(line, options));
  if (conversation === null || !options.full) return lines;
  const gutter = colorize(GUTTER, "dim", options);
  const inner = { ...options, width: Math.max(10, options.width - GUTTER.length) };
  return [...lines, ...Array.from(screenLines(conversation, inner), (line) => gutter + line)];
}

const INPUT_FOLD: Fold = { head: 12, tail: 4 };
const RESULT_FOLD: Fold = { head: 8, tail: 4 };

function fieldLines({ name, kind, text }: Field, options: ScreenOptions): string[] {
  const fold = foldOf(options, INPUT_FOLD);
  // Commands are shown in full, because the person has to read them.
  if (kind === "command") return block(text, UNFOLDED, options, () => ["bold"]);
  if (kind === "diff") {
    if (text === "") return [note("no changes", options)];
    return block(text, foldOf(options, { head: 40, tail: 10 }), options, diffColors);
  }
  const isShort = !text.includes("\n") && displayWidth(name) + text.length + 4 <= options.width;
  if (isShort) {
    return wrapSpans([span(`${name}: `, "dim"), span(text)], options.width).map((line) =>
      drawSpans(line, options)
    );
  }
  return [
    drawSpans([span(cutToWidth(visible(`${name}:`), options.width), "dim")], options),
    ...block(text, fold, options),
  ];
}

function diffColors(line: string): readonly Color[] {
  if (line.startsWith("+")) return ["green"];
  if (line.startsWith("-")) return ["red"];
  return line === "…" ? ["dim"] : [];
}

function resultLines(result: ResultView, options: ScreenOptions): string[] {
  const { words, tone } = resultWords(result);
  const color: Color = tone === "bad" ? "red" : tone === "open" ? "yellow" : "dim";
  const head = drawSpans([span(cutToWidth(visible(words), options.width), color)], options);
  if (result.text.trim() === "") return [head];
  return [head, ...block(result.text, foldOf(options, RESULT_FOLD), options)];
}

function foldOf({ full }: ScreenOptions, fold: Fold): Fold {
  return full ? UNFOLDED : fold;
}
