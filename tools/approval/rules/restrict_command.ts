// Decides whether a rule that asks or denies applies to a command, over everything that the command may run.

import { type CommandPattern, fitsWord, literalOf } from "../../../config/rules/command_pattern.ts";
import type { LooseReading, ShellWord } from "../shell/types.ts";

/** A match of a rule with a command: whether it is certain, and the matched part of the command. */
export interface CommandMatch {
  readonly sure: boolean;
  readonly part: string;
}

/** The most certain match of patterns with a command; null if there is none. */
export function matchCommand(
  patterns: readonly CommandPattern[],
  source: string,
  { commands, unread }: LooseReading,
): CommandMatch | null {
  let possible: CommandMatch | null = null;
  for (const pattern of patterns) {
    for (const { text, words, guessed } of commands) {
      const match = fits(pattern, words);
      if (match === "yes" && !guessed) return { sure: true, part: text };
      if (match !== "no") possible ??= { sure: false, part: text };
    }
    if (unread && occursIn(pattern, source)) possible ??= { sure: false, part: source };
  }
  return possible;
}

type Fit = "yes" | "maybe" | "no";

/** How words match a pattern, where a word that only the shell can expand may become any words. */
function fits(pattern: CommandPattern, words: readonly ShellWord[]): Fit {
  /** Caches how the remaining words fit, by the number of pattern words and command words that were matched before. */
  const known = new Map<string, Fit>();
  const from = (at: number, word: number): Fit => {
    const key = `${at} ${word}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    known.set(key, "no");
    const found = step(at, word);
    known.set(key, found);
    return found;
  };
  const step = (at: number, word: number): Fit => {
    const expected = pattern.words[at];
    const given = words[word];
    if (expected === undefined) {
      if (pattern.open || given === undefined) return "yes";
      return words.slice(word).every(({ value }) => value === null) ? "maybe" : "no";
    }
    if (given === undefined) return "no";
    if (given.value !== null) return isWord(expected, given.value, at === 0) ? from(at + 1, word + 1) : "no";
    const possible = [from(at + 1, word + 1), from(at, word + 1), from(at + 1, word)];
    return possible.some((fit) => fit !== "no") ? "maybe" : "no";
  };
  return from(0, 0);
}

function isWord(expected: CommandPattern["words"][number], value: string, isProgram: boolean): boolean {
  if (fitsWord(expected, value)) return true;
  return isProgram && value.includes("/") && fitsWord(expected, value.slice(value.lastIndexOf("/") + 1));
}

/** True if the literal words of a pattern occur in a text, in order and as separate words. */
function occursIn(pattern: CommandPattern, source: string): boolean {
  let at = 0;
  for (const word of pattern.words) {
    const literal = literalOf(word);
    if (literal === null) continue;
    const escaped = literal.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
    const found = new RegExp(`(?<![\\w-])${escaped}(?![\\w-])`, "u").exec(source.slice(at));
    if (found === null) return false;
    at += found.index + literal.length;
  }
  return true;
}
