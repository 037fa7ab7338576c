// Completion candidates for a command line, from the table of commands.

import { COMMANDS } from "./table.ts";
import type { Command, Option } from "./spec.ts";

export interface Candidate {
  readonly word: string;
  readonly text: string;
}

export interface Candidates {
  readonly words: readonly Candidate[];
  /** True if a file name is possible. */
  readonly files: boolean;
  /** The document whose calls may be named; null if none may. */
  readonly targetsOf: string | null;
}

const SHELLS = ["bash", "zsh", "fish"];
const NOTHING: Candidates = { words: [], files: false, targetsOf: null };

/** Returns the candidates for the last of these words, which may be empty. */
export function candidates(words: readonly string[]): Candidates {
  const before = words.slice(0, -1);
  if (before[0] === "help") return topics(before.slice(1));
  const typed = words.at(-1) ?? "";
  if (before.includes("--")) return { ...NOTHING, files: true };
  const command = commandOf(before);
  if (command === null) return { words: beginnings(before), files: before.length === 0, targetsOf: null };
  const given = before.slice(command.name.split(" ").length);
  const valued = optionNamed(command, given.at(-1));
  if (valued?.value === "TARGET") {
    return { ...NOTHING, targetsOf: positionalsOf(command, given.slice(0, -1))[0] ?? null };
  }
  if (valued?.value !== undefined) return valueOf(valued);
  if (typed.startsWith("-")) return { ...NOTHING, words: optionsOf(command) };
  const positionals = positionalsOf(command, given);
  if (command.name === "completions" && positionals.length === 0) {
    return { ...NOTHING, words: SHELLS.map((word) => ({ word, text: `completions for ${word}` })) };
  }
  if (positionals.length >= command.arity[1]) return NOTHING;
  const slots = slotsAt(command, positionals.length);
  const isTarget = positionals.length > 0 && slots.some((slot) => slot.includes("TARGET"));
  return {
    ...NOTHING,
    files: slots.some((slot) => /FILE|SNIPPET|PATH/.test(slot)),
    targetsOf: isTarget ? positionals[0]! : null,
  };
}

/**
 * Returns the possible arguments after `before` positional words, as the usage names them. There is one possible
 * argument, or several if an argument may be repeated.
 */
function slotsAt({ usage }: Command, before: number): string[] {
  const slots = usage.replace(/(?:^| )-- .*$/, "").split(" ");
  const repeated = slots.findIndex((slot) => slot.includes("…"));
  if (repeated < 0 || before <= repeated) return slots.slice(before, before + 1);
  return slots.slice(repeated);
}

/** Returns the command at the start of the words; null while its name is incomplete. */
function commandOf(words: readonly string[]): Command | null {
  const two = COMMANDS.find(({ name }) => name === words.slice(0, 2).join(" "));
  return two ?? COMMANDS.find(({ name }) => name === words[0]) ?? null;
}

/** Returns the next word of each command that starts with these words. */
function beginnings(before: readonly string[]): Candidate[] {
  const start = before.map((word) => `${word} `).join("");
  const found = new Map<string, string>();
  for (const { name, summary } of COMMANDS) {
    if (!name.startsWith(start)) continue;
    const [word = "", ...more] = name.slice(start.length).split(" ");
    // A group is described by the names in it.
    found.set(
      word,
      more.length === 0 ? summary : `${found.has(word) ? `${found.get(word)}, ` : ""}${more.join(" ")}`,
    );
  }
  return [...found].map(([word, text]) => ({ word, text }));
}

/** Returns the words that `flemma help` accepts. */
function topics(before: readonly string[]): Candidates {
  const all = { word: "all", text: "all commands, exit codes and environment variables" };
  return { ...NOTHING, words: [...beginnings(before), ...(before.length === 0 ? [all] : [])] };
}

function optionsOf({ options }: Command): Candidate[] {
  return options.flatMap(({ name, short, negatable, help }) => [
    { word: `--${name}`, text: help },
    ...(negatable ? [{ word: `--no-${name}`, text: help }] : []),
    ...(short === undefined ? [] : [{ word: `-${short}`, text: help }]),
  ]);
}

function optionNamed({ options }: Command, word: string | undefined): Option | undefined {
  return options.find(({ name, short }) =>
    word === `--${name}` || (short !== undefined && word === `-${short}`)
  );
}

function valueOf({ value }: Option): Candidates {
  return { ...NOTHING, files: /^(?:FILE|PATH|WHERE|FOLDER|DIR)$/.test(value ?? "") };
}

/** Returns the words that are neither options nor their values. */
function positionalsOf(command: Command, words: readonly string[]): string[] {
  return words.filter((word, at) => {
    if (word.startsWith("-") && word !== "-") return false;
    return optionNamed(command, words[at - 1])?.value === undefined;
  });
}
