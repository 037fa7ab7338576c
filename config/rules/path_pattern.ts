// Path patterns of approval rules: globs over whole paths.

import { failed, type Outcome, success } from "../../base/problem.ts";
import { readGlob } from "../../base/text/glob.ts";

/** A pattern of paths. */
export interface PathPattern {
  /** The pattern as written. */
  readonly text: string;
  /** True if the pattern excludes paths. */
  readonly excludes: boolean;
  /** The pattern without `!`. */
  readonly glob: string;
}

/** Parses a pattern; fails with the error as the end of a sentence. */
export function readPathPattern(text: string): Outcome<PathPattern, string> {
  const excludes = text.startsWith("!");
  const glob = excludes ? text.slice(1) : text;
  if (glob === "") return failed("it is empty");
  if (glob.includes("\0")) return failed("it contains a NUL character");
  const read = readGlob(glob);
  return read.ok ? success({ text, excludes, glob }) : read;
}

/** Returns the part of a glob before the first component with a wildcard. */
export function fixedFront(glob: string): string {
  const wild = glob.search(/[*?[{\\]/);
  if (wild === -1) return glob;
  return glob.slice(0, glob.lastIndexOf("/", wild) + 1);
}
