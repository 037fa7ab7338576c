// The results of installing, as the table of docs/reference/install.md.

import { ROOT } from "../../gate/root.ts";
import { type Tool, versionOf } from "./tools.ts";
import { type Findings, type Part, PARTS } from "./try.ts";
import { type Way, WAYS } from "./ways.ts";

const PAGE = `${ROOT}/docs/reference/install.md`;
const BEGIN = "<!-- installs: made by `deno task installs --record` -->";
const END = "<!-- end of installs -->";

/** Returns the first two cells of a way's row, which identify it. */
export function keyOf({ name, tools }: Way): string {
  return `| ${name} | ${tools.map((tool) => `${nameOf(tool)} ${versionOf(tool)}`).join(", ")} |`;
}

/** Returns one row per way, with one column per part. A way that was not tried now keeps its row. */
export function tableOf(found: ReadonlyMap<Way, Findings>, earlier: readonly string[]): string {
  const rows = WAYS.flatMap((way) => {
    const key = keyOf(way);
    const findings = found.get(way);
    if (findings === undefined) return earlier.filter((row) => row.startsWith(key));
    return [`${key} ${PARTS.map((part) => cell(findings, part)).join(" | ")} |`];
  });
  return [
    `| way | tried with | ${PARTS.join(" | ")} |`,
    `| --- | --- |${" --- |".repeat(PARTS.length)}`,
    ...rows,
  ].join("\n");
}

function nameOf(tool: Tool): string {
  const name = tool.replace(/\d+$/, "");
  return { node: "Node", yarn: "Yarn", bun: "Bun" }[name] ?? name;
}

function cell(findings: Findings, part: Part): string {
  const fault = findings.get(part);
  return fault === undefined ? "" : fault === null ? "yes" : "**no**";
}

/** Writes the results into the table of the page. */
export async function record(found: ReadonlyMap<Way, Findings>): Promise<void> {
  const page = await Deno.readTextFile(PAGE);
  const { from, to, rows } = tableIn(page);
  await Deno.writeTextFile(PAGE, `${page.slice(0, from)}\n\n${tableOf(found, rows)}\n\n${page.slice(to)}`);
}

/** Returns the position of the table in the page, and its rows. */
export function tableIn(page: string): { from: number; to: number; rows: string[] } {
  const [begin, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || to < begin) {
    throw new Error("docs/reference/install.md has lost the marks around the table of installs.");
  }
  const from = begin + BEGIN.length;
  return { from, to, rows: page.slice(from, to).split("\n").filter((line) => line !== "") };
}
