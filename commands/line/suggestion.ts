// Suggests what an unknown command or option probably meant. Loaded only after such a mistake.

import { nearest } from "../../base/names.ts";
import { shellWord } from "../../base/shell_word.ts";
import type { UsageMistake } from "./arguments.ts";

/** Names of commands in similar programs, mapped to the commands of flemma. */
export const OTHER_NAMES: Readonly<Record<string, string>> = {
  cat: "show",
  chat: "new",
  continue: "advance",
  cost: "usage",
  create: "new",
  exec: "execute",
  export: "show",
  find: "list",
  history: "list",
  init: "new",
  key: "auth set",
  keys: "auth set",
  kill: "cancel",
  lint: "check",
  login: "auth set",
  ls: "list",
  model: "models list",
  permissions: "approval explain",
  prompt: "ask",
  query: "ask",
  read: "show",
  resume: "advance",
  run: "advance",
  search: "list",
  settings: "config show",
  setup: "doctor",
  start: "advance",
  stop: "cancel",
  validate: "check",
  view: "show",
};

/** Names of commands in similar programs that change settings. */
const CHANGES: readonly string[] = ["add", "edit", "remove", "set", "unset", "write"];

/** Returns the sentence to append to the error, with a leading blank; empty if nothing is similar. */
export function suggestion({ unknown, command, group }: UsageMistake): string {
  if (unknown === undefined) return "";
  if (group === "config" && CHANGES.includes(unknown.word)) {
    return " To change a setting, edit a file that this command names: flemma config path";
  }
  if (command === null && /\s/.test(unknown.word)) {
    return ` To ask that: flemma ask ${shellWord(unknown.word)}`;
  }
  const found = command === null
    ? suggestName(unknown.word, unknown.known)
    : nearestWord(unknown.word, unknown.known);
  return found === undefined ? "" : ` Did you mean ${found}?`;
}

/** Returns the command that an unknown name probably means, by its name in similar programs or by its spelling. */
export function suggestName(word: string, known: readonly string[]): string | undefined {
  return Object.hasOwn(OTHER_NAMES, word) ? OTHER_NAMES[word] : nearestWord(word, known);
}

function nearestWord(word: string, known: readonly string[]): string | undefined {
  // Dashes are removed first. With dashes, every short option would resemble every other.
  const bare = (word: string) => word.replace(/^-+/, "");
  const meant = bare(word);
  const found = nearest(meant, known.map(bare), Math.min(3, Math.floor(meant.length / 2)));
  return known.find((word) => bare(word) === found);
}
