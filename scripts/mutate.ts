// Mutation testing of a room: `deno task mutate ROOM [--sample N] [--seed S] [--file PATH] [--statements | --second-checks]`, or
// `--again` for mutants that no test detected last time. It changes lines that refuse something, one at a time, or
// with `--statements` leaves out one statement at a time, or with `--second-checks` one check below a lock. The tests that run the line must detect the change. PATH is
// a file or a folder.

import { print, ROOT } from "./gate/root.ts";
import { coverageOf } from "./mutate/coverage.ts";
import { droppedStatementsOf, type Mutant, mutantsOf, secondChecksOf } from "./mutate/mutants.ts";
import { sample } from "./mutate/sample.ts";
import { Bench, type MutantResult } from "./mutate/try.ts";
import { walk } from "./mutate/walk.ts";

/** Number of mutants that are tried in parallel. */
const WORKERS = 2;
const LEAST_SCORE = 90;

const { room, count, seed, only, again, list } = argumentsOf(Deno.args);
const mutants: Mutant[] = [];
const sources: string[] = [];
for await (const path of walk(`${ROOT}/${room}`, ".ts")) {
  const file = path.slice(ROOT.length + 1);
  sources.push(file);
  if (path.endsWith(".generated.ts")) continue;
  if (only !== null && file !== only && !file.startsWith(`${only}/`)) continue;
  mutants.push(...list(file, await Deno.readTextFile(path)));
}
const known = await equivalents();
const last = `${ROOT}/.cache/mutate/last_${room}.json`;
const earlier = again ? new Set(JSON.parse(await Deno.readTextFile(last)) as string[]) : null;
const open = mutants.filter((mutant) => !known.has(keyOf(mutant)) && earlier?.has(keyOf(mutant)) !== false);
const picked = again ? open : sample(open, count, seed);
print(
  `${mutants.length} mutants of ${sources.length} files, ${known.size} known to be equivalent, ${picked.length} tried`,
);

const tests: string[] = [];
for await (const path of walk(`${ROOT}/tests/${room}`, "_test.ts")) tests.push(path.slice(ROOT.length + 1));
const benches = await Promise.all(
  Array.from({ length: WORKERS }, (_, index) => Bench.make(ROOT, `${room}${index}`)),
);
const kept = `${ROOT}/.cache/mutate/coverage`;
const roots = benches.map(({ root }) => root);
const coverage = await coverageOf(roots, kept, tests, sources, (what) => print(`  ${what}`));
const results: MutantResult[] = [];
const waiting = [...picked];
await Promise.all(
  benches.map(async (bench) => {
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const result = await bench.try(mutant, coverage);
      results.push(result);
      if (result.outcome !== "killed") print(shown(result));
      if (results.length % 10 === 0) print(`  ${results.length} of ${picked.length} tried`);
    }
  }),
);
const killed = results.filter(({ outcome }) => outcome === "killed").length;
const missed = results.filter(({ outcome }) => outcome !== "killed").map(({ mutant }) => keyOf(mutant));
await Deno.writeTextFile(last, JSON.stringify(missed));
const score = results.length === 0 ? 100 : 100 * killed / results.length;
print(
  `${room}: ${killed} of ${results.length} mutants killed, ${
    score.toFixed(1)
  } % (sample ${count}, seed ${seed})`,
);
Deno.exit(score >= LEAST_SCORE ? 0 : 1);

function shown({ mutant: { file, line, before, after, change }, outcome }: MutantResult): string {
  return `${outcome} ${file}:${line} ${change}\n  - ${before.trim()}\n  + ${after.trim()}`;
}

function keyOf({ file, before, after }: Mutant): string {
  return [file, before.trim(), after.trim()].join(" | ");
}

async function equivalents(): Promise<ReadonlySet<string>> {
  const text = await Deno.readTextFile(new URL("mutate/equivalents.txt", import.meta.url));
  return new Set(
    text.split("\n").filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => line.split(" | ").slice(0, -1).join(" | ")),
  );
}

function argumentsOf(words: readonly string[]) {
  const [room = ""] = words;
  const option = (name: string) =>
    words.find((word) => word.startsWith(`--${name}=`))?.split("=")[1] ??
      (words.includes(`--${name}`) ? words[words.indexOf(`--${name}`) + 1] : undefined);
  if (!/^[a-z]+$/.test(room)) {
    print(
      "usage: deno task mutate ROOM [--sample N] [--seed S] [--file PATH] [--statements | --second-checks] [--again]",
    );
    Deno.exit(2);
  }
  return {
    room,
    again: words.includes("--again"),
    list: words.includes("--statements")
      ? droppedStatementsOf
      : words.includes("--second-checks")
      ? secondChecksOf
      : mutantsOf,
    count: Number(option("sample") ?? 120),
    seed: Number(option("seed") ?? 1),
    only: option("file") ?? null,
  };
}
