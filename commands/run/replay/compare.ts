// Compares a result with the expected one and shows the differences line by line. Pure.

/** A pattern for a whole result: `~/regex/`. */
const WHOLE = /^~\/(.*)\/$/s;

/** Pattern that matches the rest of its line. */
const ANY = "<any>";

/** True if an expected result contains a pattern. */
export function hasMatcher(expected: string): boolean {
  return expected.includes(ANY) || WHOLE.test(expected);
}

/** The parts of a result that are compared. */
export interface ComparedResult {
  readonly content: string;
  readonly isError: boolean;
}

/**
 * Returns how a result differs from the expected one, as lines of a diff (`-` expected, `+` found); empty if it
 * matches. An invalid pattern is reported in a line that begins with `!`.
 */
export function differences(expected: ComparedResult, found: ComparedResult): readonly string[] {
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
      return [
        `! ${expected} is not a valid regular expression: ${
          thrown instanceof Error ? thrown.message : thrown
        }`,
      ];
    }
    return [`- ${expected}`, ...found.split("\n").map((line) => `+ ${line}`)];
  }
  return lineDiff(expected.split("\n"), found.split("\n"));
}

function fits(expected: string, found: string): boolean {
  const at = expected.indexOf(ANY);
  return at < 0 ? expected === found : found.startsWith(expected.slice(0, at));
}

/** Leaves out common lines except one on each side of a difference. */
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
