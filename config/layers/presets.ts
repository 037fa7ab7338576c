// Presets: named approvals, providers, models and parameters, merged from both places where they are defined.

import { isObject } from "../../base/is_object.ts";
import { kindOf } from "../schema/check.ts";
import type { LayerLog } from "./log.ts";
import { isShortRule, readShortRule } from "../rules/read_rule.ts";
import { withoutPrefixes } from "../data/prefixed_list.ts";
import { readModeline } from "../schema/presets/modeline.ts";
import type { SettingFault } from "../types.ts";
import type { ApprovalPreset, Presets } from "../values.ts";

/** Name of the tool with which a model asks a helper. */
export const ASK_TOOL = "ask_document";

const STANDARD: ApprovalPreset = { approve: ["read", "write", "edit", "find", "grep", "ls"] };

export const BUILTIN_PRESETS: Readonly<Record<"founding" | "v0.11", Presets>> = {
  founding: {
    $default: { approve: ["read", "write", "edit"] },
    $readonly: { approve: ["read"] },
    $standard: STANDARD,
  },
  "v0.11": { $readonly: { approve: ["read", "find", "grep", "ls"] }, $standard: STANDARD },
};

/** Both places of presets. A preset under `tools` takes precedence, member by member. */
const HOMES: readonly (readonly string[])[] = [["presets"], ["tools", "presets"]];

/** Returns the presets that layers define, without built-in ones. Values in the logs already are `ApprovalPreset`s. */
export function collectPresets(logs: readonly LayerLog[]): Presets {
  const merged: Record<string, ApprovalPreset> = {};
  for (const home of HOMES) {
    const strongest: Record<string, ApprovalPreset> = {};
    for (const log of logs) {
      for (const path of log.below(home)) {
        strongest[path.at(-1)!] = log.on(path.join(".")).at(-1)!.value as ApprovalPreset;
      }
    }
    for (const [name, preset] of Object.entries(strongest)) merged[name] = { ...merged[name], ...preset };
  }
  return merged;
}

/** Returns all effective presets: a person's preset replaces the built-in one of the same name completely. */
export function allPresets(logs: readonly LayerLog[], profile: "founding" | "v0.11"): Presets {
  return { ...BUILTIN_PRESETS[profile], ...collectPresets(logs) };
}

type ReadPreset = { readonly preset: ApprovalPreset } | { readonly faults: readonly SettingFault[] };

export function readPreset(path: readonly string[], value: unknown): ReadPreset {
  const key = path.join(".");
  const name = path.at(-1)!;
  if (!name.startsWith("$")) {
    const above = path.slice(0, -1).join(".");
    const message =
      `"${above}" contains the name "${name}", which must begin with $; did you mean "$${name}"?`;
    return { faults: [{ ...wrong(above, message), suggestion: `$${name}`, atKey: true }] };
  }
  if (typeof value === "string") {
    const line = readModeline(value);
    return line.ok ? { preset: line.value } : {
      faults: [wrong(key, `"${key}" is not a line "PROVIDER MODEL key=value …": ${line.problem.message}`)],
    };
  }
  const table = Array.isArray(value)
    ? Object.fromEntries(value.map((item, at) => [String(at + 1), item]))
    : value;
  if (!isObject(table)) {
    return { faults: [wrong(key, `"${key}" expects a line or a table, found ${kindOf(value)}`)] };
  }
  return readTable(key, table);
}

function wrong(key: string, message: string): SettingFault {
  return { code: "config_invalid_value", severity: "error", key, message };
}

function readTable(key: string, table: Readonly<Record<string, unknown>>): ReadPreset {
  const faults: SettingFault[] = [];
  const names = (member: string): readonly string[] => {
    const list = table[member];
    if (list === undefined || list === null) return [];
    if (Array.isArray(list) && list.every((item) => typeof item === "string" && item !== "")) {
      for (const item of list as string[]) {
        const rule = isShortRule(item) ? readShortRule(item, member === "deny" ? "deny" : "approve") : null;
        if (rule !== null && !rule.ok) {
          const why = rule.problem.map(({ message }) => message).join("; ");
          faults.push(wrong(`${key}.${member}`, `"${item}" in "${key}.${member}" is not a rule: ${why}`));
        }
      }
      return list as string[];
    }
    faults.push(
      wrong(`${key}.${member}`, `"${key}.${member}" expects a list of tool names, found ${kindOf(list)}`),
    );
    return [];
  };
  const word = (...members: string[]): string | undefined => {
    const member = members.find((member) => table[member] !== undefined && table[member] !== null);
    if (member === undefined) return undefined;
    const found = table[member];
    if (typeof found === "string" && found !== "") return found;
    faults.push(wrong(`${key}.${member}`, `"${key}.${member}" expects a name, found ${kindOf(found)}`));
    return undefined;
  };
  const approve = withoutPrefixes([...names("approve"), ...names("auto_approve")]);
  const deny = names("deny");
  const tools = names("tools");
  const provider = word("provider", "1");
  const model = word("model", "2");
  const {
    approve: _a,
    auto_approve: _b,
    deny: _c,
    tools: _t,
    provider: _d,
    model: _e,
    parameters: inner,
    system: _f,
    worktree,
    ...rest
  } = table;
  if (inner !== undefined && inner !== null && !isObject(inner)) {
    faults.push(wrong(`${key}.parameters`, `"${key}.parameters" expects a mapping, found ${kindOf(inner)}`));
  }
  const system = word("system");
  if (worktree !== undefined && worktree !== null && typeof worktree !== "boolean") {
    faults.push(
      wrong(`${key}.worktree`, `"${key}.worktree" expects true or false, found ${kindOf(worktree)}`),
    );
  }
  const parameters = Object.fromEntries(
    Object.entries({ ...(isObject(inner) ? inner : {}), ...rest }).filter(([name]) => !/^\d+$/.test(name)),
  );
  if (faults.length > 0) return { faults };
  return {
    preset: {
      ...(table.approve !== undefined || table.auto_approve !== undefined ? { approve } : {}),
      ...(table.deny !== undefined ? { deny } : {}),
      ...(table.tools !== undefined ? { tools } : {}),
      ...(provider === undefined ? {} : { provider }),
      ...(model === undefined ? {} : { model }),
      ...(Object.keys(parameters).length === 0 ? {} : { parameters }),
      ...(system === undefined ? {} : { system }),
      ...(typeof worktree === "boolean" ? { worktree } : {}),
    },
  };
}

export interface ExpandedList {
  readonly approve: ReadonlySet<string>;
  readonly deny: ReadonlySet<string>;
  /** `$names` without a preset, which contribute nothing. */
  readonly unknown: readonly string[];
}

/**
 * Combines all presets and plain names of a list, without the excluded names. Denials are separate: they take
 * precedence, and an exclusion does not lift them.
 */
export function expandList(
  list: readonly string[],
  presets: Presets,
  excluded: readonly string[] = [],
): ExpandedList {
  const approve = new Set<string>();
  const deny = new Set<string>();
  const unknown: string[] = [];
  for (const entry of list) {
    if (!entry.startsWith("$")) {
      approve.add(entry);
      continue;
    }
    const preset = Object.hasOwn(presets, entry) ? presets[entry] : undefined;
    if (preset === undefined) unknown.push(entry);
    for (const name of preset?.approve ?? []) approve.add(name);
    for (const name of preset?.deny ?? []) deny.add(name);
  }
  for (const name of excluded) approve.delete(name);
  return { approve, deny, unknown };
}
