// Settings for display: every key with its value and the layers it comes from.

import { success } from "../../base/problem.ts";
import { isObject } from "../../base/is_object.ts";
import type { Catalog } from "../schema/catalog.ts";
import { isPresetPath, listPresets, listStart, profileOf, resolveTools, resolveValue } from "./resolve.ts";
import { findKey } from "../schema/keys.ts";
import { type LayerLog, resolveList, resolveScalar } from "./log.ts";
import { type Layer, LAYER_NAMES, type LayerAnswer } from "../types.ts";
import { allPresets, BUILTIN_PRESETS } from "./presets.ts";
import { SCHEMA } from "../schema/schema.ts";
import type { Node, SettingKey } from "../schema/define.ts";

export interface Row {
  readonly key: string;
  /** Value of the key: `null` for no value, a function for an assigned policy. */
  readonly value: unknown;
  /**
   * The layers that the value comes from, in ascending order of precedence. There are several only for a list that
   * several layers changed.
   */
  readonly layers: readonly Layer[];
  /** Names excluded from the presets of the list. */
  readonly excluded?: readonly string[];
  /** A session value that a layer with higher precedence overrides. */
  readonly hidden?: { readonly layer: Layer; readonly value: unknown };
}

/** Returns every key that exists in these layers, in schema order. */
export function allRows(logs: readonly LayerLog[], catalog: Catalog): Row[] {
  const rows: Row[] = [];
  const visit = (node: Node, path: readonly string[]): void => {
    if (node.node === "key") {
      rows.push(rowOf(logs, catalog, path, node));
      return;
    }
    if (node.list !== undefined) rows.push(rowOf(logs, catalog, path, node.list));
    for (const [name, member] of Object.entries(node.members)) visit(member, [...path, name]);
    if (node.others === undefined) return;
    const written = new Set(
      logs.flatMap((log) => log.below(path)).map((found) => found[path.length]!)
        .filter((name) => !Object.hasOwn(node.members, name)),
    );
    for (const name of written) visit(node.others, [...path, name]);
  };
  visit(SCHEMA, []);
  // Unset provider parameters would only repeat the general ones.
  return rows.filter((row) =>
    row.value !== null || row.layers.some((layer) => layer !== "D") || row.key.split(".").length < 3
  );
}

/** Returns one key with its value, or `config_unknown_key`. Also accepts members of presets and of whole values. */
export function lookUp(
  logs: readonly LayerLog[],
  catalog: Catalog,
  key: string,
): LayerAnswer<Row | readonly Row[]> {
  if (key === "tools.auto_approve.expanded" || key === "tools.auto_approve.excluded") {
    const row = rowOf(logs, catalog, ["tools", "auto_approve"], keyAt(["tools", "auto_approve"], catalog));
    const excluded = row.excluded ?? [];
    return {
      ok: true,
      value: { ...row, key, value: key.endsWith("excluded") ? excluded : expandedOf(logs, row) },
    };
  }
  const preset = /^(?:tools\.)?presets\.(\$.+?)(?:\.(approve|deny|provider|model|parameters))?$/.exec(key);
  if (preset !== null) {
    const presets = allPresets(logs, profileOf(logs));
    const found = Object.hasOwn(presets, preset[1]!) ? presets[preset[1]!] : undefined;
    if (found !== undefined) {
      const value = preset[2] === undefined ? found : found[preset[2] as keyof typeof found] ?? null;
      const layers = [
        ...new Set(
          logs.filter((log) =>
            log.on(`presets.${preset[1]}`).length + log.on(`tools.presets.${preset[1]}`).length > 0
          ).map((log) => log.layer),
        ),
      ];
      return success({ key, value, layers: layers.length === 0 ? ["D"] : layers });
    }
  }
  const found = findKey(key.split("."), catalog);
  if (!found.ok) return found;
  const { node, path, member } = found.value;
  if (node.node === "old") return success([]);
  if (node.node === "group") {
    const prefix = path.join(".");
    const rows = allRows(logs, catalog).filter((row) =>
      row.key === prefix || row.key.startsWith(`${prefix}.`)
    );
    return success(rows);
  }
  const row = rowOf(logs, catalog, path, node);
  if (member === undefined) return success(row);
  return success({ ...row, key, value: isObject(row.value) ? row.value[member] ?? null : null });
}

export function originOf(logs: readonly LayerLog[], catalog: Catalog, key: string): string {
  const found = lookUp(logs, catalog, key);
  if (!found.ok) return "defaults";
  const rows: readonly Row[] = "key" in found.value ? [found.value] : found.value;
  const layers = new Set(rows.flatMap((row) => row.layers));
  const named = [...layers].filter((layer) => layer !== "D" || layers.size === 1 || rows.length === 1);
  return named.map((layer) => LAYER_NAMES[layer]).join(", ") || "defaults";
}

function keyAt(path: readonly string[], catalog: Catalog): SettingKey {
  const found = findKey(path, catalog);
  if (!found.ok || found.value.node.node !== "key") throw new Error(`${path.join(".")} is not a key.`);
  return found.value.node;
}

function rowOf(logs: readonly LayerLog[], catalog: Catalog, path: readonly string[], key: SettingKey): Row {
  const name = path.join(".");
  if (name === "tools") {
    const { list } = resolveTools(logs, catalog);
    return { key: name, value: list.value, layers: list.layers };
  }
  if (key.type.is === "list") {
    const list = resolveList(logs, name, listStart(logs, name, key), listPresets(logs, name));
    return {
      key: name,
      value: list.value,
      layers: list.layers,
      ...(name === "tools.auto_approve" ? { excluded: list.excluded } : {}),
    };
  }
  if (isPresetPath(path)) {
    return {
      key: name,
      value: resolveValue(logs, path, key),
      layers: [resolveScalar(logs, name, null).layer],
    };
  }
  const { value, layer } = resolveScalar(logs, name, key.default);
  const session = logs.filter((log) => log.layer === "R").flatMap((log) => log.on(name)).at(-1);
  const hidden = session !== undefined && layer !== "R"
    ? { hidden: { layer: "R" as const, value: session.value } }
    : {};
  return { key: name, value, layers: [layer], ...hidden };
}

/** Returns the tools in a resolved approval list, with presets expanded and exclusions removed. */
export function expandedOf(logs: readonly LayerLog[], row: Row): readonly string[] {
  if (!Array.isArray(row.value)) return [];
  const presets = { ...BUILTIN_PRESETS[profileOf(logs)], ...allPresets(logs, profileOf(logs)) };
  const names = (row.value as string[]).flatMap((entry) =>
    entry.startsWith("$") ? [...presets[entry]?.approve ?? []] : [entry]
  );
  const excluded = new Set(row.excluded ?? []);
  return [...new Set(names)].filter((name) => !excluded.has(name));
}
