// The patterns of a search for files (tools 8.6): by base name, or by path where they hold a slash.

import { failed, type Outcome, success } from "../../../base/problem.ts";
import { readGlob } from "../../../base/text/glob.ts";
import type { WalkedFile } from "../../../base/disk/walk.ts";

/** A pattern that is ready to be asked. */
export interface FileGlob {
  /** Whether entries whose names begin with a dot may fit: a part of the pattern begins with one. */
  readonly dots: boolean;
  matches(file: Pick<WalkedFile, "path" | "name">): boolean;
}

/** A part that begins with a dot and is more than `.` or `..`. */
const DOT_PART = /(?:^|[/{,])\.(?!\.?(?:\/|$))/;

/**
 * Reads a pattern about files below `start`, a real path that it may begin with. Fails with what is wrong, as the end of a
 * sentence.
 */
export function fileGlob(pattern: string, start: string): Outcome<FileGlob, string> {
  const below = start === "/" ? "/" : `${start}/`;
  const relative = (pattern.startsWith(below) ? pattern.slice(below.length) : pattern).replace(
    /^(?:\.?\/)+/,
    "",
  );
  if (relative === "") return failed("it is empty");
  const glob = readGlob(relative);
  if (!glob.ok) return glob;
  const byPath = pattern.includes("/");
  return success({
    dots: DOT_PART.test(relative),
    matches: ({ path, name }) => glob.value.matches(byPath ? path : name, false, false),
  });
}
