// Matches line patterns in time linear in the length of the pattern times the length of the text. A model, or a file
// that it read, may ask for an expression on which other engines would backtrack endlessly.

import { failed, type Outcome, success, thrownText } from "../../../base/problem.ts";

/** A compiled expression. */
export interface LinePattern {
  /** True if the expression matches anywhere in a line, which is given without its line end. */
  fits(line: string): boolean;
  /**
   * Returns false if certainly no line of a text matches; true does not mean that one does. The lines of the text end
   * with LF.
   */
  mayFit(lines: string): boolean;
}

/** Anchors and flags with another meaning in a text of several lines. */
const ALONE = /\\[Az]|\(\?[a-zA-Z-]*m/;

let library: Promise<typeof import("npm:re2js@2.10.0")> | undefined;

/** Compiles an expression in RE2 syntax. Fails with the reason, as the end of a sentence. */
export async function readLinePattern(text: string): Promise<Outcome<LinePattern, string>> {
  // Only after an even number of backslashes does `\n` mean a line end.
  if (/\n|(?<!\\)(?:\\\\)*\\n/.test(text)) {
    return failed("it contains a line break, and lines are matched without their line endings");
  }
  const { RE2JS } = await (library ??= import("npm:re2js@2.10.0"));
  try {
    const single = RE2JS.compile(text);
    const several = ALONE.test(text) ? null : RE2JS.compile(text, RE2JS.MULTILINE);
    return success({
      fits: (line) => single.test(line),
      mayFit: (lines) => several === null || lines.includes("\r") || several.test(lines),
    });
  } catch (thrown) {
    return failed(thrownText(thrown).replace(/^error parsing regexp: /, ""));
  }
}
