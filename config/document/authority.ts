// What a first block comes to where it says what may run and how: the part of it that a person agrees to.

import { isObject } from "../../base/is_object.ts";
import { type LayerLog, resolveScalar } from "../layers/log.ts";
import { narrows } from "../layers/narrowing.ts";
import { inWords } from "../layers/words.ts";
import type { Key } from "../schema/define.ts";
import { nodeAt } from "../schema/keys.ts";
import type { Operation } from "../types.ts";

export interface Authority {
  /**
   * The values in a form that is the same for the same values, however the block spells them. Where one is a function,
   * which has no value to compare, it holds the whole block.
   */
  readonly text: string;
  /** Each of its operations in words. */
  readonly lines: readonly string[];
}

/** Keys that say what may run and how; those below them belong to them. */
const KEYS = ["sandbox", "tools.auto_approve", "tools.presets", "presets", "tools.require_approval"];

/** What the operations of a first block come to; `code` is its text. Without a block: nothing. */
export function authorityOf(logs: readonly LayerLog[], code: string | null): Authority {
  const log = logs.find(({ layer }) => layer === "M");
  const stated = byKey((log?.operations ?? []).filter(({ path }) => isAuthority(path.join("."))));
  return { text: canonical(stated, code), lines: [...stated.values()].flat().map(inWords) };
}

/** Everything a first block says but parameters and the like, which need no trust. */
export interface StatedAuthority {
  /** As `Authority.text`, over all of it; empty when it says nothing. */
  readonly text: string;
  /** Whether all of it takes rights away. */
  readonly narrows: boolean;
}

/** What the operations of a first block say; `code` is its text. */
export function findStatedAuthority(logs: readonly LayerLog[], code: string | null): StatedAuthority {
  const others = logs.filter(({ layer }) => layer !== "M");
  const operations = (logs.find(({ layer }) => layer === "M")?.operations ?? [])
    .filter(({ path }) => !keyAt(path).neutral);
  return {
    text: operations.length === 0 ? "" : canonical(byKey(operations), code),
    narrows: operations.every(({ op, path, value }) => {
      const key = keyAt(path);
      return narrows(op, key, value, () => resolveScalar(others, path.join("."), key.default).value);
    }),
  };
}

function keyAt(path: readonly string[]): Key {
  const node = nodeAt(path);
  if (node.node === "group" && node.list !== undefined) return node.list;
  if (node.node !== "key") throw new Error(`${path.join(".")} is no key.`);
  return node;
}

/** The operations of each key; what was said before is replaced by a value that is set. */
function byKey(operations: readonly Operation[]): ReadonlyMap<string, readonly Operation[]> {
  const found = new Map<string, readonly Operation[]>();
  for (const operation of operations) {
    const key = operation.path.join(".");
    found.set(key, operation.op === "set" ? [operation] : [...found.get(key) ?? [], operation]);
  }
  return found;
}

/** A text that is the same for the same values, in whatever order the keys were written. */
function canonical(stated: ReadonlyMap<string, readonly Operation[]>, code: string | null): string {
  const values = [...stated].sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, operations]) => [key, operations.map(({ op, value }) => [op, ordered(value)])]);
  const functions = [...stated.values()].flat().some(({ value }) => typeof value === "function");
  return JSON.stringify(functions ? { values, block: code } : { values });
}

function isAuthority(key: string): boolean {
  return KEYS.some((name) => key === name || key.startsWith(`${name}.`));
}

/** The value with members in the order of their names: tables of Lua have none of their own. */
function ordered(value: unknown): unknown {
  if (typeof value === "function") return "function";
  if (Array.isArray(value)) return value.map(ordered);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)).map((
      [name, member],
    ) => [name, ordered(member)]),
  );
}
