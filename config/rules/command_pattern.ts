// Command patterns of approval rules: words with wildcards.

import { failed, type Outcome, success } from "../../base/problem.ts";

/** One word of a pattern. */
export interface PatternWord {
  /** Literal pieces with any characters between them; a single piece matches exactly this word. */
  readonly pieces: readonly string[];
}

/** A pattern of commands. */
export interface CommandPattern {
  /** The pattern as written. */
  readonly text: string;
  /** The words in order, without the final `**`. */
  readonly words: readonly PatternWord[];
  /** True if the pattern ends in `**`, so that any number of words may follow. */
  readonly open: boolean;
}

/**
 * Parses a pattern. Spaces or tabs separate words; `*` matches any characters of a word, the word `*` one word, and
 * `**` at the end any number of words. Quotes and backslashes make characters literal, as in a shell.
 *
 * Fails with the error as the end of a sentence.
 */
export function readCommandPattern(text: string): Outcome<CommandPattern, string> {
  const colon = /^(.*\S):\*$/s.exec(text);
  // In other programs, "git log:*" means any text after "git log". Here it would be a literal word and forbid nothing.
  if (colon !== null) return failed(`write "${colon[1]} **" to match any further words`);
  const words: PatternWord[] = [];
  let open = false;
  let at = 0;
  const isBlank = (character: string | undefined) => character === " " || character === "\t";
  while (true) {
    while (isBlank(text[at])) at += 1;
    if (at >= text.length) break;
    if (open) return failed("** is allowed only at the end");
    const word = readWord(text, at);
    if (!word.ok) return word;
    at = word.value.end;
    if (word.value.source === "**") open = true;
    else if (word.value.doubled) return failed("** is allowed only at the end, as a separate word");
    else words.push({ pieces: word.value.pieces });
  }
  if (words.length === 0) return failed(open ? "it begins with a wildcard" : "it is empty");
  return success({ text, words, open });
}

interface ReadWord {
  readonly pieces: readonly string[];
  readonly source: string;
  /** True if two wildcards are adjacent. */
  readonly doubled: boolean;
  readonly end: number;
}

function readWord(text: string, start: number): Outcome<ReadWord, string> {
  const pieces = [""];
  let doubled = false;
  let at = start;
  const add = (character: string) => pieces[pieces.length - 1] += character;
  for (; at < text.length && text[at] !== " " && text[at] !== "\t"; at++) {
    const character = text[at]!;
    if (character === "*") {
      doubled ||= text[at - 1] === "*" && at > start;
      pieces.push("");
    } else if (character === "\\") {
      at += 1;
      if (at >= text.length) return failed("it ends with a backslash");
      add(text[at]!);
    } else if (character === "'" || character === '"') {
      const end = closing(text, at);
      if (end === -1) return failed(`a quote ${character} is not closed`);
      for (let inner = at + 1; inner < end; inner++) {
        if (character === '"' && text[inner] === "\\" && /["\\]/.test(text[inner + 1] ?? "")) inner += 1;
        add(text[inner]!);
      }
      at = end;
    } else add(character);
  }
  return success({ pieces, source: text.slice(start, at), doubled, end: at });
}

/** Returns the offset at which the quote opened at `at` is closed; -1 if it is not closed. */
function closing(text: string, at: number): number {
  const quote = text[at];
  for (let end = at + 1; end < text.length; end++) {
    if (quote === '"' && text[end] === "\\") end += 1;
    else if (text[end] === quote) return end;
  }
  return -1;
}

/** Returns the word as literal text; null if it has a wildcard. */
export function literalOf(word: PatternWord | undefined): string | null {
  return word?.pieces.length === 1 ? word.pieces[0]! : null;
}

export function hasWildcard({ words, open }: CommandPattern): boolean {
  return open || words.some((word) => literalOf(word) === null);
}

export function fitsWord({ pieces }: PatternWord, text: string): boolean {
  if (pieces.length === 1) return pieces[0] === text;
  const first = pieces[0]!;
  const last = pieces.at(-1)!;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) {
    return false;
  }
  let at = first.length;
  const end = text.length - last.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at);
    if (found === -1 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}
