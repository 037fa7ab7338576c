// Detection of frontmatter content that looks like settings but has no effect.

import { isObject } from "../../base/is_object.ts";
import { holdsRules, holdsSettings, settingsIn, type SettingsWord, settingsWord } from "../schema/words.ts";
import type { ChunkProblem } from "../types.ts";

/**
 * Reports variables of a block that have names of settings.
 *
 * @returns errors; `line` is the line of the code from 1 where the name was found
 */
export function idleSettings(
  variables: Readonly<Record<string, unknown>>,
  code: string,
  isLua: boolean,
): ChunkProblem[] {
  return Object.entries(variables).flatMap(([name, value]) => {
    const word = holdsRules(value) ? { path: "tools.rules", sure: true } : settingsWord(name);
    const whole = isObject(value) && holdsSettings(name, Object.keys(value));
    if (word === null && !whole) return [];
    const line = lineOf(name, code);
    return [{
      code: "config_without_effect",
      severity: "error",
      key: name,
      message: `"${name}" is a template variable here and changes no setting: ${remedy(word, isLua)}; ` +
        "to keep the variable, rename it",
      ...(word === null || word.path === "" ? {} : { suggestion: suggestion(word, isLua) }),
      ...(line === null ? {} : { line }),
    }];
  });
}

/** True if a value that is not a table was meant as settings: a list of settings, or lines of Lua. */
export function mentionsSettings(value: unknown): boolean {
  if (typeof value === "string") return settingsIn(value) !== null;
  return Array.isArray(value) && value.some((item) => isObject(item) && nameInside(item) !== null);
}

/** Returns the first key of a table that looks like the name of a setting; null if there is none. */
function nameInside(table: Readonly<Record<string, unknown>>): string | null {
  return Object.keys(table).find((name) => settingsWord(name) !== null) ?? null;
}

function remedy(word: SettingsWord | null, isLua: boolean): string {
  if (word === null || word.path === "") {
    return isLua ? "write flemma.opt.NAME = …" : 'write its contents below "flemma:"';
  }
  return isLua ? `write ${suggestion(word, true)} = …` : `write it below "flemma:" as ${word.path}`;
}

function suggestion({ path }: SettingsWord, isLua: boolean): string {
  return `${isLua ? "flemma.opt" : "flemma"}.${path}`;
}

function lineOf(name: string, code: string): number | null {
  const escaped = name.replaceAll(/[^\w]/g, "\\$&");
  const at = new RegExp(`(?:^|[{,;\\s"'])${escaped}["']?[ \\t]*[:=.[]`, "m").exec(code);
  return at === null ? null : code.slice(0, at.index + at[0].indexOf(name)).split("\n").length;
}
