// Lays out help pages, at most 80 columns wide.

/** Columns of the narrowest common terminal. */
const WIDTH = 80;

/** Maximum width of the left column. A wider left cell gets its text on the line below. */
const WIDEST_LEFT = 26;

export type HelpRow = readonly [left: string, text: string];

/** Formats rows in two columns. Below a left cell that is too wide, the text starts on its own line. */
export function columns(rows: readonly HelpRow[], width?: number): string[] {
  const fitting = rows.map(([left]) => left.length).filter((length) => length <= WIDEST_LEFT);
  const column = width ?? Math.max(0, ...fitting);
  const indent = 2 + column + 2;
  return rows.flatMap(([left, text]) => {
    const fits = left.length <= column;
    const head = fits ? `  ${left.padEnd(column)}  ` : " ".repeat(indent);
    const [first = "", ...more] = wrapped(head + text, indent);
    return [...(fits ? [] : [`  ${left}`]), first, ...more];
  });
}

/** Wraps a text at `WIDTH` columns; every line but the first starts with `indent` blanks. */
export function wrapped(text: string, indent: number): string[] {
  const lines: string[] = [];
  let line = text;
  while (line.length > WIDTH) {
    const blank = line.lastIndexOf(" ", WIDTH);
    // A word longer than a line gets its own line.
    const end = line.slice(indent, blank).trim() === "" ? line.indexOf(" ", WIDTH) : blank;
    if (end < 0) break;
    lines.push(line.slice(0, end).trimEnd());
    line = " ".repeat(indent) + line.slice(end + 1);
  }
  return [...lines, line];
}
