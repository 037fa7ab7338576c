// Which names two lists of patterns choose: those that one takes, without those that the other leaves out.

import { readGlob } from "../../base/text/glob.ts";

/** Whether a name is taken. A pattern that cannot be read stands for itself. */
export type NameFilter = (name: string) => boolean;

/**
 * @param taken patterns of names; `*` stands for any characters
 * @param leftOut the same for those that are left out all the same
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

/** A slash divides paths; in a name it is a character like any other, and names hold no control characters. */
function asName(text: string): string {
  return text.replaceAll("/", "\u0001");
}
