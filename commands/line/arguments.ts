// Parses a command line into a command, options and positional arguments; strict, without guessing.

import type { Arguments, OptionValue } from "./options.ts";
import { COMMANDS } from "./table.ts";
import type { Command, Option } from "./spec.ts";
import { asksForVersion } from "./version.ts";

export interface UsageMistake {
  readonly message: string;
  /** The unknown word, and the words it may have meant. */
  readonly unknown?: { readonly word: string; readonly known: readonly string[] };
  readonly command: Command | null;
  /** Positional arguments read so far; they show whether the document would come from standard input. */
  readonly positionals: readonly string[];
}

export type ReadArguments =
  | { readonly kind: "run"; readonly arguments: Arguments }
  | { readonly kind: "help"; readonly topic: string }
  | { readonly kind: "version" }
  /** No command and no file. */
  | { readonly kind: "bare"; readonly arguments: Arguments }
  | { readonly kind: "mistake"; readonly mistake: UsageMistake };

const FIRST_WORDS = [...new Set(COMMANDS.map(({ name }) => name.split(" ")[0]!))];

/**
 * Parses the words after the program's name. `isFile` says whether a first word that is not a command names a
 * file.
 */
export function readArguments(words: readonly string[], isFile: (word: string) => boolean): ReadArguments {
  const [first, second] = words;
  if (asksForVersion(words)) return { kind: "version" };
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
  if (group.length > 0) return readGroup(first, second, group);
  if (first.startsWith("-") || isFile(first)) return readRest(advance, words, isFile);
  const known = [...FIRST_WORDS, "help", "--version"];
  const message = `There is no command or file ${first}.`;
  const positionals = words.slice(1).filter((word) => !word.startsWith("-") || word === "-");
  return mistake(message, null, positionals, { word: first, known });
}

function find(name: string): Command | undefined {
  return COMMANDS.find((command) => command.name === name);
}

function readGroup(first: string, second: string | undefined, group: readonly Command[]): ReadArguments {
  if (second === undefined || second === "--help" || second === "-h") {
    if (second !== undefined) return { kind: "help", topic: first };
    return mistake(`${first} needs one of: ${group.map(({ name }) => name).join(", ")}.`, group[0]!, []);
  }
  const known = group.map(({ name }) => name.split(" ")[1]!);
  return mistake(`There is no command ${first} ${second}.`, group[0]!, [], { word: second, known });
}

function mistake(
  message: string,
  command: Command | null,
  positionals: readonly string[],
  unknown?: UsageMistake["unknown"],
): ReadArguments {
  return { kind: "mistake", mistake: { message, command, positionals, unknown } };
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
  if (wrong === null) wrong = checkArity(command, positionals);
  if (wrong !== null) return mistake(wrong.message, command, positionals, wrong.unknown);
  return { kind: "run", arguments: { command, positionals, rest, options } };
}

const NUMBERS = {
  count: "a whole number of 0 or more",
  seconds: "a number of 0 or more",
  amount: "a number of 0 or more, such as 0.50",
} as const;

/** How to pass a command line, including the likely intent if `--` was forgotten. */
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

function checkArity(command: Command, positionals: readonly string[]): { message: string } | null {
  const [least, most] = command.arity;
  if (positionals.length < least) return { message: `${command.name} needs ${command.usage}.` };
  if (positionals.length > most) {
    return { message: `${command.name} does not know what to do with ${positionals[most]}.` };
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
  const pattern = option.type === "count" ? /^\d+$/ : /^\d+(\.\d+)?$/;
  return pattern.test(text) ? Number(text) : null;
}
