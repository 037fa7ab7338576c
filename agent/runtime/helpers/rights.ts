// The frontmatter of a helper: the rights of its caller, restricted by a preset. Pure.

import { isObject } from "../../../base/is_object.ts";
import { failed, type Outcome, type Problem, success } from "../../../base/problem.ts";
import type { LayerLog } from "../../../config/layers/log.ts";
import { presetWrites } from "../../../config/layers/preset_parameters.ts";
import { expandList } from "../../../config/layers/presets.ts";
import { isShortRule, shortRuleTable } from "../../../config/rules/read_rule.ts";
import type { Settings } from "../../../config/settings.generated.ts";
import type { SettingOperation } from "../../../config/types.ts";
import type { ApprovalPreset, RwPath } from "../../../config/values.ts";
import { ASK_TOOL } from "./names.ts";

/** The document that asks a helper. */
export interface CallerRights {
  /** All layers, including the document's. */
  readonly logs: readonly LayerLog[];
  readonly settings: Settings;
  /** Names of all registered tools. */
  readonly tools: readonly string[];
  /** Names of the tools that its requests offer. */
  readonly offered: readonly string[];
}

/** What restricts a helper further. */
export interface HelperChoice {
  /** The working folder, relative to the folder of the helper's document. */
  readonly cwd: string;
  /** The preset and its name; null for the caller's model and rights. */
  readonly preset: ApprovalPreset | null;
  readonly presetName: string | null;
  /** True if the helper may ask helpers itself. */
  readonly mayAsk: boolean;
  /** Writable paths that the helper loses and gets, because it has its own worktree. @default none */
  readonly writable?: { readonly lost: readonly RwPath[]; readonly granted: readonly RwPath[] };
}

/** Settings of the caller that a helper does not need, because they are not rights. */
const NOT_COPIED = ["cwd", "prefill"];

const RW_PATHS = ["sandbox", "policy", "rw_paths"];

/** Settings of the caller that a preset with a model replaces. */
const OF_MODEL = ["provider", "model", "parameters"];

/**
 * Returns the settings in the frontmatter of a new helper. They contain the frontmatter of the caller, so that no right
 * is added, and what the preset and the bounds take away. Fails with `preset-invalid` if the preset has a wrong
 * parameter.
 */
export function helperSettings(
  { logs, settings, tools, offered }: CallerRights,
  { cwd, preset, presetName, mayAsk, writable }: HelperChoice,
): Outcome<Readonly<Record<string, unknown>>> {
  const tree = new Tree();
  const own = logs.find(({ layer }) => layer === "M")?.operations ?? [];
  const replacesModel = preset?.model !== undefined || preset?.provider !== undefined;
  const namesModel = own.some(({ path }) => path[0] === "model" || path[0] === "provider");
  for (const operation of own) {
    const [first = ""] = operation.path;
    if (NOT_COPIED.includes(first) || (replacesModel && OF_MODEL.includes(first))) continue;
    const key = operation.path.join(".");
    if (key === "tools" && preset?.tools !== undefined) continue;
    if (typeof operation.value === "function") tree.asksAlways();
    else tree.apply(key === "tools" ? withoutAsking(operation, mayAsk) : operation);
  }
  tree.set(["cwd"], cwd);
  if (!replacesModel && !namesModel) {
    tree.set(["provider"], settings.provider);
    if (settings.model !== null) tree.set(["model"], settings.model);
  }
  if (preset !== null) {
    const problem = tree.applyPreset(preset, presetName ?? "");
    if (problem !== null) return failed(problem);
  }
  const allowed = offered.filter((name) =>
    (name !== ASK_TOOL || mayAsk) && (preset?.tools === undefined || listed(preset.tools, settings).has(name))
  );
  if (preset?.tools !== undefined) {
    tree.apply({ op: "set", path: ["tools"], value: allowed });
    tree.deny(tools.filter((name) => !allowed.includes(name)));
  } else if (!mayAsk && offered.includes(ASK_TOOL)) {
    tree.apply({ op: "remove", path: ["tools"], value: ASK_TOOL });
  }
  for (const value of writable?.lost ?? []) tree.apply({ op: "remove", path: RW_PATHS, value });
  for (const value of writable?.granted ?? []) tree.apply({ op: "append", path: RW_PATHS, value });
  if (preset?.deny !== undefined) tree.denyItems(preset.deny);
  if (preset?.approve !== undefined) {
    const approved = expandList(preset.approve, settings.tools.presets).approve;
    tree.ask(allowed.filter((name) => !approved.has(name)));
  }
  const { max_turns: most } = settings.tools.autopilot;
  tree.set(["tools", "autopilot", "max_turns"], Math.min(most, settings.subagents.max_turns));
  return success(tree.value);
}

