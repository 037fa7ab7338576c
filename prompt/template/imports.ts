// Imports in instruction files: `@style.md`, `@./notes`. Finds them outside code and comments.

import { isTextual, typeOfName } from "../../base/media.ts";

/** Matches an import: behind a blank or an opening parenthesis, up to the next blank, quote or bracket. */
const IMPORT = /(?<=^|[\s(])@([^\s()<>"'`\\]+)/g;
const PUNCTUATION_AT_END = /[.,;:!?*_\]}]+$/;

/** Returns the paths that a text imports, each once, in the order of the text. */
export function importedPaths(text: string): string[] {
  if (!text.includes("@")) return [];
  const found = new Set<string>();
  for (const [, run = ""] of withoutInert(text).matchAll(IMPORT)) {
    const path = run.replace(PUNCTUATION_AT_END, "");
    if (isImport(path)) found.add(path);
  }
  return [...found];
}

/** True for a path that says where it starts, or whose name is that of a text. An address or a package is neither. */
function isImport(path: string): boolean {
  if (/^(?:\.{1,2}\/|~\/|\/)./.test(path)) return !path.endsWith("/");
  const type = typeOfName(path);
  return type !== null && isTextual(type);
}

/** Returns a text in which code blocks, code spans and comments are blank. */
function withoutInert(text: string): string {
  let fence: string | null = null;
  const prose = text.split("\n").map((line) => {
    const [, mark = ""] = /^ {0,3}(`{3,}|~{3,})/.exec(line) ?? [];
    if (fence !== null) {
      const closes = mark[0] === fence[0] && mark.length >= fence.length && line.trim() === mark;
      if (closes) fence = null;
      return "";
    }
    // A fence of backticks has none in its first line.
    if (mark === "" || (mark[0] === "`" && line.slice(line.indexOf(mark) + mark.length).includes("`"))) {
      return line;
    }
    fence = mark;
    return "";
  }).join("\n");
  return withoutSpans(prose);
}

/** Blanks code spans and comments: whichever begins first. A run of backticks ends at the next run as long. */
function withoutSpans(text: string): string {
  let rest = text;
  let kept = "";
  for (;;) {
    const begin = /<!--|(?<!`)(`+)(?!`)/.exec(rest);
    if (begin === null) return kept + rest;
    const after = begin.index + begin[0].length;
    kept += rest.slice(0, begin.index);
    if (begin[1] === undefined) {
      const end = rest.indexOf("-->", after);
      if (end < 0) return kept;
      rest = rest.slice(end + 3);
      continue;
    }
    // A span does not reach beyond its paragraph.
    const paragraph = /\n[ \t]*\n/.exec(rest.slice(after))?.index ?? rest.length;
    const closing = [...rest.slice(after, after + paragraph).matchAll(/`+/g)].find(([run]) =>
      run.length === begin[1]!.length
    );
    rest = closing === undefined ? rest.slice(after) : rest.slice(after + closing.index + closing[0].length);
  }
}
