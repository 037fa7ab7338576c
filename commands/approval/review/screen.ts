// A call as lines of a terminal: everything of it, wrapped where it is too wide, with marks that it cannot write itself.

import { explanationLines, nameOf } from "../../../agent/views/explanation.ts";
import { decidedBy } from "../../../agent/views/decided_by.ts";
import type { ShownCall, ShownPart } from "../../../agent/types.ts";
import { visible } from "../../../base/visible.ts";
import { cutToWidth, displayWidth } from "../../../base/width.ts";

/** How lines are made. */
export interface Look {
  /** Cells of a line. */
  readonly width: number;
  readonly colours: boolean;
}

/** What stands before each line that a model wrote, and before the rest of one that is too wide. */
const GUTTER = "│ ";
const REST = "┆ ";

const TAB = 8;

/** Codes of the terminal for colours. */
const COLOURS = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;
type Colour = keyof typeof COLOURS;

/** A text in a colour, where there are any. */
export function coloured(text: string, colour: Colour, { colours }: Look): string {
  return colours && text !== "" ? `\x1b[${COLOURS[colour]}m${text}\x1b[0m` : text;
}

/** The call, what surrounds it and why it is asked about. `label` is the document as the person named it. */
export function callLines(shown: ShownCall, label: string, waiting: number, look: Look): string[] {
  const { id, number, tool, parts, warnings, folder, wall } = shown;
  const many = waiting === 1 ? "" : `   ${waiting} calls wait`;
  const head = cutToWidth(visible(`${label}  #${number} ${tool}  ${id}${many}`), look.width);
  return [
    coloured(head, "bold", look),
    ...facts([["in", folder], ["runs", wall], ["policy", whoDecides(shown)]], look),
    ...warnings.flatMap((warning) =>
      sentence(`! ${warning}`, look.width).map((line) => coloured(line, "yellow", look))
    ),
    ...parts.flatMap((part) => partLines(part, look)),
  ];
}

/** What policy says of the call today and why, in a sentence without its full stop. */
function whoDecides({ explained: { decision, source, detail, rule, commands } }: ShownCall): string {
  const stopped = commands.find((part) => part.rule === null);
  const why = detail ?? (stopped === undefined ? null : `"${stopped.text}": ${stopped.why}`);
  const because = why === null || decision === "approve" ? "" : `: ${why}`;
  if (source === "default") return `nobody decides about it${because}`;
  const word = { approve: "would approve it", require_approval: "asks", deny: "denies it" }[decision];
  return `${word} (${decidedBy(source, rule !== null)})${because}`;
}

/** Cells that the table of resolvers takes at the least. */
const TABLE_WIDTH = 70;

/** Why the call is decided as it is, resolver by resolver: a table, or sentences where there is no room for one. */
export function reasonLines({ explained }: ShownCall, { width }: Look): string[] {
  if (width >= TABLE_WIDTH) {
    return explanationLines(explained).flatMap((line) => wrapped(visible(line), width));
  }
  return explained.chain.flatMap(({ name, priority, answer, detail }) => {
    const who = `${priority < 0 ? "" : `${priority} `}${nameOf(name)}`;
    const why = detail === "" ? "" : `: ${detail.replaceAll("\n", "; ")}`;
    return sentence(visible(`${who} ${answer === "absent" ? "-" : answer}${why}`), width);
  });
}

function facts(rows: readonly (readonly [string, string])[], look: Look): string[] {
  return rows.flatMap(([name, text]) =>
    sentence(visible(text), look.width - 8).map((line, at) =>
      `${coloured((at === 0 ? name : "").padEnd(7), "dim", look)} ${line}`
    )
  );
}

function partLines({ kind, name, text }: ShownPart, look: Look): string[] {
  const title = kind === "label" ? `${name} (in the model's words)` : name;
  const lines = text.replace(/\n$/, "").split("\n");
  const [only = ""] = lines;
  const isShort = kind !== "diff" && kind !== "command" && lines.length === 1 && !only.includes("\t") &&
    displayWidth(`${title} ${GUTTER}${only}`) <= look.width;
  if (isShort) return [`${coloured(title, "cyan", look)} ${coloured(GUTTER, "dim", look)}${only}`];
  return [
    ...kind === "diff" ? [] : [coloured(cutToWidth(title, look.width), "cyan", look)],
    ...lines.flatMap((line) => contentLines(line, kind === "diff" ? diffColour(line) : null, look)),
  ];
}

function diffColour(line: string): Colour | null {
  if (line.startsWith("+++") || line.startsWith("---")) return "bold";
  if (line.startsWith("+")) return "green";
  if (line.startsWith("-")) return "red";
  return line.startsWith("@@") ? "cyan" : null;
}

/** One line that a model wrote. */
function contentLines(line: string, colour: Colour | null, look: Look): string[] {
  return wrapped(withoutTabs(line), look.width - GUTTER.length).map((piece, at) => {
    const mark = coloured(at === 0 ? GUTTER : REST, "dim", look);
    return `${mark}${colour === null ? piece : coloured(piece, colour, look)}`;
  });
}

/** Tabs as the blanks that a terminal makes of them. */
function withoutTabs(line: string): string {
  if (!line.includes("\t")) return line;
  return line.split("\t").reduce((before, piece) =>
    `${before}${" ".repeat(TAB - displayWidth(before) % TAB)}${piece}`
  );
}

/** A line in pieces that fit, none of it left out. Looks only at what may fit, however long the line is. */
export function wrapped(line: string, width: number): string[] {
  const room = Math.max(width, 2);
  const pieces: string[] = [];
  let at = 0;
  for (;;) {
    // A character is rarely longer than this, and one that is stands in several pieces.
    const rest = line.slice(at, at + room * 16 + 1);
    if (cutToWidth(rest, room) === rest) return [...pieces, rest];
    // One cell more is asked for, as the sign for a cut takes one.
    const piece = cutToWidth(rest, room + 1).slice(0, -1);
    // A single character that is wider than the room stands alone.
    const taken = piece === "" ? [...rest][0]! : piece;
    pieces.push(taken);
    at += taken.length;
  }
}

/** A sentence of ours in lines, broken between words where that is possible. */
export function sentence(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && displayWidth(last) + 1 + displayWidth(word) <= width) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else lines.push(...wrapped(word, width));
  }
  return lines;
}
