// Markdown as lines of a terminal.

import type { Token } from "../markdown.ts";
import type { Colour, Look } from "./lines.ts";
import { coloured } from "./lines.ts";
import { inlineSpans } from "./inline.ts";
import { block, drawn, filled, type Span, span, UNFOLDED } from "./spans.ts";
import { tableLines } from "./table.ts";

/** The lines of a text that was read as Markdown, none of them wider than the look has room for. */
export function markdownLines(tokens: readonly Token[], look: Look): string[] {
  return blockLines(tokens, look);
}

/** Blocks, one after another, an empty line between those that do not belong to a tight list. */
function blockLines(tokens: readonly Token[], look: Look): string[] {
  const lines: string[] = [];
  for (let at = 0; at < tokens.length;) {
    const end = endOf(tokens, at);
    const token = tokens[at]!;
    const made = oneBlock(token, tokens.slice(at + 1, end), look);
    if (lines.length > 0 && !isTight(token, tokens.slice(at + 1, end), tokens[at - 1])) lines.push("");
    for (const line of made) lines.push(line);
    at = end + 1;
  }
  return lines;
}

/** Whether a block follows the one before it without an empty line: a list below the text of its item. */
function isTight(token: Token, inside: readonly Token[], before: Token | undefined): boolean {
  if (token.hidden || before?.hidden === true) return true;
  return token.type === "list_item_open" && (inside.length === 0 || inside[0]!.hidden);
}

/** The place of the token that closes the one at `at`; its own where it stands alone. */
function endOf(tokens: readonly Token[], at: number): number {
  let depth = 0;
  for (let end = at; end < tokens.length; end++) {
    depth += tokens[end]!.nesting;
    if (depth <= 0) return end;
  }
  return tokens.length - 1;
}

function oneBlock(token: Token, inside: readonly Token[], look: Look): string[] {
  switch (token.type) {
    case "heading_open": {
      const sign = `${"#".repeat(Number(token.tag.slice(1)))} `;
      return inlineLines(inside, look, ["bold"], span(sign, "bold"));
    }
    case "paragraph_open":
      return inlineLines(inside, look, []);
    case "fence":
    case "code_block":
      return block(token.content, UNFOLDED, look, () => ["cyan"]);
    case "blockquote_open":
      return indented(blockLines(inside, narrower(look, 2)), coloured("▌ ", "dim", look));
    case "bullet_list_open":
      return listLines(inside, look, () => "• ");
    case "ordered_list_open": {
      const start = Number(token.attrGet("start") ?? 1);
      return listLines(inside, look, (at) => `${start + at}. `);
    }
    case "table_open":
      return tableLines(inside, look);
    case "hr":
      return [coloured("─".repeat(Math.min(look.width, 20)), "dim", look)];
    case "inline":
      return inlineLines([token], look, []);
    default:
      return token.content === "" ? blockLines(inside, look) : inlineLines([token], look, []);
  }
}

function listLines(tokens: readonly Token[], look: Look, mark: (at: number) => string): string[] {
  const lines: string[] = [];
  let count = 0;
  for (let at = 0; at < tokens.length;) {
    const end = endOf(tokens, at);
    const inside = tokens.slice(at + 1, end);
    const sign = mark(count);
    const item = blockLines(inside, narrower(look, sign.length));
    if (count > 0 && !isTight(tokens[at]!, inside, undefined)) lines.push("");
    const [first = "", ...rest] = item;
    lines.push(`${coloured(sign, "dim", look)}${first}`);
    for (const line of indented(rest, " ".repeat(sign.length))) lines.push(line);
    count++;
    at = end + 1;
  }
  return lines;
}

function indented(lines: readonly string[], by: string): string[] {
  return lines.map((line) => line === "" && by.trim() === "" ? "" : by + line);
}

/** The same with less room; however deep something is nested, a few cells are left. */
function narrower(look: Look, by: number): Look {
  return { ...look, width: Math.max(8, look.width - by) };
}

function inlineLines(
  tokens: readonly Token[],
  look: Look,
  colours: readonly Colour[],
  ...before: readonly Span[]
): string[] {
  const spans = tokens.flatMap((token) => inlineSpans(token.children ?? [token], look, colours));
  return filled([...before, ...spans], look.width).map((line) => drawn(line, look));
}
