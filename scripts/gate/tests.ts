// Runs `deno test`, shows its output, and counts what passed and failed.

import { walk } from "../mutate/walk.ts";
import { currentEditors, releases } from "../../tests/editors/current.ts";
import { print, ROOT } from "./root.ts";

export interface Counts {
  readonly passed: number;
  readonly failed: number;
}

/** Returns the count of a step that is not a test, which passes or fails. */
export function countOf(holds: boolean): Counts {
  return holds ? { passed: 0, failed: 0 } : { passed: 0, failed: 1 };
}

export function total(counts: readonly Counts[]): Counts {
  return counts.reduce(
    (sum, { passed, failed }) => ({ passed: sum.passed + passed, failed: sum.failed + failed }),
    { passed: 0, failed: 0 },
  );
}

/**
 * Reads the counts from the end of the output of `deno test`. A run that failed without a failed test counts as one
 * failure.
 */
export function summaryOf(tail: string, code: number): Counts {
  const summary = [...tail.matchAll(/^(?:ok|FAILED) \| (\d+) passed.*?\| (\d+) failed/gm)].at(-1);
  const failed = Number(summary?.[2] ?? 0);
  return { passed: Number(summary?.[1] ?? 0), failed: code !== 0 && failed === 0 ? 1 : failed };
}

/**
 * Finds a test that hangs in the end of the output of `deno test`: it has been running for 16 minutes, far longer than
 * any test takes. Deno prints such a line each time the duration has doubled.
 */
export function hangingTest(tail: string): string | null {
  return /^'(.+)' has been running for over \(16m0s\)$/m.exec(tail)?.[1] ?? null;
}

/** Counts the results in the output of a run that was ended before its summary. The hanging test counts as failed. */
export function countsOfLines(printed: string): Counts {
  const count = (result: string) =>
    [...printed.matchAll(new RegExp(`^\\S.* \\.\\.\\. ${result} \\(`, "gm"))].length;
  return { passed: count("ok"), failed: count("FAILED") + 1 };
}

/**
 * Returns why the tests cannot run with this Deno, by its real path; null if they can. Commands in the sandbox may
 * write to all of `/tmp`, so flemma runs no program there outside the sandbox: tests of that would fail, and one hangs.
 */
export function misplacedDeno(path: string): string | null {
  return path.startsWith("/tmp/")
    ? `Deno is below /tmp (${path}), where commands in the sandbox may write, so tests would fail or hang.\n` +
      "Move Deno to another folder, such as /usr/local/bin or ~/.local/bin, and start the tests again."
    : null;
}

/** Suffix of test files that are slow and that ordinary changes hardly break. Their first line says what they need. */
const SLOW = "_slow_test.ts";

/** Returns the paths of all test files in the project, sorted. */
export async function testFiles(root: string = ROOT): Promise<string[]> {
  const found: string[] = [];
  for await (const path of walk(`${root}/tests`, "_test.ts")) found.push(path.slice(root.length + 1));
  return found.sort();
}

/** Returns the paths of slow tests. */
export async function slowTests(root: string = ROOT): Promise<string[]> {
  return (await testFiles(root)).filter((path) => path.endsWith(SLOW));
}

/**
 * Number of test files that share one module and so load the program once. Loading it for each file takes longer than
 * most tests.
 */
const GROUP = 14;

/** Splits test files into groups of the same room; each group mixes files from the whole room. */
export function groupsOf(files: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, readonly string[]>();
  for (const [room, paths] of Map.groupBy(files, (path) => path.split("/")[1]!)) {
    const count = Math.ceil(paths.length / GROUP);
    for (let group = 0; group < count; group++) {
      groups.set(`${room}_${group + 1}`, paths.filter((_, at) => at % count === group));
    }
  }
  return groups;
}

export interface TestOptions {
  /** The command that starts the program as a process. @default its sources */
  readonly program?: readonly string[];
  /** True to run slow tests too, and every command as a process. @default true, with commands inside the tests */
  readonly all?: boolean;
  /** True to check the types of the tests. @default true */
  readonly check?: boolean;
}

