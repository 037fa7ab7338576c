// Descriptions of a layer's operations, to show what a file from someone else would do.

import { readRule, ruleText } from "../rules/read_rule.ts";
import { isModulePath } from "../schema/module_path.ts";
import { isObject } from "../../base/is_object.ts";
import type { ApprovalPreset } from "../values.ts";
import type { SettingOperation } from "../types.ts";
import { formatValue } from "./render.ts";
import { isPresetPath } from "./resolve.ts";

type Words = (value: unknown) => string;

/** Descriptions for `set` on these keys. Other keys are described by their name. */
const SET: Readonly<Record<string, Words>> = {
  cwd: (folder) => `lets tools work in ${formatValue(folder)}`,
  "sandbox.enabled": (on) => (on === true ? "switches the sandbox on" : "switches the sandbox off"),
  "sandbox.backend": (name) => `uses the sandbox backend ${formatValue(name)}`,
  "sandbox.policy.network": (network) =>
    network === true
      ? "opens the network to commands"
      : network === false
      ? "closes the network to commands"
      : `lets commands reach only these hosts: ${itemsOf(isObject(network) ? network.allow : network)}`,
  "sandbox.policy.allow_privileged": (kept) =>
    kept === true ? "keeps privileges in the sandbox" : "drops privileges in the sandbox",
  "sandbox.policy.rw_paths": (paths) => `makes only these paths writable: ${pathsIn(paths)}`,
  "tools.auto_approve": (list) =>
    typeof list === "function"
      ? "uses its own function to decide which calls run without asking"
      : list === null
      ? "lets no call run without asking"
      : approvedWords(list),
  "tools.rules": (rules) => `has the rules: ${rulesIn(rules)}`,
  "tools.require_approval": (required) =>
    required === false ? "lets calls that no rule matches run without asking" : "asks about calls",
  "tools.auto_approve_sandboxed": (approved) =>
    approved === true ? "lets sandboxed commands run without asking" : "asks about sandboxed commands too",
};

/** Descriptions of additions to a list. The table below has those of removals. */
const ADDED: Readonly<Record<string, Words>> = {
  "sandbox.policy.rw_paths": (path) => `makes ${pathsIn(path)} writable`,
  "sandbox.policy.deny_read": (path) => `hides ${formatValue(path)}`,
  "sandbox.policy.protect": (path) => `keeps ${formatValue(path)} read-only`,
  "tools.auto_approve": approvedWords,
  "tools.rules": (rule) => `adds the rule: ${rulesIn(rule)}`,
};

const REMOVED: Readonly<Record<string, Words>> = {
  "sandbox.policy.rw_paths": (path) => `makes ${pathsIn(path)} read-only`,
  "tools.auto_approve": (name) => `asks about ${formatValue(name)}`,
};

/** Describes one operation as the end of the sentence "This file …", with its key. */
export function describeOperation({ op, path, value }: SettingOperation): string {
  const key = path.join(".");
  return `${sentence(op, path, value)} (${key})`;
}

function sentence(op: SettingOperation["op"], path: readonly string[], value: unknown): string {
  const key = path.join(".");
  if (isPresetPath(path)) return presetWords(path.at(-1)!, value);
  if (op === "set") return SET[key]?.(value) ?? `sets ${path.at(-1)} to ${formatValue(value)}`;
  if (op === "remove") return REMOVED[key]?.(value) ?? `removes ${formatValue(value)} from ${path.at(-1)}`;
  return ADDED[key]?.(value) ?? `adds ${formatValue(value)} to ${path.at(-1)}`;
}

/** Describes approved names, and modules, which decide by code. */
function approvedWords(list: unknown): string {
  const items = [list].flat().map(String);
  const names = items.filter((item) => !isModulePath(item));
  const modules = items.filter(isModulePath);
  return [
    ...(names.length > 0 || modules.length === 0
      ? [`lets these calls run without asking: ${itemsOf(names)}`]
      : []),
    ...(modules.length > 0 ? [`lets code decide what runs without asking: ${itemsOf(modules)}`] : []),
  ].join("; ");
}

/** Describes rules; invalid ones were reported when the file was read. */
function rulesIn(value: unknown): string {
  const texts = [value].flat().flatMap((item) => {
    const rule = readRule(item);
    return rule.ok ? [ruleText(rule.value)] : [];
  });
  return texts.join("; ") || "none";
}

function itemsOf(list: unknown): string {
  return [list].flat().map(formatValue).join(", ") || "none";
}

function presetWords(name: string, value: unknown): string {
  const { approve = [], deny = [], tools = [], ...others } = (value ?? {}) as ApprovalPreset;
  const parts = [
    ...(approve.length > 0 ? [`lets ${approve.join(", ")} run without asking`] : []),
    ...(deny.length > 0 ? [`denies ${deny.join(", ")}`] : []),
    ...(tools.length > 0 ? [`offers ${tools.join(", ")}`] : []),
    ...(Object.keys(others).length > 0 ? [`sets ${Object.keys(others).join(", ")}`] : []),
  ];
  return `defines the preset ${name}: ${parts.length === 0 ? "nothing" : parts.join("; ")}`;
}

function pathsIn(value: unknown): string {
  return [value].flat().map((item) => {
    if (!isObject(item)) return String(item);
    return `${item.path}${item.create === true ? " (created if missing)" : ""}`;
  }).join(", ") || "none";
}
