// Short names of helpers, and where their documents are. Pure.

import { baseName, callerOf, helperFolderOf } from "../../../base/paths.ts";

export { ASK_TOOL } from "../../../config/layers/presets.ts";

/** Maximum number of characters of a name. */
const LONGEST = 40;

/** True if a text is a short name of a helper, so that it cannot lead to another folder. */
export function isHelperName(text: string): boolean {
  return text.length <= LONGEST && /^[a-z0-9-]+$/.test(text);
}

/** Returns the path of a helper's document. */
export function helperPath(caller: string, name: string): string {
  return `${helperFolderOf(caller)}/${name}.chat`;
}

/** Returns the path of a helper's document relative to the folder of its caller, as results show it. */
export function shownPath(caller: string, name: string): string {
  return `${baseName(helperFolderOf(caller))}/${name}.chat`;
}

/** Returns the short name of a helper, by the path of its document. */
export function nameOfHelper(path: string): string {
  return baseName(path).replace(/\.chat$/, "");
}

/** Returns an unused name: the wanted one, or the wanted one with a number. */
export function unusedName(wanted: string, isUsed: (name: string) => boolean): string {
  if (!isUsed(wanted)) return wanted;
  for (let at = 2;; at++) {
    const end = `-${at}`;
    const name = `${wanted.slice(0, LONGEST - end.length)}${end}`;
    if (!isUsed(name)) return name;
  }
}

/** Returns the name for a helper to which the model gave none: that of its preset, or `helper`. */
export function nameForPreset(preset: string | null): string {
  const name = (preset ?? "").toLowerCase().replaceAll(/[^a-z0-9]+/g, "-").replaceAll(/^-+|-+$/g, "");
  return name === "" ? "helper" : name.slice(0, LONGEST);
}

/** Returns how many callers a document has: 0 for one that is not a helper. */
export function depthOf(path: string): number {
  const caller = callerOf(path);
  return caller === null ? 0 : 1 + depthOf(caller);
}

/** Returns the line below the reply of a helper that names it. */
export function helperLine(caller: string, name: string): string {
  return `Helper: ${name} (${shownPath(caller, name)})`;
}
