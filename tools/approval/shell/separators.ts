// Verifies a reading against the text: every byte between two pieces of a command must be the expected separator.

/** Separator that is expected between two pieces. `end` means the end of a command: `;`, line feeds, or both. */
export type Separator = "blank" | "|" | "|&" | "&&" | "||" | "end" | "&";

/** A piece of a command: a word, a redirection, an assignment. */
export interface CommandPiece {
  readonly start: number;
  readonly end: number;
  /** The separator before the piece. */
  readonly before: Separator | "start";
  /** True if the piece may follow another piece without a blank, as `>file` may. */
  readonly joins?: boolean;
}

/**
 * True if the text between `start` and `end` consists of exactly these pieces, separators, blanks and comments.
 *
 * @param last what may follow the last piece: `&` if it runs in the background
 */
export function accountsFor(
  source: string,
  { start, end }: { readonly start: number; readonly end: number },
  pieces: readonly CommandPiece[],
  last: "end" | "&",
): boolean {
  let at = start;
  for (const piece of pieces) {
    const gap = source.slice(at, piece.start);
    if (piece.start < at || piece.end <= piece.start || !isGap(gap, piece)) return false;
    at = piece.end;
  }
  if (at > end) return false;
  const rest = source.slice(at, end);
  if (pieces.length === 0) return tokensOf(rest, true)?.every((token) => token === "\n") ?? false;
  const tokens = tokensOf(rest, false);
  if (tokens === null) return false;
  const ends = tokens.filter((token) => token !== "\n");
  return last === "&"
    ? ends.length === 1 && ends[0] === "&" && tokens[0] === "&"
    : ends.length === 0 || (ends.length === 1 && ends[0] === ";" && tokens[0] === ";");
}

function isGap(gap: string, { before, joins = false }: CommandPiece): boolean {
  const tokens = tokensOf(gap, before === "start");
  if (tokens === null) return false;
  const [first, ...others] = tokens;
  switch (before) {
    case "start":
      return tokens.every((token) => token === "\n");
    case "blank":
      // Pieces must be separated by a blank. A line continuation alone does not separate them, because the shell
      // removes it before it splits words.
      return tokens.length === 0 && (gap === "" ? joins : /[ \t]/.test(gap));
    case "end":
      return (first === ";" || first === "\n") && others.every((token) => token === "\n");
    default:
      return first === before && others.every((token) => token === "\n");
  }
}

/**
 * Returns the operators and line feeds between two pieces, without blanks and comments; null if the text between them
 * contains anything else.
 *
 * @param opens whether a comment may begin at the first character of the gap
 */
function tokensOf(gap: string, opens: boolean): string[] | null {
  const tokens: string[] = [];
  let at = 0;
  let mayComment = opens;
  while (at < gap.length) {
    const rest = gap.slice(at);
    const operator = /^(?:&&|\|\||\|&|[;&|\n])/.exec(rest)?.[0];
    const skipped = operator ?? /^(?:[ \t]+|\\\n)/.exec(rest)?.[0] ??
      (mayComment ? /^#[^\n]*/.exec(rest)?.[0] : undefined);
    if (skipped === undefined) return null;
    if (operator !== undefined) tokens.push(operator);
    mayComment = operator !== undefined || /[ \t]$/.test(skipped);
    at += skipped.length;
  }
  return tokens;
}
