// Detection of file references such as `@./notes.md` in literal text.

export interface FileReference {
  /** Offset of the `@` in the text, in UTF-16 units. */
  readonly from: number;
  /** Offset after the reference, before punctuation that does not belong to it. */
  readonly to: number;
  /** Decoded path; begins with `./`, `../`, `~/` or `/`. */
  readonly path: string;
  /** Type from `;type=…`. */
  readonly mime?: string;
  /** An option other than `type`. */
  readonly unknownOption?: string;
  /** If the path ends like `#L10-20`: the path without it, and the lines. A file whose name really ends so comes first. */
  readonly excerpt?: Excerpt;
}

/** Lines of a file. */
export interface Excerpt {
  /** Decoded path of the file. */
  readonly path: string;
  /** Numbers of the first and last line as written, beginning with 1. The last may be less than the first. */
  readonly first: number;
  readonly last: number;
}

const REFERENCE = /@(?:\.\/|\.\.\/|~\/|\/\/)[^ \t\n\v\f\r]+/g;
/** Lines at the end of a path, in the forms `#L10`, `#L10-20` and `#L10-L20`. */
const LINES = /^(.+)#L(\d{1,9})(?:-L?(\d{1,9}))?$/s;
const PUNCTUATION_AT_END = /[!-/:-@[-`{-~]+$/;

/** Finds all references in a text, from left to right. */
export function fileReferences(text: string): readonly FileReference[] {
  if (!text.includes("@")) return [];
  const found: FileReference[] = [];
  for (const match of text.matchAll(REFERENCE)) {
    const reference = readReference(match[0], match.index);
    if (reference !== null) found.push(reference);
  }
  return found;
}

/**
 * If a text consists of exactly one reference, returns the reference; otherwise null. A text with any Unicode
 * whitespace is not a reference here, unlike in prose, because the tool that escapes such texts applies this rule.
 */
export function onlyReference(text: string): FileReference | null {
  const [first] = fileReferences(text);
  return first !== undefined && first.from === 0 && first.to === text.length && !/\s/.test(text)
    ? first
    : null;
}

/** If the text of a result was escaped because it looked like a reference, removes the backslash. */
export function unescapeReference(text: string): string {
  return /^\\+@(?:\.{1,2}\/|~\/|\/\/)\S+$/.test(text) ? text.slice(1) : text;
}

function readReference(run: string, from: number): FileReference | null {
  const semicolon = run.indexOf(";");
  const option = semicolon < 0 ? null : withoutPunctuation(run.slice(semicolon + 1));
  const whole = semicolon < 0 ? withoutPunctuation(run) : run.slice(0, semicolon);
  const path = decodePath(whole.slice(1).replace(/^\/\//, "/"));
  const to = from + (option === null ? whole.length : semicolon + 1 + option.length);
  if (path === null || whole.length < 2) return null;
  const excerpt = excerptOf(path);
  const reference = { from, to, path, ...(excerpt === null ? {} : { excerpt }) };
  if (option === null) return reference;
  const type = /^type=(.+)$/.exec(option);
  return type === null ? { ...reference, unknownOption: option } : { ...reference, mime: type[1] };
}

function excerptOf(path: string): Excerpt | null {
  const [, file, first, last = first] = LINES.exec(path) ?? [];
  return file === undefined ? null : { path: file, first: Number(first), last: Number(last) };
}

function withoutPunctuation(text: string): string {
  return text.replace(PUNCTUATION_AT_END, "");
}

/** Decodes `+` as a space and `%HH` as one byte of UTF-8; null for invalid UTF-8, which no path contains. */
function decodePath(encoded: string): string | null {
  const spaced = encoded.replaceAll("+", " ").replace(/%(?![0-9A-Fa-f]{2})/g, "%25");
  try {
    return decodeURIComponent(spaced);
  } catch {
    return null;
  }
}
