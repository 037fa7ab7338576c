// Finds which test files run which lines. It runs each test file once with coverage, and caches the result until the
// test file or a covered source file changes.

/** What one test file covers. */
export interface Covered {
  readonly test: string;
  /** Milliseconds that the test file took. */
  readonly time: number;
  /** Lines by source file, 1-based; null if the test is too long to be measured, so that it may run any line. */
  readonly lines: Readonly<Record<string, readonly number[]>> | null;
}

/**
 * Maximum number of milliseconds of a test, on a machine that may be busy. A longer test runs the program as a
 * process, which coverage does not measure, and each undetected mutant would have to wait for it.
 */
const LONGEST = 150_000;

interface Kept extends Covered {
  /** Hashes of the test file and of every source file in `lines`, or of all. */
  readonly hashes: Readonly<Record<string, string>>;
}

/**
 * Runs the test files, or loads their cached results. Calls `tell` before each run, and for failing tests. Failing
 * tests are excluded, because they would detect every mutant.
 * @param roots copies of the project for mutants, each running one test at a time
 * @param folder where results are cached
 */
export async function coverageOf(
  roots: readonly string[],
  folder: string,
  tests: readonly string[],
  sources: readonly string[],
  tell: (what: string) => void,
): Promise<Covered[]> {
  await Deno.mkdir(folder, { recursive: true });
  const covered: Covered[] = [];
  const waiting = [...tests];
  await Promise.all(roots.map(async (root) => {
    for (let test = waiting.shift(); test !== undefined; test = waiting.shift()) {
      const file = `${folder}/${test.replaceAll("/", "__")}.json`;
      const known = await readKept(file);
      if (known !== null && await isFresh(root, known)) {
        covered.push(known);
        continue;
      }
      tell(`covering ${test}`);
      const made = await measure(root, test, sources);
      if (made === null) {
        tell(`${test} fails without any mutant, or takes too long, and is left out`);
        continue;
      }
      await Deno.writeTextFile(file, JSON.stringify(made));
      covered.push(made);
    }
  }));
  return covered;
}

async function measure(root: string, test: string, sources: readonly string[]): Promise<Kept | null> {
  const profile = await Deno.makeTempDir({ prefix: "flemma-coverage-" });
  try {
    const measured = await timed(root, test, [`--coverage=${profile}`]);
    // Coverage makes a long test many times slower; without it the test may finish in time.
    const time = measured ?? await timed(root, test, []);
    if (time === null) return null;
    const lines = measured === null ? null : hitLines(await report(root, profile), root, sources);
    const paths = [test, ...(lines === null ? sources : Object.keys(lines))];
    const hashes = Object.fromEntries(
      await Promise.all(paths.map(async (path) => [path, await hashOf(root, path)])),
    );
    return { test, time, lines, hashes };
  } finally {
    await Deno.remove(profile, { recursive: true });
  }
}

/** Returns the milliseconds that a test takes; null if it fails or takes too long. */
async function timed(root: string, test: string, options: readonly string[]): Promise<number | null> {
  const began = performance.now();
  const { success } = await new Deno.Command("timeout", {
    args: [
      ...["-k", "5", String(LONGEST / 1000), Deno.execPath()],
      ...["test", "-A", "--no-check", "--quiet", ...options, test],
    ],
    cwd: root,
    env: { NO_COLOR: "1" },
    stdout: "null",
    stderr: "null",
  }).output();
  return success ? performance.now() - began : null;
}

/** Returns the profile in the lcov format. Its offsets are those of the transpiled code, which only Deno can map. */
async function report(root: string, profile: string): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["coverage", "--lcov", profile],
    cwd: root,
    env: { NO_COLOR: "1" },
    stdout: "piped",
    stderr: "null",
  }).output();
  return new TextDecoder().decode(stdout);
}

/** Returns the lines that ran, by source file. */
function hitLines(lcov: string, root: string, sources: readonly string[]): Record<string, number[]> {
  const lines: Record<string, number[]> = {};
  for (const record of lcov.split("end_of_record")) {
    const source = /^SF:(.*)$/m.exec(record)?.[1]?.replace(`${root}/`, "");
    if (source === undefined || !sources.includes(source)) continue;
    lines[source] = [...record.matchAll(/^DA:(\d+),(\d+)/gm)]
      .filter(([, , times]) => times !== "0").map(([, line]) => Number(line));
  }
  return lines;
}

async function readKept(file: string): Promise<Kept | null> {
  try {
    return JSON.parse(await Deno.readTextFile(file));
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return null;
    throw thrown;
  }
}

async function isFresh(root: string, { hashes }: Kept): Promise<boolean> {
  for (const [path, hash] of Object.entries(hashes)) {
    if (await hashOf(root, path) !== hash) return false;
  }
  return true;
}

async function hashOf(root: string, path: string): Promise<string> {
  const bytes = await Deno.readFile(`${root}/${path}`).catch(() => new Uint8Array());
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex().slice(0, 16);
}
