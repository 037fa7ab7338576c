// Project settings: which parts take effect before the person trusts the file, and which never do.

import type { Catalog } from "../schema/catalog.ts";
import { narrows } from "../layers/narrowing.ts";
import {
  isPresetPath,
  listPresets,
  listStart,
  profileOf,
  resolveValue,
  toolList,
} from "../layers/resolve.ts";
import { nodeAt } from "../schema/keys.ts";
import { type LayerLog, resolveList, resolveScalar } from "../layers/log.ts";
import { modulePath, modulesIn } from "../schema/module_path.ts";
import type { SettingOperation } from "../types.ts";
import { allPresets, collectPresets, expandList } from "../layers/presets.ts";
import type { ApprovalPreset } from "../values.ts";
import type { Group, Node, SettingKey } from "../schema/define.ts";
import { takesOver } from "../layers/servers.ts";
import { nameFilter } from "../rules/name_filter.ts";

export interface ProjectShare {
  readonly operations: readonly SettingOperation[];
  /** Tools that presets in the file's lists deny. */
  readonly denied: readonly string[];
  /** Keys without effect, because the person has not trusted the file, or because a project may never set them. */
  readonly ignored: readonly string[];
}

/** Returns absolute paths of the code files that a project's operations name. */
export function namedFiles(log: LayerLog, root: string, home: string): string[] {
  const files = new Set<string>();
  for (const { op, path, value } of log.operations) {
    if (op === "remove") continue;
    const node = keyOf(path);
    if (!node.loads && path.join(".") !== "tools.auto_approve" && path.join(".") !== "sandbox.backend") {
      continue;
    }
    for (const name of modulesIn(value)) files.add(modulePath(name, `${root}/.flemma`, home));
  }
  return [...files];
}

/**
 * Returns the operations that a trusted file may perform: all except those that name programs and places. Code must be
 * inside the project.
 */
export function trustedShare(
  log: LayerLog,
  root: string,
  home: string,
  below: readonly LayerLog[] = [],
): ProjectShare {
  const ignored = new Set<string>();
  const operations = log.operations.filter(({ path, value }) => {
    const node = keyOf(path);
    const outside = modulesIn(value).some((name) =>
      !modulePath(name, `${root}/.flemma`, home).startsWith(`${root}/`)
    );
    const loads = node.loads || path.join(".") === "tools.auto_approve";
    const refused = !node.who.includes("P") || (node.host && !node.loads) || (loads && outside) ||
      node.personal?.includes(value) || takesOver(path, below);
    if (refused) ignored.add(path.join("."));
    return !refused;
  });
  return { operations, denied: [], ignored: [...ignored] };
}

/**
 * Returns the operations of an untrusted file that take effect: parameters, and anything that only restricts rights.
 *
 * @param below the layers with lower precedence; a restriction is compared with their values
 */
export function untrustedShare(log: LayerLog, below: readonly LayerLog[], catalog: Catalog): ProjectShare {
  const operations: SettingOperation[] = [];
  const ignored = new Set<string>();
  const own = collectPresets([log]);
  for (const operation of log.operations) {
    const { op, path, value } = operation;
    const key = path.join(".");
    const node = keyOf(path);
    if (isPresetPath(path)) {
      // Only the denials of a preset take effect, through the lists that name the preset.
      if (Object.keys(value as ApprovalPreset).some((member) => member !== "deny")) ignored.add(key);
      continue;
    }
    if (node.neutral) {
      // A preset can approve tools. So a `model` that names one of the project's presets has no effect until the person
      // trusts the project.
      const preset = key === "model" && typeof value === "string" && Object.hasOwn(own, value);
      if (preset) ignored.add(key);
      else operations.push(operation);
      continue;
    }
    const current = () => resolveScalar(below, key, node.default).value;
    if (op === "remove" && key === "tools.auto_approve" && String(value).startsWith("$")) {
      // Removing the preset from the list would also remove its denials, so only the names that it approves are
      // removed.
      const members = expandList([String(value)], allPresets(below, profileOf(below))).approve;
      operations.push(...[...members].map((member): SettingOperation => ({ op, path, value: member })));
      continue;
    }
    if (node.narrows !== undefined && narrows(op, node, value, current)) {
      operations.push(operation);
      continue;
    }
    if (op === "set" && node.narrows === "restrict" && Array.isArray(value)) {
      const restricting = value.filter((item) => narrows("append", node, item, current));
      operations.push({ op, path, value: restricting });
      ignored.add(key);
      continue;
    }
    if (op === "set" && node.narrows === "remove" && Array.isArray(value)) {
      operations.push(...leftOut(path, value, below, log, catalog));
      if (value.length > 0) ignored.add(key);
      continue;
    }
    ignored.add(key);
  }
  const listed = log.on("tools.auto_approve")
    .filter(({ op }) => op !== "remove").flatMap(({ value }) => [value].flat())
    .filter((item): item is string => typeof item === "string");
  const presets = { ...allPresets(below, profileOf(below)), ...own };
  return { operations, denied: [...expandList(listed, presets).deny], ignored: [...ignored] };
}

/** Applies a list from an untrusted file as the removal of everything it omits. */
function leftOut(
  path: readonly string[],
  kept: readonly unknown[],
  below: readonly LayerLog[],
  log: LayerLog,
  catalog: Catalog,
): SettingOperation[] {
  const key = path.join(".");
  const remove = (value: unknown): SettingOperation => ({ op: "remove", path, value });
  if (key === "skills") {
    const list = (nodeAt(path) as Group).list!;
    const { value, excluded } = resolveList(below, key, listStart(below, key, list), listPresets(below, key));
    const isAllowed = nameFilter(value as readonly string[], excluded);
    return [{ op: "set", path, value: kept.filter((name) => isAllowed(String(name))) }];
  }
  if (key === "tools.auto_approve") {
    const node = nodeAt(path) as SettingKey;
    const list = resolveList(below, key, listStart(below, key, node), listPresets(below, key));
    if (!Array.isArray(list.value)) return [];
    const presets = allPresets(below, profileOf(below));
    const names = (items: readonly unknown[], known: typeof presets) =>
      expandList(items.filter((item): item is string => typeof item === "string"), known).approve;
    const keeps = names(kept, { ...presets, ...collectPresets([log]) });
    return [...names(list.value, presets)].filter((name) => !keeps.has(name)).map(remove);
  }
  const items = key === "tools"
    ? toolList(below, catalog)
    : resolveValue(below, path, nodeAt(path) as SettingKey) as readonly unknown[];
  const texts = new Set(kept.map((item) => JSON.stringify(item)));
  return items.filter((item) => !texts.has(JSON.stringify(item))).map(remove);
}

function keyOf(path: readonly string[]): SettingKey {
  const node: Node = nodeAt(path);
  if (node.node === "group" && node.list !== undefined) return node.list;
  if (node.node !== "key") throw new Error(`${path.join(".")} is not a key.`);
  return node;
}
