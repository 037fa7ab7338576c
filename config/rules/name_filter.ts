// Selection of names by two lists of patterns: included and excluded ones.

import { readGlob } from "../../base/text/glob.ts";

/** True if a name is selected. An invalid pattern is compared literally. */
export type NameFilter = (name: string) => boolean;

/**
 * @param taken patterns of included names; `*` matches any characters
 * @param leftOut patterns of names to exclude from the included ones
 */
export function nameFilter(taken: readonly string[], leftOut: readonly string[] = []): NameFilter {
  const takes = anyOf(taken);
  const leavesOut = anyOf(leftOut);
  return (name) => takes(name) && !leavesOut(name);
}

function anyOf(patterns: readonly string[]): NameFilter {
  const globs = patterns.map((pattern) => {
    const glob = readGlob(asName(pattern));
    return glob.ok ? (name: string) => glob.value.matches(asName(name)) : (name: string) => name === pattern;
  });
  return (name) => globs.some((matches) => matches(name));
}

/** Replaces slashes, which separate path components in globs, with a control character that names do not contain. */
function asName(text: string): string {
  return text.replaceAll("/", "\u0001");
}
