// Regular expressions over lines, in time of pattern times text: a model, or a file it read, may ask for one that tries every
// way to split a line.

import { failed, type Outcome, success, thrownText } from "../../../base/problem.ts";

/** An expression that is ready to be asked. */
export interface LinePattern {
  /** Whether a line, without its end, fits anywhere. */
  fits(line: string): boolean;
  /** False only where no line of this text fits; its lines end with LF. */
  mayFit(lines: string): boolean;
}

/** Anchors and flags that mean something else in a text of several lines. */
const ALONE = /\\[Az]|\(\?[a-zA-Z-]*m/;

let library: Promise<typeof import("npm:re2js@2.10.0")> | undefined;

/** Reads an expression in the syntax of RE2. Fails with what is wrong, as the end of a sentence. */
export async function readLinePattern(text: string): Promise<Outcome<LinePattern, string>> {
  // `\n` with an odd number of backslashes.
  if (/\n|(?<!\\)(?:\\\\)*\\n/.test(text)) {
    return failed("a line is looked at without its end, so a line end in it fits nothing");
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
