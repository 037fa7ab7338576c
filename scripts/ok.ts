// The gate: format, lint, types, layers, generated files, the library's documentation, and the tests including the
// documented examples. Its last line is `N passed, N failed`; a step without tests counts if it fails.
//
//   ok.ts            all steps, without the slow tests
//   ok.ts --all      all steps with all tests, in which each command is a process of the bundle
//   ok.ts --stop     up to the first step that fails, also with --all
//   ok.ts WORD…      only the tests that these arguments of `deno test` name, with the program's sources

import { exampleSources, isDocumented } from "./gate/documentation.ts";
import { staleFiles } from "./gate/generated.ts";
import { checkTree } from "./gate/layer_faults.ts";
import { print, ROOT, run } from "./gate/root.ts";
import { countOf, type Counts, runDocTests, runTests, slowTests, total } from "./gate/tests.ts";
import { fromBundle } from "./gate/ways.ts";

const deno = Deno.execPath();
type Step = readonly [name: string, run: () => Promise<Counts>];

const CHECKS: readonly Step[] = [
  ["format", async () => countOf(await run(deno, ["fmt", "--check", "--quiet"]) === 0)],
  ["lint", async () => countOf(await run(deno, ["lint", "--quiet"]) === 0)],
  ["types", async () => countOf(await run(deno, ["check", "--quiet", "."]) === 0)],
  ["layers", () => reportFaults(checkTree(ROOT))],
  ["generated files (stale ones are mended by `deno task generate`)", () => reportFaults(staleFiles(ROOT))],
  ["documentation of the library", async () => countOf(await isDocumented())],
  ["examples in documentation", async () => await runDocTests(await exampleSources())],
];

const words = Deno.args.filter((word) => word !== "--stop" && word !== "--all");
const stop = Deno.args.includes("--stop");
const all = Deno.args.includes("--all");
const { passed, failed } = words.length > 0 ? await runTests(words) : await runWithBundle();
if (words.length === 0 && !all) {
  print(`${(await slowTests()).length} files of slow tests (tests/**/*_slow_test.ts) run with --all only.`);
}
print(`${passed} passed, ${failed} failed`);
Deno.exit(failed === 0 ? 0 : 1);

/**
 * Runs all steps. The tests start the program as distributed, which is also much faster to start; another process builds it
 * while the checks run.
 */
async function runWithBundle(): Promise<Counts> {
  const folder = await Deno.makeTempDir({ dir: "/var/tmp", prefix: "flemma-gate-" });
  const building = new Deno.Command(deno, {
    args: ["run", "-A", "--quiet", `${ROOT}/scripts/build.ts`, "program", `${folder}/bundle`],
    stdin: "null",
  }).spawn();
  const testBundle = async () => {
    if (!(await building.status).success) return { passed: 0, failed: 1 };
    const { program } = fromBundle(`${folder}/bundle`);
    return await runTests([], { program, all, check: false });
  };
  try {
    return await runSteps([...CHECKS, ["tests", testBundle]]);
  } finally {
    await building.status;
    await Deno.remove(folder, { recursive: true });
  }
}

async function runSteps(steps: readonly Step[]): Promise<Counts> {
  const counts: Counts[] = [];
  const broken: string[] = [];
  for (const [name, step] of steps) {
    print(`== ${name}`);
    const count = await step();
    counts.push(count);
    if (count.failed === 0) continue;
    print(`FAILED: ${name}`);
    broken.push(name);
    if (stop) break;
  }
  print(broken.length === 0 ? "all green" : `FAILED: ${broken.join("; ")}`);
  return total(counts);
}

async function reportFaults(faults: Promise<string[]>): Promise<Counts> {
  const lines = await faults;
  for (const line of lines) print(`  ${line}`);
  return countOf(lines.length === 0);
}
