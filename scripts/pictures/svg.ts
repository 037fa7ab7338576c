// Converts the screen of a terminal, as tmux gives it with its colors, to a picture.

/** The style of a cell. */
interface TextStyle {
  readonly color: string | null;
  readonly behind: string | null;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
  readonly reverse: boolean;
}

const USUAL: TextStyle = {
  color: null,
  behind: null,
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  reverse: false,
};

/** The colors of a terminal: paper, ink and the sixteen that have names. */
interface Theme {
  readonly paper: string;
  readonly ink: string;
  readonly named: readonly string[];
}

const DARK: Theme = {
  paper: "#0d1117",
  ink: "#e6edf3",
  named: [
    "#484f58",
    "#ff7b72",
    "#3fb950",
    "#d29922",
    "#58a6ff",
    "#bc8cff",
    "#39c5cf",
    "#b1bac4",
    "#6e7681",
    "#ffa198",
    "#56d364",
    "#e3b341",
    "#79c0ff",
    "#d2a8ff",
    "#56d4dd",
    "#f0f6fc",
  ],
};

const LIGHT: Theme = {
  paper: "#f6f8fa",
  ink: "#1f2328",
  named: [
    "#24292f",
    "#cf222e",
    "#116329",
    "#7d4e00",
    "#0550ae",
    "#8250df",
    "#1b7c83",
    "#6e7781",
    "#57606a",
    "#a40e26",
    "#1a7f37",
    "#633c01",
    "#0969da",
    "#6639ba",
    "#136061",
    "#424a53",
  ],
};

/** Size of a cell, and the margin around all of them, in pixels. */
const CELL = { width: 8, height: 17 };
const MARGIN = 12;

/** Returns one color of the palette of 256. */
function paletteColor(at: number, { named }: Theme): string {
  if (at < 16) return named[at]!;
  const hex = (value: number) => value.toString(16).padStart(2, "0");
  if (at >= 232) return `#${hex(8 + (at - 232) * 10).repeat(3)}`;
  const level = (value: number) => hex(value === 0 ? 0 : 55 + value * 40);
  const cube = at - 16;
  return `#${level(Math.floor(cube / 36))}${level(Math.floor(cube / 6) % 6)}${level(cube % 6)}`;
}

/** Returns the style after the codes of one sequence. */
function after(textStyle: TextStyle, codes: readonly number[], theme: Theme): TextStyle {
  let now = textStyle;
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at]!;
    const long = (): string | null => {
      if (codes[at + 1] === 5) return paletteColor(codes[at += 2] ?? 0, theme);
      const [r = 0, g = 0, b = 0] = codes.slice(at + 2, at + 5);
      at += 4;
      return `#${[r, g, b].map((value) => value.toString(16).padStart(2, "0")).join("")}`;
    };
    if (code === 0) now = USUAL;
    else if (code === 1) now = { ...now, bold: true };
    else if (code === 2) now = { ...now, dim: true };
    else if (code === 3) now = { ...now, italic: true };
    else if (code === 4) now = { ...now, underline: true };
    else if (code === 7) now = { ...now, reverse: true };
    else if (code === 22) now = { ...now, bold: false, dim: false };
    else if (code === 23) now = { ...now, italic: false };
    else if (code === 24) now = { ...now, underline: false };
    else if (code === 27) now = { ...now, reverse: false };
    else if (code === 38) now = { ...now, color: long() };
    else if (code === 39) now = { ...now, color: null };
    else if (code === 48) now = { ...now, behind: long() };
    else if (code === 49) now = { ...now, behind: null };
    else if (code >= 30 && code <= 37) now = { ...now, color: theme.named[code - 30]! };
    else if (code >= 40 && code <= 47) now = { ...now, behind: theme.named[code - 40]! };
    else if (code >= 90 && code <= 97) now = { ...now, color: theme.named[code - 82]! };
    else if (code >= 100 && code <= 107) now = { ...now, behind: theme.named[code - 92]! };
  }
  return now;
}

/** Adjacent cells of a row with the same style. */
interface Run {
  readonly text: string;
  readonly column: number;
  readonly textStyle: TextStyle;
}

// deno-lint-ignore no-control-regex
const SEQUENCE = /\x1b\[([0-9;]*)m|\x1b[^[]|[\x00-\x1f]/g;

/** Returns the rows of a screen as runs. The pictures contain only narrow characters. */
function rowsOf(screen: string, theme: Theme): Run[][] {
  let textStyle = USUAL;
  return screen.replace(/\n$/, "").split("\n").map((line) => {
    const runs: Run[] = [];
    let column = 0;
    let reached = 0;
    const put = (text: string) => {
      if (text !== "") runs.push({ text, column, textStyle });
      column += [...text].length;
    };
    for (const found of line.matchAll(SEQUENCE)) {
      put(line.slice(reached, found.index));
      reached = found.index + found[0].length;
      if (found[1] !== undefined) textStyle = after(textStyle, found[1].split(";").map(Number), theme);
    }
    put(line.slice(reached));
    return runs;
  });
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.codePointAt(0)};`);
}

/** Returns the picture of a screen. `title` describes the picture for people who do not see it. */
export function screenSvg(screen: string, columns: number, title: string, light = false): string {
  const theme = light ? LIGHT : DARK;
  const { paper, ink } = theme;
  const rows = rowsOf(screen, theme);
  const width = columns * CELL.width + 2 * MARGIN;
  const height = rows.length * CELL.height + 2 * MARGIN;
  const boxes: string[] = [];
  const lines: string[] = [];
  for (const [at, runs] of rows.entries()) {
    const y = MARGIN + at * CELL.height;
    const spans: string[] = [];
    for (const { text, column, textStyle } of runs) {
      const [color, behind] = textStyle.reverse
        ? [textStyle.behind ?? paper, textStyle.color ?? ink]
        : [textStyle.color ?? ink, textStyle.behind];
      const length = [...text].length * CELL.width;
      const x = MARGIN + column * CELL.width;
      if (behind !== null) {
        boxes.push(`<rect x="${x}" y="${y}" width="${length}" height="${CELL.height}" fill="${behind}"/>`);
      }
      // Leading spaces are placed by position, because SVG drops leading spaces and collapses repeated ones.
      const words = text.trim();
      if (words === "") continue;
      const start = x + (text.length - text.trimStart().length) * CELL.width;
      const style = [
        ...color === ink ? [] : [`fill="${color}"`],
        ...textStyle.bold ? ['font-weight="bold"'] : [],
        ...textStyle.italic ? ['font-style="italic"'] : [],
        ...textStyle.dim ? ['opacity=".65"'] : [],
        ...textStyle.underline ? ['text-decoration="underline"'] : [],
      ];
      // The fixed length keeps the width of a cell with any font.
      const fit = `textLength="${[...words].length * CELL.width}"`;
      spans.push(
        `<tspan x="${start}" ${[fit, ...style].join(" ")}>${
          escaped(words.replaceAll("  ", "\u00a0\u00a0"))
        }</tspan>`,
      );
    }
    if (spans.length > 0) lines.push(`<text y="${y + 13}">${spans.join("")}</text>`);
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${width}" height="${height}" rx="8" fill="${paper}"/>`,
    ...boxes,
    `<g fill="${ink}" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="13">`,
    ...lines,
    "</g>",
    "</svg>",
    "",
  ].join("\n");
}
