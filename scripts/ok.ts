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
import { print, ROOT, runCaptured } from "./gate/root.ts";
import { countOf, type Counts, runDocTests, runTests, slowTests, total } from "./gate/tests.ts";
import { fromBundle } from "./gate/ways.ts";

const deno = Deno.execPath();
type Step = readonly [name: string, run: () => Promise<Counts>];

const CHECKS: readonly Step[] = [
  ["format", async () => countOf(await runCaptured(deno, ["fmt", "--check", "--quiet"]) === 0)],
  ["lint", async () => countOf(await runCaptured(deno, ["lint", "--quiet"]) === 0)],
  ["types", async () => countOf(await runCaptured(deno, ["check", "--quiet", "."]) === 0)],
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
 * Runs all steps. The tests start the program as distributed, which also starts much faster. They run at the same time
 * as the checks, because many of them wait for other processes; with `--stop` they run after the checks.
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
  const tests: Step = ["tests", testBundle];
  try {
    const results = stop
      ? await runSteps([...CHECKS, tests])
      : (await Promise.all([runSteps(CHECKS), runSteps([tests])])).flat();
    const broken = results.filter(({ counts }) => counts.failed > 0).map(({ name }) => name);
    print(broken.length === 0 ? "all green" : `FAILED: ${broken.join("; ")}`);
    return total(results.map(({ counts }) => counts));
  } finally {
    await building.status;
    await Deno.remove(folder, { recursive: true });
  }
}

interface StepResult {
  readonly name: string;
  readonly counts: Counts;
}

async function runSteps(steps: readonly Step[]): Promise<StepResult[]> {
  const results: StepResult[] = [];
  for (const [name, step] of steps) {
    print(`== ${name}`);
    const counts = await step();
    results.push({ name, counts });
    if (counts.failed === 0) continue;
    print(`FAILED: ${name}`);
    if (stop) break;
  }
  return results;
}

async function reportFaults(faults: Promise<string[]>): Promise<Counts> {
  const lines = await faults;
  for (const line of lines) print(`  ${line}`);
  return countOf(lines.length === 0);
}
