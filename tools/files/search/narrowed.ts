// Which files a search in many files has to open at all: rg tells those that hold a text which every fitting line holds. What
// fits is decided without it, so that the answer is the same where there is none.

import type { WalkedFile } from "../../../base/disk/walk.ts";

/** Shorter ones are in most files. */
const SHORTEST = 3;
/** Bytes of paths that one command line may hold. */
const MOST_BYTES = 256 * 1024;

/** Characters that mean something in an expression, besides letters after a backslash. */
const SPECIAL = /[.+*?()|[\]{}^$\\]/;

/**
 * The longest text in ASCII that is in every line which fits an expression; null where none is known. Says nothing where it is
 * not sure.
 */
export function requiredText(expression: string): string | null {
  // Flags may make any case fit, and what stands for characters by number or kind is not read here.
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
      // What stands in braces is a number, or no braces at all and then not sure.
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

/** Where a class in brackets ends; -1 where it does not. */
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
 * Those of some files that hold a text, in their order; all of them where rg cannot tell.
 *
 * @param rg absolute path of the program
 */
export async function holding(
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

/** Those of the paths whose files hold the text; null where that cannot be told. */
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
    // Two stands for files that could not be read, which is told of by who searches in them.
    return code > 1 ? null : new TextDecoder().decode(stdout).split("\0");
  } catch {
    signal.throwIfAborted();
    return null; // It cannot be started here.
  }
}
