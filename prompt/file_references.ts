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
}

const REFERENCE = /@(?:\.\/|\.\.\/|~\/|\/\/)[^ \t\n\v\f\r]+/g;
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
  if (option === null) return { from, to, path };
  const type = /^type=(.+)$/.exec(option);
  return type === null ? { from, to, path, unknownOption: option } : { from, to, path, mime: type[1] };
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
