// Writing of plain data as a layer: walks a settings tree with its operators and writes it to a draft.

import { isObject } from "../../base/is_object.ts";
import type { Catalog } from "../schema/catalog.ts";
import { takesObjects } from "../schema/check.ts";
import { findKey } from "../schema/keys.ts";
import type { Node } from "../schema/define.ts";
import { type LayerDraft, MOST_FINDINGS, type Op, type SettingFault } from "../types.ts";

export interface TreeOptions {
  readonly catalog: Catalog;
  /** True if `null` means an absent member (JSON and YAML frontmatter); otherwise it is the value "none". */
  readonly nullIsAbsent?: boolean;
}

/** Operators in the order in which they take effect, whatever their order in the file. */
const OPERATORS: readonly (readonly [string, Op])[] = [
  ["$set", "set"],
  ["$remove", "remove"],
  ["$append", "append"],
  ["$prepend", "prepend"],
];

/** Writes a whole tree. Applies everything valid and reports faults, up to a maximum. */
export function writeTree(draft: LayerDraft, tree: unknown, options: TreeOptions): readonly SettingFault[] {
  return visit(draft, [], tree, options);
}

function visit(
  draft: LayerDraft,
  keys: readonly string[],
  value: unknown,
  options: TreeOptions,
): readonly SettingFault[] {
  const found = findKey(keys, options.catalog);
  if (!found.ok) return [found.problem];
  const { node, path, member, old } = found.value;
  if (node.node === "old" || (old !== undefined && value === null)) return draft.apply("set", keys, value);
  if (value === null && options.nullIsAbsent && restricts(node)) return [nothingStated(keys, path)];
  if (value === null && (options.nullIsAbsent || node.node === "group")) return [];
  if (!isObject(value) || member !== undefined) return draft.apply("set", keys, value);
  const names = Object.keys(value);
  const operators = node.node === "group" && node.presets ? [] : names.filter((name) => name.startsWith("$"));
  const children = names.filter((name) => !operators.includes(name));
  const faults: SettingFault[] = [];
  for (const name of operators) {
    if (OPERATORS.some(([word]) => word === name)) continue;
    const key = path.join(".");
    const words = OPERATORS.map(([word]) => word).join(", ");
    faults.push({
      code: "config_unknown_operator",
      severity: "error",
      key,
      message: `unknown operator "${name}" on "${key}"; the operators are ${words}`,
      written: [...keys, name],
      atKey: true,
    });
  }
  for (const [name, op] of OPERATORS) {
    if (!operators.includes(name)) continue;
    const operand = value[name];
    if (operand === null && options.nullIsAbsent) continue;
    const found = op === "set" && node.node === "group" && isObject(operand)
      ? visit(draft, keys, operand, options)
      : draft.apply(op, keys, operand);
    faults.push(...found.map((fault) => ({ ...fault, written: [...keys, name] })));
  }
  if (node.node === "key") {
    const isWhole = operators.length === 0 && (takesObjects(node.type) || names.length === 0);
    if (isWhole) return [...faults, ...draft.apply("set", keys, value)];
  }
  // Before the members, of which one may say `enabled: false`.
  if (node.node === "group" && node.isOnWhenWritten === true) faults.push(...draft.apply("set", keys, {}));
  // The real key is written last, so that it takes precedence over an alias anywhere in the file.
  const aliases = node.node === "group" ? node.aliases ?? {} : {};
  const isAlias = (name: string) => Object.hasOwn(aliases, name);
  for (const name of [...children.filter(isAlias), ...children.filter((name) => !isAlias(name))]) {
    if (faults.length >= MOST_FINDINGS) break;
    faults.push(...visit(draft, [...keys, name], value[name], options));
  }
  // An old key is never an error, and gets its warning even if it is an empty table.
  if (old !== undefined) return node.node === "group" ? draft.apply("set", keys, {}) : [];
  return faults;
}

/** True if omitting the value may have been meant as a restriction. */
function restricts(node: Node): boolean {
  if (node.node === "group") return node.list !== undefined;
  return node.node === "key" && (node.narrows !== undefined || node.type.is === "list");
}

function nothingStated(written: readonly string[], path: readonly string[]): SettingFault {
  const key = path.join(".");
  return {
    code: "config_invalid_value",
    severity: "error",
    key,
    message:
      `"${key}" has no value here, so it has no effect; write [] for an empty list, or delete the line`,
    written,
  };
}
