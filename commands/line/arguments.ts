// Parses a command line into a command, options and positional arguments, strictly and without guessing.

import { readDuration } from "../../base/text/duration.ts";
import type { Arguments, OptionValue } from "./options.ts";
import { COMMANDS } from "./table.ts";
import type { Command, Option } from "./spec.ts";
import { asksForVersion } from "./version.ts";

export interface UsageMistake {
  readonly message: string;
  /** The unknown word, and the words that may have been meant. */
  readonly unknown?: { readonly word: string; readonly known: readonly string[] };
  readonly command: Command | null;
  /** The group to show help for, if that help fits the mistake better than the help of the command. */
  readonly group?: string;
  /** Positional arguments read so far; they show whether the document would come from standard input. */
  readonly positionals: readonly string[];
}

export type ReadArguments =
  | { readonly kind: "run"; readonly arguments: Arguments }
  | { readonly kind: "help"; readonly topic: string }
  | { readonly kind: "version" }
  /** The command line has no command and no file. */
  | { readonly kind: "bare"; readonly arguments: Arguments }
  | { readonly kind: "mistake"; readonly mistake: UsageMistake };

const FIRST_WORDS = [...new Set(COMMANDS.map(({ name }) => name.split(" ")[0]!))];

/**
 * Parses the words after the program's name. `isFile` says whether a first word that is not a command names a
 * file.
 */
export function readArguments(given: readonly string[], isFile: (word: string) => boolean): ReadArguments {
  if (asksForVersion(given)) return { kind: "version" };
  const words = withCommandFirst(given);
  const [first, second] = words;
  if (first === "--help" || first === "-h" || first === "help") {
    return { kind: "help", topic: words.slice(1).filter((word) => !word.startsWith("-")).join(" ") };
  }
  const advance = COMMANDS[0]!;
  if (first === undefined) {
    const bare = { command: advance, positionals: [], rest: [], options: new Map() };
    return { kind: "bare", arguments: bare };
  }
  const named = find(`${first} ${second}`) ?? find(first);
  if (named !== undefined) return readRest(named, words.slice(named.name.split(" ").length), isFile);
  const group = COMMANDS.filter(({ name }) => name.startsWith(`${first} `));
  if (group.length > 0) return readGroup(words, group, isFile);
  if (first.startsWith("-") || isFile(first)) {
    const read = readRest(advance, words, isFile);
    return read.kind === "run" ? { ...read, arguments: { ...read.arguments, isBare: true } } : read;
  }
  const known = [...FIRST_WORDS, "help", "--version"];
  const message = `There is no command or file ${first}.`;
  const positionals = words.slice(1).filter((word) => !word.startsWith("-") || word === "-");
  return mistake(message, null, positionals, { unknown: { word: first, known } });
}

/** Moves options that stand before a command behind it. Without a command, the words stay as they are. */
function withCommandFirst(words: readonly string[]): readonly string[] {
  let at = 0;
  while (words[at]?.startsWith("-") && !["-", "--", "-h", "--help"].includes(words[at]!)) {
    at += takesValue(words[at]!) ? 2 : 1;
  }
  const first = words[at];
  if (at === 0 || first === undefined || !FIRST_WORDS.includes(first)) return words;
  const length = find(`${first} ${words[at + 1]}`) === undefined ? 1 : 2;
  return [...words.slice(at, at + length), ...words.slice(0, at), ...words.slice(at + length)];
}

/** True if the word is an option of any command whose value is the next word. */
function takesValue(word: string): boolean {
  return COMMANDS.some((command) => lookUp(command, word)?.option.value !== undefined);
}

function find(name: string): Command | undefined {
  return COMMANDS.find((command) => command.name === name);
}

function readGroup(
  [first = "", ...others]: readonly string[],
  group: readonly Command[],
  isFile: (word: string) => boolean,
): ReadArguments {
  const [second] = others;
  if (second === "--help" || second === "-h") return { kind: "help", topic: first };
  const standard = group.find((command) => command.standard);
  // In a group of one command, the next word can only be its argument.
  const isArgument = second === undefined || group.length === 1 || second.startsWith("-") || isFile(second);
  if (standard !== undefined && isArgument) return readRest(standard, others, isFile);
  if (second === undefined || isFile(second)) {
    const before = second === undefined ? "" : `, before ${second}`;
    const message = `${first} needs one of: ${group.map(({ name }) => name).join(", ")}${before}.`;
    return mistake(message, group[0]!, [], { group: first });
  }
  const known = group.map(({ name }) => name.split(" ")[1]!);
  return mistake(`There is no command ${first} ${second}.`, group[0]!, [], {
    group: first,
    unknown: { word: second, known },
  });
}

function mistake(
  message: string,
  command: Command | null,
  positionals: readonly string[],
  more: Pick<UsageMistake, "unknown" | "group"> = {},
): ReadArguments {
  return { kind: "mistake", mistake: { message, command, positionals, ...more } };
}

