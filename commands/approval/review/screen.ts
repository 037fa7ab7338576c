// Renders a whole call as terminal lines. Wraps long lines, and marks the model's text in a way it cannot imitate.

import { explanationLines, resolverName } from "../../../agent/views/explanation.ts";
import { decidedBy } from "../../../agent/review/decided_by.ts";
import type { ShownCall, ShownPart } from "../../../agent/types.ts";
import { visible } from "../../../base/visible.ts";
import { cutToWidth, displayWidth } from "../../../base/width.ts";
import {
  type Color,
  colorize,
  sentence,
  type TerminalFormat,
  withoutTabs,
  wrapLine,
} from "../../../render/terminal/lines.ts";

/** Prefixes of a line that the model wrote, and of the lines that continue it. */
const GUTTER = "│ ";
const REST = "┆ ";

/**
 * Returns the call, its folder and sandbox, and why it needs a decision. `label` is the document as the person named
 * it.
 */
export function callLines(
  shown: ShownCall,
  label: string,
  waiting: number,
  format: TerminalFormat,
): string[] {
  const { id, number, tool, parts, warnings, folder, wall } = shown;
  const many = waiting === 1 ? "" : `   ${waiting} calls wait`;
  const head = cutToWidth(visible(`${label}  #${number} ${tool}  ${id}${many}`), format.width);
  return [
    colorize(head, "bold", format),
    ...facts([["in", folder], ["runs", wall], ["policy", whoDecides(shown)]], format),
    ...warnings.flatMap((warning) =>
      sentence(`! ${warning}`, format.width).map((line) => colorize(line, "yellow", format))
    ),
    ...parts.flatMap((part) => partLines(part, format)),
  ];
}

/** Returns how the current policy decides the call, and why, without a final period. */
function whoDecides({ explained: { decision, source, detail, rule, commands } }: ShownCall): string {
  const stopped = commands.find((part) => part.rule === null);
  const why = detail ?? (stopped === undefined ? null : `"${stopped.text}": ${stopped.why}`);
  const because = why === null || decision === "approve" ? "" : `: ${why}`;
  if (source === "default") return `no rule matches${because}`;
  const word = { approve: "would approve it", require_approval: "asks you", deny: "denies it" }[decision];
  return `${word} (${decidedBy(source, rule !== null)})${because}`;
}

/** Minimum width of the table of resolvers, in cells. */
const TABLE_WIDTH = 70;

/** Returns the answer of each resolver, as a table, or as sentences on a narrow terminal. */
export function reasonLines({ explained }: ShownCall, { width }: TerminalFormat): string[] {
  if (width >= TABLE_WIDTH) {
    return explanationLines(explained).flatMap((line) => wrapLine(visible(line), width));
  }
  return explained.chain.flatMap(({ name, priority, answer, detail }) => {
    const who = `${priority < 0 ? "" : `${priority} `}${resolverName(name)}`;
    const why = detail === "" ? "" : `: ${detail.replaceAll("\n", "; ")}`;
    return sentence(visible(`${who} ${answer === "absent" ? "-" : answer}${why}`), width);
  });
}

function facts(rows: readonly (readonly [string, string])[], format: TerminalFormat): string[] {
  return rows.flatMap(([name, text]) =>
    sentence(visible(text), format.width - 8).map((line, at) =>
      `${colorize((at === 0 ? name : "").padEnd(7), "dim", format)} ${line}`
    )
  );
}

function partLines({ kind, name, text }: ShownPart, format: TerminalFormat): string[] {
  const title = kind === "label" ? `${name} (in the model's words)` : name;
  const lines = text.replace(/\n$/, "").split("\n");
  const [only = ""] = lines;
  const isShort = kind !== "diff" && kind !== "command" && lines.length === 1 && !only.includes("\t") &&
    displayWidth(`${title} ${GUTTER}${only}`) <= format.width;
  if (isShort) return [`${colorize(title, "cyan", format)} ${colorize(GUTTER, "dim", format)}${only}`];
  return [
    ...kind === "diff" ? [] : [colorize(cutToWidth(title, format.width), "cyan", format)],
    ...lines.flatMap((line) => contentLines(line, kind === "diff" ? diffColor(line) : null, format)),
  ];
}

function diffColor(line: string): Color | null {
  if (line.startsWith("+++") || line.startsWith("---")) return "bold";
  if (line.startsWith("+")) return "green";
  if (line.startsWith("-")) return "red";
  return line.startsWith("@@") ? "cyan" : null;
}

/** Returns one line of the model's text as terminal lines. */
function contentLines(line: string, color: Color | null, format: TerminalFormat): string[] {
  return wrapLine(withoutTabs(line), format.width - GUTTER.length).map((piece, at) => {
    const mark = colorize(at === 0 ? GUTTER : REST, "dim", format);
    return `${mark}${color === null ? piece : colorize(piece, color, format)}`;
  });
}
