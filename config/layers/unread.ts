// Settings that nothing reads yet: they are known, so they are no mistake, but they do nothing.

import type { Node } from "../schema/define.ts";
import { nodeAt } from "../schema/keys.ts";
import { SCHEMA } from "../schema/schema.ts";
import type { Fault } from "../types.ts";
import type { LayerLog } from "./log.ts";

/** A warning for each key of a layer that nothing reads. */
export function unreadKeys(log: LayerLog): Fault[] {
  const keys = new Map(log.operations.map(({ path }) => [path.join("."), path]));
  return [...keys].filter(([, path]) => isUnread(nodeAt(path))).map(([key, written]) => ({
    code: "config_ignored_value",
    severity: "warning",
    key,
    message: `"${key}": nothing reads this yet`,
    written,
    atKey: true,
  }));
}

/** The keys of the whole tree that nothing reads yet. */
export function allUnread(node: Node = SCHEMA, path: readonly string[] = []): string[] {
  if (node.node !== "group") return isUnread(node) ? [path.join(".")] : [];
  return Object.entries(node.members).flatMap(([name, member]) => allUnread(member, [...path, name]));
}

function isUnread(node: Node): boolean {
  return node.node === "key" && node.unread === true;
}
