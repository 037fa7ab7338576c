// Whether a result is the one that a document expects, and how the two differ, line by line. Pure.

/** A whole result that is a pattern: `~/regex/`. */
const WHOLE = /^~\/(.*)\/$/s;

/** Stands for the rest of its line. */
const ANY = "<any>";

/** Whether an expected result is more than its own text. */
export function hasMatcher(expected: string): boolean {
  return expected.includes(ANY) || WHOLE.test(expected);
}

/** What came out, as far as it is compared. */
export interface Outcome {
  readonly content: string;
  readonly isError: boolean;
}

/**
 * How a result differs from the expected one: lines of a diff, `-` expected, `+` found; none when it is as expected. A
 * pattern that is none is told as such.
 */
export function differences(expected: Outcome, found: Outcome): readonly string[] {
  const status = expected.isError === found.isError
    ? []
    : [`- ${statusWord(expected.isError)}`, `+ ${statusWord(found.isError)}`];
  return [...status, ...textDifferences(expected.content.trimEnd(), found.content.trimEnd())];
}

function statusWord(isError: boolean): string {
  return isError ? "(error)" : "(no error)";
}

function textDifferences(expected: string, found: string): readonly string[] {
  const [, pattern] = WHOLE.exec(expected) ?? [];
  if (pattern !== undefined) {
    try {
      if (new RegExp(`^(?:${pattern})$`, "su").test(found)) return [];
    } catch (thrown) {
      return [`! ${expected} is no regular expression: ${thrown instanceof Error ? thrown.message : thrown}`];
    }
    return [`- ${expected}`, ...found.split("\n").map((line) => `+ ${line}`)];
  }
  return lineDiff(expected.split("\n"), found.split("\n"));
}

/** Whether a line is as expected. */
function fits(expected: string, found: string): boolean {
  const at = expected.indexOf(ANY);
  return at < 0 ? expected === found : found.startsWith(expected.slice(0, at));
}

/** Lines that both have are left out but for one on each side of a difference. */
function lineDiff(expected: readonly string[], found: readonly string[]): readonly string[] {
  let head = 0;
  while (head < expected.length && head < found.length && fits(expected[head]!, found[head]!)) head++;
  let tail = 0;
  const least = Math.min(expected.length, found.length) - head;
  while (tail < least && fits(expected.at(-1 - tail)!, found.at(-1 - tail)!)) tail++;
  if (head === expected.length && head === found.length) return [];
  const around = (line: string | undefined) => line === undefined ? [] : [`  ${line}`];
  return [
    ...around(found[head - 1]),
    ...expected.slice(head, expected.length - tail).map((line) => `- ${line}`),
    ...found.slice(head, found.length - tail).map((line) => `+ ${line}`),
    ...around(tail > 0 ? found[found.length - tail] : undefined),
  ];
}
