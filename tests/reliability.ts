// Reads `tests/reliability.txt`, the list of faults with their tests: a promise behind `#`, its description, a fault
// behind `-`, and below it one line per test: its file below `tests/` and its exact name.

/** A test, or a row of a table that a test goes through. */
export interface NamedTest {
  readonly file: string;
  readonly name: string;
}

/** A promise with the faults that it is attacked by. */
export interface Promised {
  readonly promise: string;
  readonly words: string;
  readonly faults: readonly { readonly fault: string; readonly tests: readonly NamedTest[] }[];
}

/** Reads the list; throws at a line that is none of these. */
export async function readReliability(): Promise<Promised[]> {
  const text = await Deno.readTextFile(new URL("reliability.txt", import.meta.url));
  const groups: { promise: string; words: string; faults: { fault: string; tests: NamedTest[] }[] }[] = [];
  for (const [at, line] of text.split("\n").entries()) {
    const group = groups.at(-1);
    const test = /^ {2}(\S+\.ts): (.+)$/.exec(line);
    const fault = group?.faults.at(-1);
    if (line.startsWith("# ")) groups.push({ promise: line.slice(2), words: "", faults: [] });
    else if (line.startsWith("- ")) group?.faults.push({ fault: line.slice(2), tests: [] });
    else if (test !== null && fault !== undefined) fault.tests.push({ file: test[1]!, name: test[2]! });
    else if (line !== "" && group !== undefined && fault === undefined) {
      group.words = `${group.words} ${line}`.trim();
    } else if (line !== "") throw new Error(`tests/reliability.txt, line ${at + 1}: ${line}`);
  }
  return groups;
}
