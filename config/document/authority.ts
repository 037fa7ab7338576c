// The part of the frontmatter about what may run and how, which the person has to agree to.

import { isObject } from "../../base/is_object.ts";
import { type LayerLog, resolveScalar } from "../layers/log.ts";
import { narrows } from "../layers/narrowing.ts";
import { describeOperation } from "../layers/words.ts";
import type { SettingKey } from "../schema/define.ts";
import { nodeAt } from "../schema/keys.ts";
import type { SettingOperation } from "../types.ts";

export interface Authority {
  /**
   * Canonical text of the values, independent of how the frontmatter writes them. If a value is a function, which
   * cannot be compared, the text contains the whole frontmatter.
   */
  readonly text: string;
  readonly lines: readonly string[];
}

/** The tool with which a model asks helpers. */
const ASK_TOOL = "ask_document";

/** Keys about what may run and how, including all keys below them. */
const KEYS = ["cwd", "sandbox", "tools.auto_approve", "tools.presets", "presets", "tools.require_approval"];

/** Extracts the authority from the frontmatter's operations; `code` is its text. Empty without frontmatter. */
export function authorityOf(logs: readonly LayerLog[], code: string | null): Authority {
  const log = logs.find(({ layer }) => layer === "M");
  const operations = log?.operations ?? [];
  const operationsByKey = byKey([
    ...operations.filter(({ path }) => isAuthority(path.join("."))),
    ...operations.some(offersHelpers) ? [{ op: "append", path: ["tools"], value: ASK_TOOL } as const] : [],
  ]);
  return {
    text: canonical(operationsByKey, code),
    lines: [...operationsByKey.values()].flat().map(describeOperation),
  };
}

/** Everything that frontmatter sets except parameters and other settings that need no trust. */
export interface StatedAuthority {
  /** Canonical text of everything that the frontmatter sets, like `Authority.text`; empty if it sets nothing. */
  readonly text: string;
  /** True if the frontmatter only restricts rights. */
  readonly narrows: boolean;
}

/** Extracts what the frontmatter's operations set; `code` is its text. */
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

/** Returns the text of an authority that consists of a working folder only, given its real path. */
export function authorityOfFolder(folder: string): string {
  return canonical(byKey([{ op: "set", path: ["cwd"], value: folder }]), null);
}

function keyAt(path: readonly string[]): SettingKey {
  const node = nodeAt(path);
  if (node.node === "group" && node.list !== undefined) return node.list;
  if (node.node !== "key") throw new Error(`${path.join(".")} is not a key.`);
  return node;
}

/** True if an operation offers the tool that asks helpers. */
function offersHelpers({ op, path, value }: SettingOperation): boolean {
  return op !== "remove" && path.join(".") === "tools" && [value].flat().includes(ASK_TOOL);
}

/** Groups operations by key; `set` discards earlier operations. */
function byKey(operations: readonly SettingOperation[]): ReadonlyMap<string, readonly SettingOperation[]> {
  const found = new Map<string, readonly SettingOperation[]>();
  for (const operation of operations) {
    const key = operation.path.join(".");
    found.set(key, operation.op === "set" ? [operation] : [...found.get(key) ?? [], operation]);
  }
  return found;
}

/** Returns a text that is equal for equal values, whatever the order of their keys. */
function canonical(
  operationsByKey: ReadonlyMap<string, readonly SettingOperation[]>,
  code: string | null,
): string {
  const values = [...operationsByKey].sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, operations]) => [key, operations.map(({ op, value }) => [op, ordered(value)])]);
  const functions = [...operationsByKey.values()].flat().some(({ value }) => typeof value === "function");
  return JSON.stringify(functions ? { values, block: code } : { values });
}

function isAuthority(key: string): boolean {
  return KEYS.some((name) => key === name || key.startsWith(`${name}.`));
}

/** Sorts members by name, because Lua tables have no order. */
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
