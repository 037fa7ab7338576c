// From keys as a person wrote them to the place in the schema: aliases, dotted names, and help with unknown ones.

import type { Catalog } from "./catalog.ts";
import { nearest } from "../../base/names.ts";
import { type Outcome, success } from "../../base/problem.ts";
import type { Fault } from "../types.ts";
import { foreignHint } from "../data/hints.ts";
import { SCHEMA } from "./schema.ts";
import type { Group, Node } from "./define.ts";
import { type OldKey, oldKey } from "../data/old_keys.ts";

/** A place in the schema. */
export interface Place {
  readonly path: readonly string[];
  readonly node: Node | typeof OLD;
  /** The member of a record (`thinking.level`). */
  readonly member?: string;
  /** The old key that was written, and what became of it. */
  readonly old?: OldKey & { readonly key: string };
}

/** The place of a key, or what is wrong with it. */
export type Found = Outcome<Place, Fault>;

/** Where the way of written keys ends, and which names would go on from there. */
interface Lost {
  readonly path: readonly string[];
  readonly name: string;
  names(): readonly string[];
}

/** Finds what the written keys mean. An unknown key is answered with the nearest right one. */
export function findKey(written: readonly string[], catalog: Catalog): Found {
  const found = locate(written, catalog);
  return "node" in found ? success(found) : unknown(written, found.path, found.name, found.names());
}

/** The canonical path of the written keys, or null. Costs nothing where there is none, unlike the help with it. */
export function canonicalPath(written: readonly string[], catalog: Catalog): readonly string[] | null {
  const found = locate(written, catalog);
  return "node" in found ? found.path : null;
}

function locate(written: readonly string[], catalog: Catalog): Place | Lost {
  let node: Place["node"] = SCHEMA;
  let path: readonly string[] = [];
  let old: Pick<Place, "old"> = {};
  const open = [...written];
  while (open.length > 0) {
    const name = open.shift()!;
    if (node.node === "old") break;
    if (node.node === "key") {
      const members: readonly string[] = node.record ? ["level", "foreign"] : [];
      if (members.includes(name) && open.length === 0) return { path, node, member: name, ...old };
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
    const group: Group = node;
    return { path, name, names: () => namesOf(group, catalog) };
  }
  return { path, node, ...old };
}

/** Stands where an old key has no effect. */
const OLD = { node: "old" } as const;

/** The node of a canonical path; throws when there is none, which would be a fault of the program. */
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
  // A name that is special to objects of the language would not be kept as what it is.
  if (group.others === undefined || name === "__proto__") return null;
  if (name.includes(".") && !name.startsWith("$")) return null;
  // Only tools have settings of their own below `tools`: those that are registered, and those that sources may have.
  if (isToolTable(group) && !catalog.tools.some((tool) => tool.name === name)) {
    if (catalog.open !== true || nearest(name, namesOf(group, catalog), 1) !== null) return null;
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

/** Whether members with free names are tools. */
function isToolTable(group: Group): boolean {
  return group.list !== undefined && group.others !== undefined;
}

function unknown(
  written: readonly string[],
  path: readonly string[],
  name: string,
  names: readonly string[],
): Found {
  const key = [...path, name.slice(0, 80)].join(".");
  const foreign = nearest(name, names, 1) === null ? foreignHint(path, name) : null;
  // The very name at another depth is surer than a similar one here.
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

/** Where a leaf name exists in the tree, for keys put at the wrong depth. Tables of providers only repeat names. */
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