function readRest(
  command: Command,
  words: readonly string[],
  isFile: (word: string) => boolean,
): ReadArguments {
  const options = new Map<string, OptionValue>();
  const positionals: string[] = [];
  let rest: readonly string[] = [];
  let wrong: { message: string; unknown?: UsageMistake["unknown"] } | null = null;
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!;
    if (word === "--") {
      rest = words.slice(at + 1);
      break;
    }
    if (word === "-" || !word.startsWith("-")) {
      // After a mistake the word may be the value of an unknown option.
      if (wrong === null || word === "-" || isFile(word)) positionals.push(word);
      continue;
    }
    const equals = word.indexOf("=");
    const written = equals < 0 ? word : word.slice(0, equals);
    const found = lookUp(command, written);
    if (found === null) {
      const known = command.options.flatMap(spellings);
      wrong ??= { message: `${command.name} has no option ${written}.`, unknown: { word: written, known } };
      continue;
    }
    const { option, negated } = found;
    if (option.name === "help") return { kind: "help", topic: command.name };
    if (option.value === undefined) {
      if (equals >= 0) wrong ??= { message: `${written} takes no value.` };
      options.set(option.name, !negated);
      continue;
    }
    const text = equals < 0 ? words[++at] : word.slice(equals + 1);
    if (text === undefined) {
      wrong ??= { message: `${written} needs a value (${option.value}).` };
      break;
    }
    const value = readValue(option, text);
    if (value === null) {
      wrong ??= { message: `${written} needs ${NUMBERS[option.type ?? "count"]}, not ${text}.` };
    } else if (option.many) {
      const before = options.get(option.name);
      options.set(option.name, [...(Array.isArray(before) ? before : []), text]);
    } else options.set(option.name, value);
  }
  if (!command.takesCommand) {
    positionals.push(...rest);
    rest = [];
  } else if (rest.length === 0) wrong ??= { message: commandMissing(command, positionals, isFile) };
  if (wrong === null) wrong = checkTogether(command, options) ?? checkArity(command, positionals, options);
  if (wrong !== null) return mistake(wrong.message, command, positionals, { unknown: wrong.unknown });
  return { kind: "run", arguments: { command, positionals, rest, options } };
}

const NUMBERS = {
  count: "a whole number of 0 or more",
  seconds: "a number of 0 or more",
  amount: "a number of 0 or more, such as 0.50",
  duration: "seconds or a duration, such as 90, 30m or 6h",
} as const;

/**
 * Returns an example of how to pass a command line. If `--` was probably forgotten, the example is the corrected
 * command line.
 */
function commandMissing(
  { name, example }: Command,
  positionals: readonly string[],
  isFile: (word: string) => boolean,
): string {
  const [first] = positionals;
  const files = first !== undefined && isFile(first) ? 1 : 0;
  const meant = positionals.slice(files);
  const words = meant.length === 0
    ? example
    : ["flemma", name, ...positionals.slice(0, files), "--", ...meant].join(" ");
  return `${name} needs a command after --, such as: ${words}`;
}

/** Checks options that exclude or need other options. */
function checkTogether(
  command: Command,
  given: ReadonlyMap<string, OptionValue>,
): { message: string } | null {
  for (const { name, excludes = [], needs } of command.options) {
    if (!given.has(name)) continue;
    const other = excludes.find((other) => given.has(other));
    if (other !== undefined) return { message: `--${name} cannot be combined with --${other}.` };
    if (needs !== undefined && !given.has(needs)) return { message: `--${name} needs --${needs}.` };
  }
  return null;
}

function checkArity(
  command: Command,
  positionals: readonly string[],
  given: ReadonlyMap<string, OptionValue>,
): { message: string } | null {
  const { arity: [least, most], usage, name, options } = command;
  if (positionals.length < least) return { message: `${name} needs ${usage}.` };
  const single = options.find((option) => option.single && given.has(option.name));
  if (single !== undefined && positionals.length > 1) {
    return { message: `--${single.name} takes one FILE, not also ${positionals[1]}.` };
  }
  if (positionals.length > most) {
    return { message: `Unexpected argument ${positionals[most]}. Usage: flemma ${name} ${usage}`.trimEnd() };
  }
  return null;
}

function spellings({ name, short, negatable }: Option): string[] {
  return [
    `--${name}`,
    ...(negatable ? [`--no-${name}`] : []),
    ...(short === undefined ? [] : [`-${short}`]),
  ];
}

function lookUp(command: Command, written: string): { option: Option; negated: boolean } | null {
  for (const option of command.options) {
    if (written === `--${option.name}` || (option.short !== undefined && written === `-${option.short}`)) {
      return { option, negated: false };
    }
    if (option.negatable && written === `--no-${option.name}`) return { option, negated: true };
  }
  return null;
}

function readValue(option: Option, text: string): string | number | null {
  if (option.type === undefined) return text;
  if (option.type === "duration") return readDuration(text);
  const pattern = option.type === "count" ? /^\d+$/ : /^\d+(\.\d+)?$/;
  return pattern.test(text) ? Number(text) : null;
}
