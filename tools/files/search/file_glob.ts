// File name patterns of a search: by base name, or by path if they contain a slash.

import { failed, type Outcome, success } from "../../../base/problem.ts";
import { readGlob } from "../../../base/text/glob.ts";
import type { WalkedFile } from "../../../base/disk/walk.ts";

/** A compiled pattern. */
export interface FileGlob {
  /** True if entries with a leading dot may match, because a part of the pattern begins with a dot. */
  readonly dots: boolean;
  matches(file: Pick<WalkedFile, "path" | "name">): boolean;
}

/** Matches a part of a pattern that begins with a dot, except the parts `.` and `..`. */
const DOT_PART = /(?:^|[/{,])\.(?!\.?(?:\/|$))/;

/**
 * Compiles a pattern for files below `start`, a real path that the pattern may begin with. Fails with the reason, as
 * the end of a sentence.
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
