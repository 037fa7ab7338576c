// Finds and replaces a literal passage in bytes. Pure.

export type PassageReplacement =
  | {
    readonly kind: "replaced";
    readonly bytes: Uint8Array<ArrayBuffer>;
    readonly count: number;
    /** The passage was found only after its line ends were converted to CR LF. */
    readonly convertedLineEnds: boolean;
  }
  | { readonly kind: "absent" }
  /** The passage occurs several times; `count` includes overlapping occurrences. */
  | { readonly kind: "ambiguous"; readonly count: number }
  | { readonly kind: "unchanged" };

const encoder = new TextEncoder();
// Maps each byte to one character, even in text that is not UTF-8. So the search can work on strings, which is fastest,
// and character offsets equal byte offsets.
const bytewise = new TextDecoder("windows-1252");

function asCharacters(bytes: Uint8Array): string {
  return bytewise.decode(bytes);
}

/**
 * Replaces the only occurrence of `oldText`; with `all`, every non-overlapping occurrence from the left. All other
 * bytes remain unchanged. If `oldText` is not found and uses LF, and every line of the file ends in CR LF, then
 * `oldText` and the new text are converted to CR LF.
 */
export function replacePassage(
  bytes: Uint8Array,
  oldText: string,
  newText: string,
  options: { readonly all?: boolean } = {},
): PassageReplacement {
  const content = asCharacters(bytes);
  let oldBytes = encoder.encode(oldText);
  let newBytes = encoder.encode(newText);
  let convertedLineEnds = false;
  let found = occurrences(content, asCharacters(oldBytes));
  if (
    found.length === 0 && oldText.includes("\n") && !oldText.includes("\r") && everyLineEndsInCrLf(content)
  ) {
    oldBytes = encoder.encode(oldText.replaceAll("\n", "\r\n"));
    newBytes = encoder.encode(newText.replace(/\r?\n/g, "\r\n"));
    convertedLineEnds = true;
    found = occurrences(content, asCharacters(oldBytes));
  }
  if (found.length === 0) return { kind: "absent" };
  if (found.length > 1 && !options.all) return { kind: "ambiguous", count: found.length };
  const places = withoutOverlaps(found, oldBytes.length);
  const result = splice(bytes, places, oldBytes.length, newBytes);
  if (asCharacters(result) === content) return { kind: "unchanged" };
  return { kind: "replaced", bytes: result, count: places.length, convertedLineEnds };
}

/** Returns a line of the file that contains the first line of the passage, without leading and trailing blanks. */
export function findNearestLine(bytes: Uint8Array, oldText: string): { number: number; text: string } | null {
  const wanted = (oldText.split("\n", 1)[0] ?? "").trim();
  if (wanted === "") return null;
  const content = new TextDecoder().decode(bytes);
  const at = content.indexOf(wanted);
  if (at === -1) return null;
  const start = content.lastIndexOf("\n", at) + 1;
  const end = content.indexOf("\n", at);
  return {
    number: content.slice(0, start).split("\n").length,
    text: content.slice(start, end === -1 ? content.length : end).replace(/\r$/, ""),
  };
}

/** Offsets of all occurrences, including overlapping ones. */
function occurrences(content: string, wanted: string): number[] {
  const found: number[] = [];
  for (let at = content.indexOf(wanted); at !== -1; at = content.indexOf(wanted, at + 1)) found.push(at);
  return found;
}

function everyLineEndsInCrLf(content: string): boolean {
  return content.includes("\n") && !/(?:^|[^\r])\n/.test(content);
}

function withoutOverlaps(found: readonly number[], length: number): number[] {
  const places: number[] = [];
  let free = 0;
  for (const at of found) {
    if (at < free) continue;
    places.push(at);
    free = at + length;
  }
  return places;
}

function splice(
  bytes: Uint8Array,
  places: readonly number[],
  length: number,
  insert: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const result = new Uint8Array(bytes.length + places.length * (insert.length - length));
  let read = 0;
  let write = 0;
  for (const at of places) {
    result.set(bytes.subarray(read, at), write);
    write += at - read;
    result.set(insert, write);
    write += insert.length;
    read = at + length;
  }
  result.set(bytes.subarray(read), write);
  return result;
}
