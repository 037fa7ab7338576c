// Runs `deno test`, shows its output, and counts what passed and failed.

import { print, ROOT } from "./root.ts";

export interface Counts {
  readonly passed: number;
  readonly failed: number;
}

/** The count of a step that is not a test: it passes or fails. */
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

/** Suffix of test files that are slow and that ordinary changes hardly break. Their first line says what they need. */
const SLOW = "_slow_test.ts";

/** The paths of slow tests. */
export async function slowTests(root: string = ROOT): Promise<string[]> {
  const found: string[] = [];
  const visit = async (folder: string): Promise<void> => {
    for await (const { name, isDirectory } of Deno.readDir(`${root}/${folder}`)) {
      if (isDirectory) await visit(`${folder}/${name}`);
      else if (name.endsWith(SLOW)) found.push(`${folder}/${name}`);
    }
  };
  await visit("tests");
  return found.sort();
}

export interface TestOptions {
  /** The command that starts the program as a process. @default its sources */
  readonly program?: readonly string[];
  /** Whether slow tests run too, and every command as a process. @default true, with commands inside the tests */
  readonly all?: boolean;
  /** Whether the tests' types are checked. @default true */
  readonly check?: boolean;
}

/** Runs the tests given by arguments of `deno test`; all if there are none. */
export async function runTests(
  args: readonly string[],
  { program, all, check = true }: TestOptions = {},
): Promise<Counts> {
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
  if (all === true) env.FLEMMA_TEST_PROCESSES = "1";
  const left = all === false ? [`--ignore=tests/**/*${SLOW}`] : [];
  return await denoTest(["--parallel", ...(check ? [] : ["--no-check"]), ...left, ...args], env);
}

/** Runs the examples in the documentation of modules, and in pages without consoles. */
export function runDocTests(paths: readonly string[]): Promise<Counts> {
  return denoTest(["--doc", ...paths]);
}

async function denoTest(args: readonly string[], env: Record<string, string> = {}): Promise<Counts> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["test", "-A", ...args],
    cwd: ROOT,
    env: { NO_COLOR: "1", DENO_JOBS: Deno.env.get("DENO_JOBS") ?? "2", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  // The summary is read from the displayed stream, so that both always agree.
  let tail = "";
  const decoder = new TextDecoder();
  for await (const chunk of child.stdout) {
    await Deno.stdout.write(chunk);
    tail = (tail + decoder.decode(chunk, { stream: true })).slice(-4000);
  }
  return summaryOf(tail, (await child.status).code);
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
