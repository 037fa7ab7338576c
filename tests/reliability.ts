// Reads two lists of one form. `tests/reliability.txt`: a promise behind `#`, its description, a fault behind `-`, and
// below it one line per test, with its file below `tests/` and its exact name. `tests/promises.txt`: a page behind `#`,
// a sentence of it behind `-`, and below it its tests, or behind `=` why it needs none.

/** A test, or a row of a table that a test goes through. */
export interface NamedTest {
  readonly file: string;
  readonly name: string;
}

/** A promise with the faults that it is attacked by. */
export interface Promised {
  readonly promise: string;
  readonly words: string;
  readonly faults: readonly Held[];
}

/** A fault, or a promising sentence of a page. */
export interface Held {
  readonly fault: string;
  readonly tests: readonly NamedTest[];
  /** Why a sentence needs no test. */
  readonly reason: string | null;
}

/** Reads a list; throws at a line that is none of these. */
export async function readReliability(list = "reliability.txt"): Promise<Promised[]> {
  const text = await Deno.readTextFile(new URL(list, import.meta.url));
  const groups: {
    promise: string;
    words: string;
    faults: (Held & { tests: NamedTest[]; reason: string | null })[];
  }[] = [];
  for (const [at, line] of text.split("\n").entries()) {
    const group = groups.at(-1);
    const test = /^ {2}(\S+\.ts): (.+)$/.exec(line);
    const fault = group?.faults.at(-1);
    if (line.startsWith("# ")) groups.push({ promise: line.slice(2), words: "", faults: [] });
    else if (line.startsWith("- ")) group?.faults.push({ fault: line.slice(2), tests: [], reason: null });
    else if (test !== null && fault !== undefined) fault.tests.push({ file: test[1]!, name: test[2]! });
    else if (line.startsWith("  = ") && fault !== undefined) fault.reason = line.slice(4);
    else if (line !== "" && group !== undefined && fault === undefined) {
      group.words = `${group.words} ${line}`.trim();
    } else if (line !== "") throw new Error(`tests/${list}, line ${at + 1}: ${line}`);
  }
  return groups;
}
