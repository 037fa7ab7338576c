// Names that look like settings, to distinguish a misplaced restriction from an ordinary variable.

import { isObject } from "../../base/is_object.ts";
import { editDistance } from "../../base/names.ts";
import type { Group, Node } from "./define.ts";
import { foreignRestriction } from "../data/hints.ts";
import { SCHEMA } from "./schema.ts";

/** A name that means a setting, and the setting's path. */
export interface SettingsWord {
  /** The path below the root of the settings, e.g. `tools.auto_approve`. */
  readonly path: string;
  /** True if the name can only mean settings, whatever its context. */
  readonly sure: boolean;
}

/** Top-level names that mean settings even though they are common elsewhere. */
const SURE_GROUPS: ReadonlySet<string> = new Set(["tools", "sandbox"]);
/** Words that are too common to mean settings, because many documents have variables with these names. */
const COMMON: ReadonlySet<string> = new Set(["enabled", "files", "rules", "skills"]);
const WHOLE: ReadonlySet<string> = new Set([
  "config",
  "configuration",
  "frontmatter",
  "opt",
  "options",
  "opts",
  "settings",
]);

const WORDS: ReadonlyMap<string, SettingsWord> = collect();
/** Words that are long and distinctive enough to be recognized with one wrong letter. */
const SURE_WORDS: readonly string[] = [...WORDS].filter(([word, { sure }]) => sure && word.length > 5)
  .map(([word]) => word);

/** Returns the setting that a top-level name of a block or file means; null for any other name. */
export function settingsWord(name: string): SettingsWord | null {
  const first = name.split(".", 1)[0]!;
  const plain = plainly(first);
  const known = WORDS.get(plain);
  if (known !== undefined) return known;
  const foreign = foreignRestriction(first);
  if (foreign !== null) return { path: foreign, sure: true };
  const near = SURE_WORDS.find((word) =>
    Math.abs(word.length - plain.length) <= 1 && editDistance(plain, word) === 1
  );
  return near === undefined ? null : WORDS.get(near)!;
}

/** True if the value under a name for the whole tree (`config`, `opt`) contains settings. */
export function holdsSettings(name: string, members: Iterable<string>): boolean {
  return WHOLE.has(plainly(name)) && [...members].some((member) => settingsWord(member)?.sure === true);
}

/** True if a value is a list of approval rules, under any name. */
export function holdsRules(value: unknown): boolean {
  const items = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
  return items.some((item) =>
    isObject(item) && ["approve", "ask", "deny"].some((word) => Object.hasOwn(item, word))
  );
}

/** Matches a word followed by an assignment or a member access. */
const ASSIGNED = /(?:^|[{,;])[ \t]*["']?([A-Za-z_][\w-]*)["']?[ \t]*(?:[:.[]|=(?!=))/gm;

/** Returns the first assigned name in a text that means a setting, with its line in the text, from 0. */
export function settingsIn(
  text: string,
  isMeant: (word: SettingsWord, name: string) => boolean = () => true,
): { readonly name: string; readonly word: SettingsWord; readonly line: number } | null {
  for (const found of text.matchAll(ASSIGNED)) {
    const name = found[1]!;
    const word = settingsWord(name);
    if (word === null || !isMeant(word, name)) continue;
    const at = found.index + found[0].indexOf(name);
    return { name, word, line: text.slice(0, at).split("\n").length - 1 };
  }
  return null;
}

function plainly(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, "");
}

function collect(): Map<string, SettingsWord> {
  const words = new Map<string, SettingsWord>();
  const add = (name: string, path: string, sure: boolean) => {
    if (!words.has(plainly(name))) words.set(plainly(name), { path, sure });
  };
  add("flemma", "", true);
  for (const name of Object.keys(SCHEMA.members)) {
    if (!COMMON.has(name)) add(name, name, SURE_GROUPS.has(name));
  }
  for (const [alias, path] of Object.entries(SCHEMA.aliases ?? {})) add(alias, path.join("."), false);
  // Restricting settings, and their aliases.
  const visit = (node: Node, path: readonly string[]): void => {
    const name = path.at(-1) ?? "";
    if (node.node === "key") {
      if (node.narrows !== undefined && !COMMON.has(name)) add(name, path.join("."), name.includes("_"));
    } else if (node.node === "group") {
      for (const [alias, target] of Object.entries(node.aliases ?? {})) {
        add(alias, [...path, ...target].join("."), false);
      }
      for (const [member, inner] of Object.entries(node.members)) visit(inner, [...path, member]);
    }
  };
  for (const name of SURE_GROUPS) visit(SCHEMA.members[name] as Group, [name]);
  add("autopilot", "tools.autopilot", false);
  return words;
}
