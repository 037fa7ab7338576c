// Rendering of a Markdown table for a terminal: in columns, or one line per cell if space is too narrow.

import { displayWidth } from "../../base/width.ts";
import { type Alignment, alignmentOf, type MarkdownToken } from "../markdown.ts";
import { colorize, type TerminalFormat } from "./lines.ts";
import { inlineSpans } from "./inline.ts";
import { drawSpans, type StyledSpan, wrapSpans } from "./spans.ts";

interface Cell {
  readonly spans: readonly StyledSpan[];
  readonly alignment: Alignment;
}

/** Minimum width of a readable column, in cells. */
const NARROWEST = 6;
const BETWEEN = "  ";

/** Renders a table; `tokens` are the tokens inside it. */
export function tableLines(tokens: readonly MarkdownToken[], format: TerminalFormat): string[] {
  const rows = rowsOf(tokens, format);
  const [head = [], ...body] = rows;
  const widths = columnWidths(rows, format.width);
  if (widths === null) return listed(head, body, format);
  const rule = colorize(widths.map((width) => "─".repeat(width)).join(BETWEEN), "dim", format);
  return [...rowLines(head, widths, format), rule, ...body.flatMap((row) => rowLines(row, widths, format))];
}

function rowsOf(tokens: readonly MarkdownToken[], format: TerminalFormat): Cell[][] {
  const rows: Cell[][] = [];
  let cell: MarkdownToken | null = null;
  for (const token of tokens) {
    if (token.type === "tr_open") rows.push([]);
    else if (token.type === "th_open" || token.type === "td_open") cell = token;
    else if (token.type === "inline" && cell !== null) {
      const spans = inlineSpans(token.children ?? [], format, cell.tag === "th" ? ["bold"] : []);
      rows.at(-1)?.push({ spans, alignment: alignmentOf(cell) });
    }
  }
  return rows;
}

/** Computes the width of each column: what it needs, or a fair share of the space; null if there is too little. */
function columnWidths(rows: readonly (readonly Cell[])[], width: number): number[] | null {
  const needs: number[] = [];
  for (const row of rows) {
    for (const [at, { spans }] of row.entries()) {
      const need = spans.reduce((sum, { text }) => sum + displayWidth(text), 0);
      needs[at] = Math.max(needs[at] ?? 1, need);
    }
  }
  const room = width - BETWEEN.length * (needs.length - 1);
  if (needs.length * NARROWEST > room) return null;
  // A column that needs no more than its fair share gets what it needs. The remaining columns share the rest, and this
  // is repeated until each column has a width.
  const widths = [...needs];
  let open = needs.map((_, at) => at);
  let left = room;
  while (open.length > 0) {
    const share = Math.floor(left / open.length);
    const fitting = open.filter((at) => needs[at]! <= share);
    if (fitting.length === 0) {
      for (const at of open) widths[at] = share;
      break;
    }
    for (const at of fitting) left -= needs[at]!;
    open = open.filter((at) => needs[at]! > share);
  }
  return widths;
}

function rowLines(row: readonly Cell[], widths: readonly number[], format: TerminalFormat): string[] {
  const cells = widths.map((width, at) => wrapSpans(row[at]?.spans ?? [], width));
  const height = Math.max(1, ...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) =>
    widths.map((width, at) => {
      const spans = cells[at]![line] ?? [];
      const used = spans.reduce((sum, { text }) => sum + displayWidth(text), 0);
      return padded(drawSpans(spans, format), width - used, row[at]?.alignment ?? "left");
    }).join(BETWEEN).trimEnd());
}

function padded(text: string, blanks: number, alignment: Alignment): string {
  const all = Math.max(0, blanks);
  const before = alignment === "right" ? all : alignment === "center" ? Math.floor(all / 2) : 0;
  return " ".repeat(before) + text + " ".repeat(all - before);
}

/** Renders each row as lines that begin with the column's name. */
function listed(head: readonly Cell[], body: readonly (readonly Cell[])[], format: TerminalFormat): string[] {
  return body.flatMap((row, at) => [
    ...(at === 0 ? [] : [""]),
    ...row.flatMap(({ spans }, column) => {
      const name = head[column]?.spans ?? [];
      return wrapSpans([...name, { text: ": ", colors: [] }, ...spans], format.width).map((line) =>
        drawSpans(line, format)
      );
    }),
  ]);
}
