// Writes docs/project/performance.md from the latest benchmark results.

import { cellsOf, type Row } from "../../../bench/harness.ts";
import { type Measured, readRecord } from "../../../bench/record/record.ts";

const HEAD = `# Performance

What the program takes, as \`deno task bench\` measured it last. Milliseconds are those of one machine and of what else it did at that time;
what holds anywhere are the ratios, each to a case of the same run. A goal is the most that a ratio may be, or a figure that has none; where one is
missed that stands there too. [architecture.md](architecture.md) says why the figures are as they are.

\`deno task bench NAME\` measures one bench, \`deno task bench NAME --against DIR\` compares with another checkout pair by pair. With \`--record\` the figures are
kept in \`bench/record/figures.json\`, from which \`deno task generate\` makes this page. \`deno task bench --report\` is a short form, which CI prints
behind the tests: it says how fast, and fails nothing.
`;

export async function generate(): Promise<{ path: string; text: string }[]> {
  return [{ path: "docs/project/performance.md", text: pageOf(await readRecord()) }];
}

/** The page for some benchmarks, sorted by name. */
export function pageOf(measured: readonly Measured[]): string {
  const parts = [...measured].sort((a, b) => a.bench < b.bench ? -1 : 1).map(partOf);
  return [HEAD, ...parts].join("\n");
}

function partOf({ bench, about, day, version, machine, rows }: Measured): string {
  const { deno, system, processor, cores, load } = machine;
  const place = [processor, system].filter((words) => words !== "").join(", ");
  const busy = load > cores
    ? ` The machine was busy: ${load} processes wanted to run at the same time, so milliseconds are far too high and ratios uncertain; on a quiet machine both are lower.`
    : "";
  return [
    `## ${bench}`,
    "",
    `${sentence(about)} Measured on ${day} with version ${version} and Deno ${deno} on ${cores} ${
      cores === 1 ? "core" : "cores"
    } (${place}).${busy}`,
    "",
    "| case | figure | beside | goal |",
    "| --- | --- | --- | --- |",
    ...rows.map(rowOf),
    "",
  ].join("\n");
}

function rowOf(row: Row): string {
  const [name, value, beside, goal, rating] = cellsOf(row);
  return `| ${
    [name, value, beside, rating === "" ? goal : `${goal}, ${rating === "ok" ? "met" : "missed"}`]
      .map((cell) => cell.replaceAll("|", "\\|")).join(" | ")
  } |`;
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}
