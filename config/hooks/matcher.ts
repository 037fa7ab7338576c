// Matchers of hooks: which tools they name.

/** Matches matchers that are lists of exact names rather than regular expressions. */
const NAMES = /^[\w\-, |]*$/;

/** Returns why a matcher is invalid, as the end of a sentence; null if it is valid. */
export function matcherFault(matcher: string): string | null {
  if (matchesAll(matcher) || NAMES.test(matcher)) return null;
  try {
    new RegExp(matcher);
    return null;
  } catch {
    return `is not a regular expression: ${JSON.stringify(matcher)}`;
  }
}

/**
 * Returns whether a matcher names a tool. Names of letters, digits, `_` and `-`, separated by `|` or commas, match
 * exactly. Any other matcher is a regular expression that may match anywhere in the name.
 *
 * @param names the names of the tool: its own, and the one that it has in Claude Code
 */
export function matchesTool(matcher: string, names: readonly string[]): boolean {
  if (matchesAll(matcher)) return true;
  if (NAMES.test(matcher)) {
    const listed = new Set(matcher.split(/[,|]/).map((name) => name.trim()));
    return names.some((name) => listed.has(name));
  }
  const pattern = new RegExp(matcher);
  return names.some((name) => pattern.test(name));
}

function matchesAll(matcher: string): boolean {
  return matcher.trim() === "" || matcher.trim() === "*";
}
