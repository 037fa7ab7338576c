// Resolution of keys as written to places in the schema: aliases, dotted names, and hints for unknown keys.

import type { Catalog } from "./catalog.ts";
import { nearest } from "../../base/names.ts";
import { type Outcome, success } from "../../base/problem.ts";
import type { SettingFault } from "../types.ts";
import { foreignHint } from "../data/hints.ts";
import { SCHEMA } from "./schema.ts";
import type { Group, Node } from "./define.ts";
import { type OldKey, oldKey } from "../data/old_keys.ts";

export interface KeyMatch {
  readonly path: readonly string[];
  readonly node: Node | typeof OLD;
  /** Member of a record (`thinking.level`). */
  readonly member?: string;
  /** The old key as written, and the key that replaces it. */
  readonly old?: OldKey & { readonly key: string };
}

export type KeyLookup = Outcome<KeyMatch, SettingFault>;

/** The point at which written keys stop matching, and the names that are valid at that point. */
interface Lost {
  readonly path: readonly string[];
  readonly name: string;
  names(): readonly string[];
}

/** Resolves written keys. The failure for an unknown key suggests the closest valid one. */
export function findKey(written: readonly string[], catalog: Catalog): KeyLookup {
  const found = locate(written, catalog);
  return "node" in found ? success(found) : unknown(written, found.path, found.name, found.names());
}

/** Returns the canonical path of the written keys, or null, without the cost of finding suggestions. */
export function canonicalPath(written: readonly string[], catalog: Catalog): readonly string[] | null {
  const found = locate(written, catalog);
  return "node" in found ? found.path : null;
}

function locate(written: readonly string[], catalog: Catalog): KeyMatch | Lost {
  let node: KeyMatch["node"] = SCHEMA;
  let path: readonly string[] = [];
  let old: Pick<KeyMatch, "old"> = {};
  const open = [...written];
  while (open.length > 0) {
    const name = open.shift()!;
    if (node.node === "old") break;
    if (node.node === "key") {
      const members: readonly string[] = node.record ? ["level", "foreign"] : [];
      if (members.includes(name) && open.length === 0) return { path, node, member: name, ...old };
      if (old.old !== undefined) return { path, node: OLD, ...old };
      return { path, name, names: () => members };
    }
    const step = stepInto(node, path, name, catalog);
    if (step !== null) {
      path = [...path, ...step.path];
      node = step.node;
      continue;
    }
    const key = [...path, name].join(".");
    const gone = oldKey(key);
    if (gone !== null) {
      old = { old: { ...gone, key } };
      path = gone.now ?? [...path, name];
      node = gone.now === undefined ? OLD : nodeAt(path);
      continue;
    }
    const dot = name.startsWith("$") ? -1 : name.indexOf(".");
    if (dot > 0) {
      open.unshift(name.slice(0, dot), name.slice(dot + 1));
      continue;
    }
    if (old.old !== undefined) return { path, node: OLD, ...old };
    const group: Group = node;
    return { path, name, names: () => namesOf(group, catalog) };
  }
  return { path, node, ...old };
}

/** Node of an old key without effect. */
const OLD = { node: "old" } as const;

/** Returns the node of a canonical path. Throws if there is none, which is a bug. */
export function nodeAt(path: readonly string[]): Node {
  let node: Node = SCHEMA;
  for (const name of path) {
    const next: Node | undefined = node.node === "group"
      ? (Object.hasOwn(node.members, name) ? node.members[name] : node.others)
      : undefined;
    if (next === undefined) throw new Error(`The settings have no ${path.join(".")}.`);
    node = next;
  }
  return node;
}

function stepInto(
  group: Group,
  path: readonly string[],
  name: string,
  catalog: Catalog,
): { path: readonly string[]; node: Node } | null {
  if (Object.hasOwn(group.members, name)) return { path: [name], node: group.members[name]! };
  const alias = group.aliases !== undefined && Object.hasOwn(group.aliases, name)
    ? group.aliases[name]
    : undefined;
  if (alias !== undefined) return { path: alias, node: nodeAt([...path, ...alias]) };
  // A name special to JavaScript objects would not be stored as an ordinary member.
  if (group.others === undefined || name === "__proto__") return null;
  if (name.includes(".") && !name.startsWith("$")) return null;
  // Below `tools`, only registered tools and those that sources may provide have settings of their own.
  if (isToolTable(group) && !catalog.tools.some((tool) => tool.name === name)) {
    const isOther = oldKey([...path, name].join(".")) !== null ||
      nearest(name, namesOf(group, catalog), 1) !== null;
    if (catalog.open !== true || isOther) return null;
  }
  return { path: [name], node: group.others };
}

function namesOf(group: Group, catalog: Catalog): string[] {
  return [
    ...Object.keys(group.members),
    ...Object.keys(group.aliases ?? {}),
    ...(isToolTable(group) ? catalog.tools.map((tool) => tool.name) : []),
  ];
}

/** True if the group's members with free names are tools. */
function isToolTable(group: Group): boolean {
  return group.list !== undefined && group.others !== undefined;
}

function unknown(
  written: readonly string[],
  path: readonly string[],
  name: string,
  names: readonly string[],
): KeyLookup {
  const key = [...path, name.slice(0, 80)].join(".");
  const foreign = nearest(name, names, 1) === null ? foreignHint(path, name) : null;
  // The exact name at another depth is more likely than a similar name at this depth.
  const elsewhere = foreign === null ? placesOf(name).slice(0, 3) : [];
  const near = foreign === null && elsewhere.length === 0 ? nearest(name, names) : null;
  const hint = foreign !== null
    ? `: ${foreign}`
    : near !== null
    ? `; did you mean "${[...path, near].join(".")}"?`
    : elsewhere.length > 0
    ? `; it belongs to "${elsewhere.join('" or "')}"`
    : "";
  return {
    ok: false,
    problem: {
      code: "config_unknown_key",
      severity: "error",
      key,
      message: `unknown key "${key}"${hint}`,
      ...(near === null ? {} : { suggestion: near }),
      written,
      atKey: true,
    },
  };
}

/** Finds a leaf name anywhere in the tree, for keys at the wrong depth. Provider tables only repeat names. */
function placesOf(name: string, node: Node = SCHEMA, path: readonly string[] = []): string[] {
  if (node.node !== "group") return [];
  return Object.entries(node.members).flatMap(([key, member]) => {
    const here = [...path, key];
    if (here[0] === "parameters" && here.length > 2 && path.length === 2 && placesOfGeneral.has(name)) {
      return [];
    }
    return [...(key === name ? [here.join(".")] : []), ...placesOf(name, member, here)];
  });
}

const placesOfGeneral: ReadonlySet<string> = new Set(
  Object.entries((SCHEMA.members.parameters as Group).members)
    .filter(([, node]) => node.node === "key").map(([name]) => name),
);
