// Writes docs/project/performance.md from the latest benchmark results.

import { cellsOf, type Row } from "../../../bench/harness.ts";
import { type Measured, readRecord } from "../../../bench/record/record.ts";

const HEAD = `# Performance

This page contains the last results of \`deno task bench\`. Milliseconds depend on the machine and its load, so compare the ratios: each compares
a case with another case of the same run. A goal is the highest allowed ratio, or the highest allowed figure if there is no ratio. Goals for MB/s and
for other parsers are the lowest allowed figures. [architecture.md](architecture.md) explains the figures.

\`deno task bench NAME\` runs one benchmark, and \`--against DIR\` compares it with another checkout in pairs. \`--record\` stores the figures in
\`bench/record/figures.json\`, from which \`deno task generate\` makes this page. CI prints the short form \`deno task bench --report\`, which never fails.
`;

export async function generate(): Promise<{ path: string; text: string }[]> {
  return [{ path: "docs/project/performance.md", text: pageOf(await readRecord()) }];
}

/**
 * The page for some benchmarks, sorted by name. What most of them share about the measurement is said once, above
 * them.
 */
export function pageOf(measured: readonly Measured[]): string {
  const shared = Map.groupBy(measured, circumstances);
  const [common, uses] = [...shared].reduce<[string, number]>(
    (most, [words, { length }]) => length > most[1] ? [words, length] : most,
    ["", 1],
  );
  const head = uses === 1 ? HEAD : `${HEAD}\nUnless a section says otherwise: measured ${common}\n`;
  const parts = [...measured].sort((a, b) => a.bench < b.bench ? -1 : 1)
    .map((each) => partOf(each, circumstances(each) === common ? "" : ` Measured ${circumstances(each)}`));
  return [head, ...parts].join("\n");
}

/** When and on what a benchmark was measured, as the end of a sentence. */
function circumstances({ day, version, machine }: Measured): string {
  const { deno, system, processor, cores, load } = machine;
  const place = [processor, system].filter((words) => words !== "").join(", ");
  const busy = load > cores
    ? ` The machine was busy (load ${load}): milliseconds are too high and ratios are uncertain.`
    : "";
  return `on ${day} with version ${version} and Deno ${deno} on ${cores} ${
    cores === 1 ? "core" : "cores"
  } (${place}).${busy}`;
}

function partOf({ bench, about, rows }: Measured, measuredWhere: string): string {
  return [
    `## ${bench}`,
    "",
    `${sentence(about)}${measuredWhere}`,
    "",
    "| case | figure | ratio | goal |",
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
