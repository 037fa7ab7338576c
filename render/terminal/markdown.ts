// Rendering of Markdown as terminal lines.

import type { MarkdownToken } from "../markdown.ts";
import type { Color, TerminalFormat } from "./lines.ts";
import { colorize } from "./lines.ts";
import { inlineSpans } from "./inline.ts";
import { block, drawSpans, span, type StyledSpan, UNFOLDED, wrapSpans } from "./spans.ts";
import { tableLines } from "./table.ts";

export function markdownLines(tokens: readonly MarkdownToken[], format: TerminalFormat): string[] {
  return blockLines(tokens, format);
}

/** Renders blocks, separated by an empty line except in tight lists. */
function blockLines(tokens: readonly MarkdownToken[], format: TerminalFormat): string[] {
  const lines: string[] = [];
  for (let at = 0; at < tokens.length;) {
    const end = endOf(tokens, at);
    const token = tokens[at]!;
    const made = oneBlock(token, tokens.slice(at + 1, end), format);
    if (lines.length > 0 && !isTight(token, tokens.slice(at + 1, end), tokens[at - 1])) lines.push("");
    for (const line of made) lines.push(line);
    at = end + 1;
  }
  return lines;
}

/** True if a block follows without an empty line, such as a nested list after the text of its item. */
function isTight(
  token: MarkdownToken,
  inside: readonly MarkdownToken[],
  before: MarkdownToken | undefined,
): boolean {
  if (token.hidden || before?.hidden === true) return true;
  return token.type === "list_item_open" && (inside.length === 0 || inside[0]!.hidden);
}

/** Returns the index of the token that closes the one at `at`, or `at` if it is self-contained. */
function endOf(tokens: readonly MarkdownToken[], at: number): number {
  let depth = 0;
  for (let end = at; end < tokens.length; end++) {
    depth += tokens[end]!.nesting;
    if (depth <= 0) return end;
  }
  return tokens.length - 1;
}

function oneBlock(token: MarkdownToken, inside: readonly MarkdownToken[], format: TerminalFormat): string[] {
  switch (token.type) {
    case "heading_open": {
      const sign = `${"#".repeat(Number(token.tag.slice(1)))} `;
      return inlineLines(inside, format, ["bold"], span(sign, "bold"));
    }
    case "paragraph_open":
      return inlineLines(inside, format, []);
    case "fence":
    case "code_block":
      return block(token.content, UNFOLDED, format, () => ["cyan"]);
    case "blockquote_open":
      return indented(blockLines(inside, narrower(format, 2)), colorize("▌ ", "dim", format));
    case "bullet_list_open":
      return listLines(inside, format, () => "• ");
    case "ordered_list_open": {
      const start = Number(token.attrGet("start") ?? 1);
      return listLines(inside, format, (at) => `${start + at}. `);
    }
    case "table_open":
      return tableLines(inside, format);
    case "hr":
      return [colorize("─".repeat(Math.min(format.width, 20)), "dim", format)];
    case "inline":
      return inlineLines([token], format, []);
    default:
      return token.content === "" ? blockLines(inside, format) : inlineLines([token], format, []);
  }
}

function listLines(
  tokens: readonly MarkdownToken[],
  format: TerminalFormat,
  mark: (at: number) => string,
): string[] {
  const lines: string[] = [];
  let count = 0;
  for (let at = 0; at < tokens.length;) {
    const end = endOf(tokens, at);
    const inside = tokens.slice(at + 1, end);
    const sign = mark(count);
    const item = blockLines(inside, narrower(format, sign.length));
    if (count > 0 && !isTight(tokens[at]!, inside, undefined)) lines.push("");
    const [first = "", ...rest] = item;
    lines.push(`${colorize(sign, "dim", format)}${first}`);
    for (const line of indented(rest, " ".repeat(sign.length))) lines.push(line);
    count++;
    at = end + 1;
  }
  return lines;
}

function indented(lines: readonly string[], by: string): string[] {
  return lines.map((line) => line === "" && by.trim() === "" ? "" : by + line);
}

/** Reduces the width, but keeps a few cells however deep the nesting. */
function narrower(format: TerminalFormat, by: number): TerminalFormat {
  return { ...format, width: Math.max(8, format.width - by) };
}

function inlineLines(
  tokens: readonly MarkdownToken[],
  format: TerminalFormat,
  colors: readonly Color[],
  ...before: readonly StyledSpan[]
): string[] {
  const spans = tokens.flatMap((token) => inlineSpans(token.children ?? [token], format, colors));
  return wrapSpans([...before, ...spans], format.width).map((line) => drawSpans(line, format));
}