/** Runs the tests given by arguments of `deno test`; all if there are none. */
export async function runTests(
  args: readonly string[],
  { program, all, check = true }: TestOptions = {},
): Promise<Counts> {
  const misplaced = misplacedDeno(Deno.realPathSync(Deno.execPath()));
  if (misplaced !== null) {
    print(misplaced);
    return { passed: 0, failed: 1 };
  }
  const missing = await missingBubblewrap();
  if (missing !== null) {
    print(`The tests need bubblewrap (the program bwrap), because they run real commands in a real sandbox.`);
    print(`${missing}`);
    print(
      `Install it with your package manager, for instance: apt-get update && apt-get install -y bubblewrap`,
    );
    return { passed: 0, failed: 1 };
  }
  const env: Record<string, string> = program === undefined
    ? {}
    : { FLEMMA_TEST_PROGRAM: JSON.stringify(program) };
  if (all === true) {
    env.FLEMMA_TEST_PROCESSES = "1";
    const current = currentEditors();
    const path = Deno.env.get("PATH") ?? "/usr/bin:/bin";
    if (current !== null) env.PATH = `${current}:${path}`;
    const which = current === null
      ? "those of this machine (current releases: deno run -A tests/editors/current.ts)"
      : `current releases in ${current}`;
    print(`Editors: ${which}: ${await releases(env.PATH ?? path)}`);
  }
  const run = (what: readonly string[]) =>
    denoTest(["--parallel", ...(check ? [] : ["--no-check"]), ...what], env);
  if (args.length > 0) return await run(args);
  const folder = await Deno.makeTempDir({ dir: "/var/tmp", prefix: "flemma-groups-" });
  try {
    const files = await testFiles();
    const groups: string[] = [];
    for (const [name, paths] of groupsOf(files.filter((path) => !path.endsWith(SLOW)))) {
      const imports = paths.map((path) => `import ${JSON.stringify(`file://${ROOT}/${path}`)};\n`);
      await Deno.writeTextFile(`${folder}/${name}_test.ts`, imports.join(""));
      groups.push(`${folder}/${name}_test.ts`);
    }
    return await run([...groups, ...(all === true ? await slowTests() : [])]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Runs the examples in the documentation of modules, and in pages without consoles. */
export function runDocTests(paths: readonly string[]): Promise<Counts> {
  return denoTest(["--doc", ...paths]);
}

/**
 * Number of test files that run in parallel, one more than there are processors, because many tests wait for other
 * processes.
 */
const JOBS = String(navigator.hardwareConcurrency + 1);

async function denoTest(args: readonly string[], env: Record<string, string> = {}): Promise<Counts> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["test", "-A", ...args],
    cwd: ROOT,
    env: { NO_COLOR: "1", DENO_JOBS: Deno.env.get("DENO_JOBS") ?? JOBS, ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  // The summary is read from the displayed stream, so that both always agree.
  let printed = "";
  let hanging: string | null = null;
  const decoder = new TextDecoder();
  for await (const chunk of child.stdout) {
    await Deno.stdout.write(chunk);
    printed += decoder.decode(chunk, { stream: true });
    if (hanging === null && (hanging = hangingTest(printed.slice(-4000))) !== null) child.kill("SIGKILL");
  }
  const { code } = await child.status;
  if (hanging === null) return summaryOf(printed.slice(-4000), code);
  print(`The tests were ended: '${hanging}' hangs. Run its file alone: deno test -A FILE`);
  return countsOfLines(printed);
}

async function missingBubblewrap(): Promise<string | null> {
  try {
    const { success } = await new Deno.Command("bwrap", {
      args: ["--version"],
      stdout: "null",
      stderr: "null",
    })
      .output();
    return success ? null : "A program bwrap is there, but `bwrap --version` fails.";
  } catch (error) {
    return error instanceof Deno.errors.NotFound ? "There is no bwrap on the PATH." : String(error);
  }
}