/** Returns the names in a list of tools, with the tools of the presets in it. */
function listed(list: readonly string[], settings: Settings): ReadonlySet<string> {
  return expandList(list, settings.tools.presets).approve;
}

function withoutAsking(operation: SettingOperation, mayAsk: boolean): SettingOperation {
  const { op, value } = operation;
  if (mayAsk || op === "remove") return operation;
  if (Array.isArray(value)) return { ...operation, value: value.filter((name) => name !== ASK_TOOL) };
  return value === ASK_TOOL ? { ...operation, op: "remove" } : operation;
}

type Members = Record<string, unknown>;

/** Settings as an object with the operators of frontmatter. */
class Tree {
  readonly value: Members = {};

  set(path: readonly string[], value: unknown): void {
    const at = this.#above(path);
    at[path.at(-1)!] = value;
  }

  /** Adds an operation of a layer. */
  apply({ op, path, value }: SettingOperation): void {
    if (op === "set" && path.join(".") !== "tools") {
      this.set(path, value);
      return;
    }
    const above = this.#above(path);
    const name = path.at(-1)!;
    const before = above[name];
    const members: Members = isObject(before)
      ? before as Members
      : before === undefined
      ? {}
      : { $set: before };
    above[name] = members;
    if (op === "set") {
      for (const operator of ["$remove", "$append", "$prepend"]) delete members[operator];
      members.$set = value;
      return;
    }
    const items = [value].flat();
    for (const operator of op === "remove" ? ["$append", "$prepend"] : ["$remove"]) {
      const list = members[operator];
      if (Array.isArray(list)) members[operator] = list.filter((item) => !items.includes(item));
    }
    const list = [members[`$${op}`] ?? []].flat().filter((item) => !items.includes(item));
    members[`$${op}`] = op === "prepend" ? [...items, ...list] : [...list, ...items];
  }

  /** Makes policy approve nothing, because what decides cannot be written down. */
  asksAlways(): void {
    this.set(["tools", "auto_approve"], []);
    this.set(["tools", "auto_approve_sandboxed"], false);
    this.set(["tools", "require_approval"], true);
  }

  /** Sets provider, model and parameters of a preset. */
  applyPreset(preset: ApprovalPreset, name: string): Problem | null {
    if (preset.provider !== undefined) this.set(["provider"], preset.provider);
    if (preset.model !== undefined) this.set(["model"], preset.model);
    const writes = presetWrites(preset, name);
    if (!writes.ok) return { code: "preset-invalid", message: `${capital(writes.problem.message)}.` };
    for (const { path, value } of writes.value.operations) this.set(path, value);
    return null;
  }

  deny(names: readonly string[]): void {
    this.#rule("deny", names, "This helper may not use the tool.");
  }

  ask(names: readonly string[]): void {
    this.#rule("ask", names, "The preset of this helper does not approve it.");
  }

  /** Denies tools, and what short rules such as `bash(rm **)` describe. */
  denyItems(items: readonly string[]): void {
    this.#rule("deny", items.filter((item) => !isShortRule(item)), "The preset of this helper denies it.");
    for (const item of items) {
      const rule = isShortRule(item) ? shortRuleTable(item, "deny") : null;
      if (rule?.ok) this.#append({ ...rule.value });
    }
  }

  #rule(decision: "ask" | "deny", names: readonly string[], reason: string): void {
    const known = names.filter((name) => /^[\w:.-]+$/.test(name));
    if (known.length > 0) this.#append({ [decision]: known, reason });
  }

  #append(rule: Members): void {
    this.apply({ op: "append", path: ["tools", "rules"], value: rule });
  }

  #above(path: readonly string[]): Members {
    let at = this.value;
    for (const name of path.slice(0, -1)) {
      if (!isObject(at[name])) at[name] = Array.isArray(at[name]) ? { $set: at[name] } : {};
      at = at[name] as Members;
    }
    return at;
  }
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
