// Finds the modules and files that JavaScript or TypeScript code loads, from its text alone.
//
// Text is not parsed: a string or a comment that looks like an import counts as one. A wrong match does no harm, but a
// missed import would.

/** What one expression in the code loads: the specifier as written, or the reason why the specifier is unknown. */
export interface LoadedName {
  readonly line: number;
  /** The specifier; null if the code computes it. */
  readonly specifier: string | null;
  /** Reason why the specifier is unknown, as the end of a sentence about the import; empty if it is known. */
  readonly why: string;
  /**
   * How the specifier is loaded. It matters for a path without an extension, which `require` and `import` resolve in
   * different ways.
   */
  readonly kind: "import" | "require" | "url";
}

/** Matches blanks and comments between two words. */
const GAP = String.raw`(?:\s|\/\*(?:[^*]|\*(?!\/))*\*\/|\/\/[^\n\r\u2028\u2029]*(?![^\n\r\u2028\u2029]))*`;
/** Matches a string, or a template without values. */
const TEXT = String.raw`(?:"((?:[^"\\\n\r]|\\[^])*)"|'((?:[^'\\\n\r]|\\[^])*)'|` +
  "`((?:[^`\\\\$]|\\\\[^]|\\$(?!\\{))*)`)";

/** Matches `from "x"` and `import "x"`. A computed path at that position is a syntax error. */
const STATIC = new RegExp(String.raw`\b(?:from|import)\b${GAP}${TEXT}`, "g");
/** Matches `import(…)`, also with a phase, as in `import.defer(…)`. */
const DYNAMIC = new RegExp(String.raw`\bimport\b${GAP}(?:\.${GAP}(?:defer|source)\b${GAP})?\(`, "g");
const REQUIRE = new RegExp(String.raw`\brequire\b${GAP}(?:\.${GAP}resolve\b${GAP})?\(`, "g");
const WORKER = new RegExp(String.raw`\b(?:Worker|importScripts)\b${GAP}\(`, "g");
/** Matches a file next to the code, which the code may run or load. */
const NEARBY = new RegExp(
  String.raw`\bURL\b${GAP}\(${GAP}${TEXT}${GAP},${GAP}import${GAP}\.${GAP}meta${GAP}\.${GAP}url\b`,
  "g",
);
/** Matches a `require` under another name. */
const RENAMED_REQUIRE = new RegExp(
  String.raw`(\brequire\b${GAP}=${GAP})?\bcreateRequire\b${GAP}(?:\(|as\b)`,
  "g",
);
/** Matches every use of the code's own place. `__dirname` is the folder of a CommonJS module. */
const OWN_PLACE = new RegExp(
  String
    .raw`\bimport${GAP}\.${GAP}meta\b(?:${GAP}\.${GAP}(\w+))?|\b(__dirname|__filename)\b(?!${GAP}[=:](?!=))`,
  "g",
);
/** Matches a comparison behind a value: it loads nothing. */
const COMPARED = new RegExp(String.raw`${GAP}[=!]=`, "y");
/** Matches the path behind a folder: `+ "/x"`, `, "x", "y")`, and in a template `}/x` up to its end. */
const BEHIND_FOLDER = [
  new RegExp(String.raw`${GAP}\+${GAP}${TEXT}${GAP}(?![\s+])`, "y"),
  new RegExp(String.raw`${GAP},${GAP}${TEXT}${GAP}\)`, "y"),
  /\s*\}((?:[^`\\$]|\$(?!\{))*)`/y,
];

/** Matches the comment that names the package that JSX loads. */
const JSX_SOURCE = /@jsxImportSource\s+(\S+)/g;

/** Matches an argument that is one text, up to the comma or parenthesis behind it. */
const ONE_TEXT = new RegExp(String.raw`${GAP}${TEXT}${GAP}[,)]`, "y");
const NEARBY_ARGUMENT = new RegExp(String.raw`${GAP}(?:new${GAP})?${NEARBY.source}`, "y");

/** Matches names of files that a program may run: by their ending, or without one. All other files are data. */
const RUNNABLE = /\.(?:[cm]?[jt]sx?|wasm|node|so|sh|bash|py|rb|pl|lua)$|(?:^|\/)[^./]+$/i;

/** Finds everything that the code loads by name, in the order of the forms. */
export function namesLoadedBy(code: string): LoadedName[] {
  const text = withoutComments(code);
  const found: LoadedName[] = [];
  const add = (at: number, kind: LoadedName["kind"], specifier: string | null, why = "") =>
    void found.push({ line: lineAt(text, at), kind, ...readable(specifier, why) });
  for (const match of text.matchAll(STATIC)) add(match.index, "import", written(match));
  for (const { index, 0: words } of text.matchAll(DYNAMIC)) {
    if (!isMember(text, index)) add(index, "import", ...argumentAt(text, index + words.length));
  }
  for (const { index, 0: words } of text.matchAll(REQUIRE)) {
    if (!isMember(text, index)) add(index, "require", ...argumentAt(text, index + words.length));
  }
  for (const { index, 0: words } of text.matchAll(WORKER)) {
    const end = index + words.length;
    // The patterns below find a path that is written as a text.
    if (matchAt(NEARBY_ARGUMENT, text, end) === null) {
      add(index, "import", null, "the path of a worker is computed");
    }
  }
  for (const match of text.matchAll(NEARBY)) {
    const path = written(match);
    if (path.includes("\\") || RUNNABLE.test(path.replace(/[?#].*$/s, ""))) add(match.index, "url", path);
  }
  for (const match of text.matchAll(OWN_PLACE)) {
    const path = pathNextToCode(text, match);
    if (path === null) add(match.index, "url", null, "the path of a file next to the code is computed");
    else if (path.includes("\\") || RUNNABLE.test(path)) add(match.index, "url", path);
  }
  for (const { index, 1: named } of text.matchAll(RENAMED_REQUIRE)) {
    if (named === undefined) add(index, "require", null, "require has another name there");
  }
  for (const { index, 1: name = "" } of code.matchAll(JSX_SOURCE)) {
    add(index, "import", `${name}/jsx-runtime`);
  }
  return found;
}

/** Escapes in a path are never needed, and could hide which file the path names. */
function readable(specifier: string | null, why: string): Pick<LoadedName, "specifier" | "why"> {
  return specifier?.includes("\\")
    ? { specifier: null, why: "its path contains a backslash" }
    : { specifier, why };
}

function argumentAt(text: string, at: number): [specifier: string | null, why?: string] {
  const match = matchAt(ONE_TEXT, text, at);
  return match === null ? [null, "its path is computed"] : [written(match)];
}

/** Properties of `import.meta` that name no place. */
const NO_PLACE: ReadonlySet<string> = new Set(["main", "env", "hot"]);

/** Matches the text up to `import.meta.url` if another pattern, or nothing, follows the URL there. */
const URL_ARGUMENT = new RegExp(
  String.raw`\b(?:URL${GAP}\(${GAP}${TEXT}${GAP},|createRequire${GAP}\()${GAP}$`,
);

/**
 * The path that code makes of its own place, relative to the code's folder; empty if it loads nothing, or if another
 * pattern finds the path; null if it is computed.
 */
function pathNextToCode(text: string, match: RegExpExecArray): string | null {
  const { index, 0: whole, 1: property, 2: variable } = match;
  const end = index + whole.length;
  if (property !== undefined && NO_PLACE.has(property)) return "";
  if (matchAt(COMPARED, text, end) !== null) return "";
  if (property === "url") {
    // The longest such text is a line or two.
    return URL_ARGUMENT.test(text.slice(Math.max(0, index - 1000), index)) ? "" : null;
  }
  if (property === "resolve") {
    const argument = /^\s*\(/.exec(text.slice(end, end + 100));
    return argument === null ? null : argumentAt(text, end + argument[0].length)[0];
  }
  if (property !== "dirname" && variable !== "__dirname") return null;
  for (const pattern of BEHIND_FOLDER) {
    const found = matchAt(pattern, text, end);
    if (found !== null) return `./${written(found).replace(/^\/+/, "")}`;
  }
  return null;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function written([, double, single, template]: RegExpExecArray): string {
  return double ?? single ?? template ?? "";
}

/** True if a word is the name of a member: `loader.import(x)`, but not `...import(x)`. */
function isMember(text: string, at: number): boolean {
  const before = text.slice(0, at).trimEnd();
  return before.endsWith(".") && !before.endsWith("...");
}

function lineAt(text: string, at: number): number {
  return text.slice(0, at).split("\n").length;
}

/** Matches the beginning of a line that does not continue a string. */
const LINE = String.raw`(?<!\\(?:\r\n|[\n\r\u2028\u2029]))^[ \t]*`;
const LINE_COMMENT = new RegExp(String.raw`${LINE}\/\/.*$`, "gm");
const BLOCK_COMMENT = new RegExp(LINE + "\\/\\*[^`]*?\\*\\/", "gm");

/**
 * Blanks out comments that begin a line, since explanations often contain words such as `import(path)`. Keeps a comment
 * if it could end a template, if code could follow it, or if it could contain a value of a template.
 */
function withoutComments(code: string): string {
  const blank = (comment: string) => comment.replace(/[^\n]/g, " ");
  return code
    .replace(LINE_COMMENT, (line) => /`|\$\{|\*\//.test(line) ? line : blank(line))
    .replace(BLOCK_COMMENT, (comment) => comment.includes("${") ? comment : blank(comment));
}
