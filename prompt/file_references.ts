// File references such as `@./notes.md` in literal text: finding them, and nothing else.

/** One file reference, as found in a text. */
export interface FileReference {
  /** Offset of the `@` in the text, in UTF-16 units. */
  readonly from: number;
  /** Offset just past the reference; punctuation that was taken off stands behind it. */
  readonly to: number;
  /** Decoded path: begins with `./`, `../`, `~/` or `/`. */
  readonly path: string;
  /** The type given by `;type=…`. */
  readonly mime?: string;
  /** An option other than `type`, which is not known here. */
  readonly unknownOption?: string;
}

const REFERENCE = /@(?:\.\/|\.\.\/|~\/|\/\/)[^ \t\n\v\f\r]+/g;
const PUNCTUATION_AT_END = /[!-/:-@[-`{-~]+$/;

/** All references of a text, from left to right. */
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
 * The reference that a text consists of, when it is exactly one and nothing else; else null. Narrower than
 * in prose: any Unicode blank makes it text, because the tool that escapes such texts counts those as blanks.
 */
export function onlyReference(text: string): FileReference | null {
  const [first] = fileReferences(text);
  return first !== undefined && first.from === 0 && first.to === text.length && !/\s/.test(text)
    ? first
    : null;
}

/** Text of a result that only looked like a reference and got a backslash for it, without that backslash. */
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

/** `+` is a blank and `%HH` one byte of UTF-8; null when the bytes are no UTF-8, for no path is spelt so. */
function decodePath(encoded: string): string | null {
  const spaced = encoded.replaceAll("+", " ").replace(/%(?![0-9A-Fa-f]{2})/g, "%25");
  try {
    return decodeURIComponent(spaced);
  } catch {
    return null;
  }
}
