// Narrows the files a search has to open: rg finds those that contain a text required in every matching line. Matching
// itself never uses rg, so results are the same without it.

import type { WalkedFile } from "../../../base/disk/walk.ts";

/** Minimum length in characters; shorter texts are in most files. */
const SHORTEST = 3;
/** Maximum number of path bytes in one command line. */
const MOST_BYTES = 256 * 1024;

/** Characters with a meaning in an expression, other than letters after a backslash. */
const SPECIAL = /[.+*?()|[\]{}^$\\]/;

/**
 * Returns an ASCII text, as long as possible, that every line that matches an expression certainly contains; null if no
 * such text is known.
 */
export function requiredText(expression: string): string | null {
  // Flags may ignore case; character escapes by number or class are not analyzed here.
  if (/\(\?(?!:)|\\[QCpPx0-9]/.test(expression)) return null;
  let best = "";
  let run = "";
  let depth = 0;
  const end = (): void => {
    if (run.length > best.length) best = run;
    run = "";
  };
  for (let at = 0; at < expression.length; at++) {
    const character = expression[at]!;
    if (character === "[") {
      end();
      at = endOfClass(expression, at);
      if (at === -1) return null;
    } else if (character === "(" || character === ")") {
      end();
      depth += character === "(" ? 1 : -1;
    } else if (character === "|" && depth === 0) return null;
    else if (character === "*" || character === "?" || character === "{") {
      run = run.slice(0, -1);
      end();
      // Braces contain a repeat count; otherwise the result is not certain.
      if (character === "{") at = Math.max(at, expression.indexOf("}", at));
    } else if (character === "\\") {
      at += 1;
      const escaped = expression[at] ?? "";
      if (/[a-zA-Z0-9]/.test(escaped)) end();
      else if (depth === 0) run += escaped;
    } else if (SPECIAL.test(character) || character > "~" || character < " ") end();
    else if (depth === 0) run += character;
  }
  end();
  return best.length >= SHORTEST ? best : null;
}

/** Index of the end of a bracket class; -1 if it has none. */
function endOfClass(expression: string, open: number): number {
  let at = open + 1;
  if (expression[at] === "^") at += 1;
  if (expression[at] === "]") at += 1;
  for (; at < expression.length; at++) {
    if (expression[at] === "\\") at += 1;
    else if (expression[at] === "[" && expression[at + 1] === ":") {
      at = expression.indexOf(":]", at) + 1 || expression.length;
    } else if (expression[at] === "]") return at;
  }
  return -1;
}

/**
 * Returns those of the files that contain a text, in the given order. If rg fails, returns all files.
 *
 * @param rg absolute path of the program
 */
export async function narrowFiles(
  text: string,
  files: readonly WalkedFile[],
  rg: string,
  signal: AbortSignal,
): Promise<readonly WalkedFile[]> {
  const paths = files.map(({ folder, name }) => `${folder === "/" ? "" : folder}/${name}`);
  const found = new Set<string>();
  for (let from = 0, to = 0; from < paths.length; from = to) {
    for (
      let bytes = 0;
      to < paths.length && (to === from || bytes + 3 * paths[to]!.length < MOST_BYTES);
      to++
    ) {
      bytes += 3 * paths[to]!.length + 1;
    }
    const part = paths.slice(from, to);
    for (const path of await ask(text, part, rg, signal) ?? part) found.add(path);
  }
  return files.filter((_, at) => found.has(paths[at]!));
}

const OPTIONS = [
  "--no-config",
  "--files-with-matches",
  "--null",
  "--text",
  "--encoding=none",
  "--no-messages",
];

/** The paths whose files contain the text; null if that is unknown. */
async function ask(
  text: string,
  paths: readonly string[],
  rg: string,
  signal: AbortSignal,
): Promise<readonly string[] | null> {
  try {
    const { code, stdout } = await new Deno.Command(rg, {
      args: [...OPTIONS, "--fixed-strings", `--regexp=${text}`, "--", ...paths],
      cwd: "/",
      clearEnv: true,
      stdin: "null",
      stdout: "piped",
      stderr: "null",
      signal,
    }).output();
    signal.throwIfAborted();
    // Exit code 2 means that rg could not read some files. All files are then searched, and the search reports those
    // that cannot be read.
    return code > 1 ? null : new TextDecoder().decode(stdout).split("\0");
  } catch {
    signal.throwIfAborted();
    return null; // rg cannot be started here.
  }
}
