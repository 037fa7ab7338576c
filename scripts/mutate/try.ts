// Tries mutants: puts each into a copy of the project, and runs the test files that cover its line.

import { PROGRAMS } from "../generate/programs.ts";
import type { Covered } from "./coverage.ts";
import type { Mutant } from "./mutants.ts";

/** The result for a mutant. */
export interface MutantResult {
  readonly mutant: Mutant;
  /** `killed`: a test failed; `uncovered`: no test runs the line; `survived`: all tests passed. */
  readonly outcome: "killed" | "survived" | "uncovered";
  /** The test file that detected the mutant. */
  readonly by: string | null;
}

/**
 * Minimum number of seconds after which a test run counts as detecting the mutant, because the mutant made it endless.
 */
const LONGEST = 60;
/** Factor by which a test may be slower than during coverage, on a busy machine. */
const SLOWER = 4;

/**
 * True if a line is next to a covered one, so that it may have run too. A line with a condition and its `return`
 * counts as run only if both did.
 */
function isNear(lines: readonly number[], line: number): boolean {
  return lines.some((each) => Math.abs(each - line) <= 2);
}

/**
 * Number of mutants of a source file that each test has detected. Such a test probably detects the next one of that
 * file too.
 */
const noticed = new Map<string, number>();

function noticedBy(test: string, file: string): number {
  return noticed.get(`${test} ${file}`) ?? 0;
}

/**
 * Returns the file with the text of a program that flemma starts, if this is its first module: tests that load the text
 * run the program in another process, where coverage does not see it.
 */
function bundledText(file: string): string | null {
  return PROGRAMS.find(({ module }) => module === file)?.path ?? null;
}

/** Bundles the programs of a copy of the project again. */
const BUNDLE = `import { generate } from "./scripts/generate/programs.ts";
for (const { path, text } of await generate()) await Deno.writeTextFile(path, text);`;

/** A copy of the project for one mutant at a time. */
export class Bench {
  /** Absolute path of the copy. */
  readonly root: string;

  private constructor(root: string) {
    this.root = root;
  }

  static async make(root: string, name: string): Promise<Bench> {
    const copy = `${root}/.cache/mutate/${name}`;
    await Deno.remove(copy, { recursive: true }).catch(() => {});
    await Deno.mkdir(copy, { recursive: true });
    const { success } = await new Deno.Command("sh", {
      args: ["-c", 'git ls-files -z -co --exclude-standard | xargs -0 cp --parents -t "$1"', "sh", copy],
      cwd: root,
    }).output();
    if (!success) throw new Error(`the project cannot be copied to ${copy}`);
    return new Bench(copy);
  }

  /**
   * Runs the tests that cover the mutant's line until one fails: first those that detected the most mutants of this
   * file for the time they take, then the fastest of the others.
   */
  async try(mutant: Mutant, coverage: readonly Covered[]): Promise<MutantResult> {
    const text = bundledText(mutant.file);
    const tests = coverage.filter(({ lines }) =>
      lines === null || (text === null ? isNear(lines[mutant.file] ?? [], mutant.line) : text in lines)
    )
      .sort((a, b) =>
        noticedBy(b.test, mutant.file) / b.time - noticedBy(a.test, mutant.file) / a.time || a.time - b.time
      );
    if (tests.length === 0) return { mutant, outcome: "uncovered", by: null };
    const path = `${this.root}/${mutant.file}`;
    const code = await Deno.readTextFile(path);
    await Deno.writeTextFile(path, code.split("\n").with(mutant.line - 1, mutant.after).join("\n"));
    try {
      if (text !== null) await this.#bundle();
      for (const { test, time } of tests) {
        if (!await this.#passes(test, LONGEST + SLOWER * time / 1000)) {
          noticed.set(`${test} ${mutant.file}`, noticedBy(test, mutant.file) + 1);
          return { mutant, outcome: "killed", by: test };
        }
      }
      return { mutant, outcome: "survived", by: null };
    } finally {
      await Deno.writeTextFile(path, code);
      if (text !== null) await this.#bundle();
    }
  }

  async #bundle(): Promise<void> {
    const args = ["eval", "--ext=ts", BUNDLE];
    const { success } = await new Deno.Command(Deno.execPath(), { args, cwd: this.root, stdin: "null" })
      .output();
    if (!success) throw new Error(`the programs in ${this.root} cannot be bundled`);
  }

  async #passes(test: string, seconds: number): Promise<boolean> {
    const { success } = await new Deno.Command("timeout", {
      args: [
        "-k",
        "5",
        String(seconds),
        Deno.execPath(),
        "test",
        "-A",
        "--no-check",
        "--quiet",
        "--fail-fast",
        test,
      ],
      cwd: this.root,
      env: { NO_COLOR: "1" },
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).output();
    return success;
  }
}
