// Resolution of keys over all layers, with defaults that depend on the profile and on registered names.

import type { Catalog } from "../schema/catalog.ts";
import { type LayerLog, resolveList, resolveScalar } from "./log.ts";
import { allPresets } from "./presets.ts";
import type { SettingKey } from "../schema/define.ts";

/** Returns the resolved value of a key: lists as arrays or a function, `null` for none. */
export function resolveValue(logs: readonly LayerLog[], path: readonly string[], key: SettingKey): unknown {
  const name = path.join(".");
  if (key.type.is !== "list") return resolveScalar(logs, name, key.default).value;
  return resolveList(logs, name, listStart(logs, name, key), listPresets(logs, name)).value;
}

/** Returns the default of a list. The default of the approval list depends on the profile. */
export function listStart(
  logs: readonly LayerLog[],
  name: string,
  key: SettingKey,
): readonly unknown[] | null {
  if (name === "tools.auto_approve") return profileOf(logs) === "founding" ? ["$default"] : ["$standard"];
  return Array.isArray(key.default) ? key.default : key.optional ? null : [];
}

/**
 * Returns the presets for a list's `$names`; only approval has any. For skills it is empty but defined, so that
 * removing a name also excludes it from patterns in the list.
 */
export function listPresets(logs: readonly LayerLog[], name: string) {
  if (name === "skills") return {};
  return name === "tools.auto_approve" ? allPresets(logs, profileOf(logs)) : undefined;
}

export function profileOf(logs: readonly LayerLog[]): "founding" | "v0.11" {
  return resolveScalar(logs, "tools.approval_profile", "founding").value as "founding" | "v0.11";
}

/** Resolves the tool list: all enabled tools, changed by the layers. */
export function resolveTools(logs: readonly LayerLog[], catalog: Catalog) {
  const enabled = catalog.tools
    .filter((tool) => tool.enabled !== false)
    .map((tool) => tool.name)
    .filter((name) => resolveScalar(logs, `tools.${name}.enabled`, true).value !== false);
  const presets = allPresets(logs, profileOf(logs));
  const list = resolveList(logs, "tools", enabled);
  const members = (list.value as readonly string[]).flatMap((name) =>
    name.startsWith("$") ? [...(presets[name]?.approve ?? [])] : [name]
  );
  return { list, offered: [...new Set(members)], leftOut: leftOut(logs) };
}

/** Returns the names removed from the list of all enabled tools; null if a layer assigned its own list. */
function leftOut(logs: readonly LayerLog[]): readonly string[] | null {
  const names = new Set<string>();
  for (const { op, value } of logs.flatMap((log) => log.on("tools"))) {
    if (op === "set") return null;
    if (typeof value !== "string") continue;
    if (op === "remove") names.add(value);
    else names.delete(value);
  }
  return [...names];
}

/** Returns the tool list with unexpanded `$presets`. */
export function toolList(logs: readonly LayerLog[], catalog: Catalog): readonly unknown[] {
  return resolveTools(logs, catalog).list.value as readonly unknown[];
}

/** Returns the list that a group itself represents, with unexpanded `$presets`. */
export function groupList(
  logs: readonly LayerLog[],
  path: readonly string[],
  key: SettingKey,
  catalog: Catalog,
): unknown {
  return path[0] === "tools" ? toolList(logs, catalog) : resolveValue(logs, path, key);
}

/** True if a path is that of a preset, in either place. */
export function isPresetPath(path: readonly string[]): boolean {
  return (path.length === 2 && path[0] === "presets") ||
    (path.length === 3 && path[0] === "tools" && path[1] === "presets");
}
