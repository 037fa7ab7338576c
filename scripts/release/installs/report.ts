// What was found about ways of installing, as the table of docs/install.md.

import { ROOT } from "../../gate/root.ts";
import { type Tool, versionOf } from "./tools.ts";
import { type Findings, type Part, PARTS } from "./try.ts";
import type { Way } from "./ways.ts";

const PAGE = `${ROOT}/docs/install.md`;
const BEGIN = "<!-- installs: made by `deno task installs --record` -->";
const END = "<!-- end of installs -->";

/** One row a way, one column a part. */
export function tableOf(found: ReadonlyMap<Way, Findings>): string {
  const rows = [...found].map(([{ name, tools }, findings]) => {
    const versions = tools.map((tool) => `${nameOf(tool)} ${versionOf(tool)}`);
    return `| ${[name, versions.join(", "), ...PARTS.map((part) => cell(findings, part))].join(" | ")} |`;
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

/** Puts a table between the marks of the page. */
export async function written(table: string): Promise<void> {
  const page = await Deno.readTextFile(PAGE);
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from < 0 || to < from) {
    throw new Error("docs/install.md has lost the marks around the table of installs.");
  }
  await Deno.writeTextFile(PAGE, `${page.slice(0, from + BEGIN.length)}\n\n${table}\n\n${page.slice(to)}`);
}
