// Layers as logs of operations, and the resolution of a key by replaying them.

import { isObject } from "../../base/is_object.ts";
import { sameItem } from "../schema/check.ts";
import { compareLayers, type Layer, type SettingOperation } from "../types.ts";
import type { Presets } from "../values.ts";

/** The log of one layer, with its operations indexed by key. */
export class LayerLog {
  readonly #byKey = new Map<string, SettingOperation[]>();
  readonly #all: SettingOperation[] = [];

  constructor(readonly layer: Layer, operations: Iterable<SettingOperation> = []) {
    for (const operation of operations) this.push(operation);
  }

  get operations(): readonly SettingOperation[] {
    return this.#all;
  }

  push(operation: SettingOperation): void {
    this.#all.push(operation);
    const key = operation.path.join(".");
    const known = this.#byKey.get(key);
    if (known === undefined) this.#byKey.set(key, [operation]);
    else known.push(operation);
  }

  on(key: string): readonly SettingOperation[] {
    return this.#byKey.get(key) ?? [];
  }

  below(prefix: readonly string[]): readonly (readonly string[])[] {
    const found = new Map<string, readonly string[]>();
    for (const { path } of this.#all) {
      if (path.length > prefix.length && prefix.every((name, at) => path[at] === name)) {
        found.set(path.join("."), path);
      }
    }
    return [...found.values()];
  }
}

/** A resolved scalar: the value (`null` means no value) and the layer that decided. */
export interface Scalar {
  readonly value: unknown;
  readonly layer: Layer;
}

/** Sorts logs in ascending order of their layers' precedence; logs of one layer keep their order. */
export function sortLogs(logs: readonly LayerLog[]): readonly LayerLog[] {
  return [...logs].sort((a, b) => compareLayers(a.layer, b.layer));
}

/** Keys for which the session has higher precedence than the document. */
const SESSION_FIRST: ReadonlySet<string> = new Set(["sandbox.enabled"]);

/** Lists that every layer can extend, but from which no layer can remove another's items. */
const ACCUMULATING: ReadonlySet<string> = new Set(["tools.rules"]);

/** Returns the layers in ascending order of precedence for a key. */
function orderFor(key: string, logs: readonly LayerLog[]): readonly LayerLog[] {
  if (!SESSION_FIRST.has(key)) return logs;
  const of = (layer: Layer) => logs.filter((log) => log.layer === layer);
  const below = logs.filter(({ layer }) => layer !== "R" && layer !== "C");
  return [...below, ...of("R"), ...of("C")];
}

/**
 * Resolves a scalar: the layer with the highest precedence that set the key decides. Within the layer, the last write
 * decides.
 */
export function resolveScalar(logs: readonly LayerLog[], key: string, fallback: unknown): Scalar {
  const ordered = orderFor(key, logs);
  for (let at = ordered.length - 1; at >= 0; at--) {
    const last = ordered[at]!.on(key).at(-1);
    if (last !== undefined) return { value: last.value, layer: ordered[at]!.layer };
  }
  return { value: fallback === undefined ? null : fallback, layer: "D" };
}

/** A resolved list. `value` is null after an explicit "no value", a function after one was assigned. */
export interface ResolvedList {
  readonly value: readonly unknown[] | CallableFunction | null;
  /** Every layer that contributed since the last set, in ascending order of precedence. */
  readonly layers: readonly Layer[];
  /** Names that were removed, but that a preset may still contain. */
  readonly excluded: readonly string[];
}

/**
 * Replays the operations of all layers.
 *
 * @param start the default list
 * @param presets for lists that may contain `$names`: removing a reference that is not in the list removes its members,
 * and removing a name also excludes it from presets
 */
export function resolveList(
  logs: readonly LayerLog[],
  key: string,
  start: readonly unknown[] | null,
  presets?: Presets,
): ResolvedList {
  let items: unknown[] | null = start === null ? null : [...start];
  let callable: CallableFunction | null = null;
  let layers: Layer[] = ["D"];
  const excluded = new Set<string>();
  for (const log of logs) {
    // Items of other layers stay: no layer can undo what another forbids.
    const kept = ACCUMULATING.has(key) ? [...items ?? []] : [];
    for (const { op, value } of log.on(key)) {
      if (ACCUMULATING.has(key) && (op === "set" || op === "remove")) {
        const now = (items ?? []).slice(kept.length);
        const own = op === "set"
          ? (Array.isArray(value) ? value : [])
          : now.filter((item) => !sameItem(item, value));
        items = [...kept, ...own];
        if (own.length > 0 && !layers.includes(log.layer)) layers.push(log.layer);
        continue;
      }
      if (op === "set") {
        callable = typeof value === "function" ? value : null;
        items = Array.isArray(value) ? [...value] : null;
        layers = [log.layer];
        excluded.clear();
        continue;
      }
      if (op === "remove" && items === null && callable === null) {
        // If there is no value, there is nothing to remove, and the removal must not create an empty list.
        if (typeof value === "string" && presets !== undefined) excluded.add(value);
        continue;
      }
      // If a layer with lower precedence has a function or no value, a new list starts here.
      callable = null;
      items ??= [];
      if (op === "remove") {
        if (removeFrom(items, excluded, value, presets) && !layers.includes(log.layer)) {
          layers.push(log.layer);
        }
        continue;
      }
      items = items.filter((item) => !sameItem(item, value));
      if (op === "append") items.push(value);
      else items.unshift(value);
      if (typeof value === "string") excluded.delete(value);
      if (!layers.includes(log.layer)) layers.push(log.layer);
    }
  }
  return { value: callable ?? items, layers, excluded: [...excluded] };
}

/** Returns true if something changed. */
function removeFrom(
  items: unknown[],
  excluded: Set<string>,
  value: unknown,
  presets: Presets | undefined,
): boolean {
  const at = items.findIndex((item) => sameItem(item, value));
  if (at >= 0) items.splice(at, 1);
  if (presets === undefined || typeof value !== "string") return at >= 0;
  if (!value.startsWith("$")) {
    const fresh = !excluded.has(value);
    excluded.add(value);
    return at >= 0 || fresh;
  }
  if (at >= 0) return true;
  const members = Object.hasOwn(presets, value) ? presets[value]!.approve ?? [] : [];
  let changed = false;
  for (const member of members) {
    if (!member.startsWith("$")) changed = removeFrom(items, excluded, member, presets) || changed;
  }
  return changed;
}

/** True if two values have the same content. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, at) => sameValue(item, b[at]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => sameValue(a[name], b[name]));
}
