// Resolution of all layers to the effective settings, with model presets applied and approvals split by their author.

import type { Catalog } from "../schema/catalog.ts";
import { listPresets, listStart, profileOf, resolveTools, resolveValue } from "./resolve.ts";
import { nodeAt } from "../schema/keys.ts";
import { type LayerLog, resolveList, resolveScalar } from "./log.ts";
import { nearest } from "../../base/names.ts";
import { compareLayers, type Layer, LAYER_NAMES, type SettingFault } from "../types.ts";
import { MODEL_CHOICES } from "./model_choices.generated.ts";
import { presetWrites } from "./preset_parameters.ts";
import { allPresets, collectPresets, expandList } from "./presets.ts";
import { currentRules } from "./rules.ts";
import { ownServers } from "./references.ts";
import { personalServers } from "./servers.ts";
import { SCHEMA } from "../schema/schema.ts";
import type { Settings, ToolSettings } from "../settings.generated.ts";
import {
  type AutoApprove,
  type DocumentApproval,
  ownKeyVariable,
  type Presets,
  type ResolvedSkills,
} from "../values.ts";
import type { Group, Node, SettingKey } from "../schema/define.ts";

export interface Effective {
  readonly settings: Settings;
  /** Faults of the combined layers, with the layer that caused each. */
  readonly faults: readonly (SettingFault & { readonly layer: Layer })[];
}

export interface EffectiveOptions {
  readonly catalog: Catalog;
  /** Tools denied by an untrusted project file. */
  readonly denied?: readonly string[];
  /** MCP servers that the person has not agreed to. */
  readonly untrusted?: readonly string[];
  /** Real path of the file with which a project defines MCP servers. */
  readonly serversFile?: string | null;
  readonly approved?: readonly string[];
}

/** Resolves all keys. `given` are all layers except the defaults, in ascending order of precedence. */
export function effectiveSettings(given: readonly LayerLog[], options: EffectiveOptions): Effective {
  const model = resolveModel(given);
  // A model preset becomes a log of its own. It has lower precedence than the layer that named it, but higher
  // precedence than the layers below that one.
  const logs = model.log === null ? given : insertBelow(given, model.log, model.layer);
  const members = resolveGroup(logs, SCHEMA, []) as unknown as Settings;
  const { env } = members.tools;
  const settings: Settings = {
    ...members,
    provider: model.provider ?? members.provider,
    model: model.model,
    skills: { ...members.skills, ...skillsOf(logs) },
    tools: {
      ...members.tools,
      ...approvalOf(logs, options),
      ...offerOf(logs, options.catalog),
      untrusted_servers: options.untrusted ?? [],
      personal_servers: personalServers(logs),
      servers_file: options.serversFile ?? null,
      presets: collectPresets(logs.filter((log) => log.layer !== "M")),
      env: { ...env, keys: keyVariables(logs, members.providers) },
      named: toolTables(logs),
    },
  };
  return { settings, faults: model.faults };
}

/** Returns the variables with keys that entries of the settings name, directly or by their own name. */
function keyVariables(logs: readonly LayerLog[], providers: Settings["providers"]): readonly string[] {
  const stated = Object.values(providers).flatMap(({ key_env }) => key_env ?? []);
  const unstated = ownServers(logs).filter((name) => (providers[name]?.key_env ?? null) === null);
  return [...new Set([...unstated.map(ownKeyVariable), ...stated])];
}

/** Resolves the keys of a group, in the shape of the schema. */
function resolveGroup(
  logs: readonly LayerLog[],
  group: Group,
  path: readonly string[],
): Record<string, unknown> {
  if (group.holds === "written") return writtenBelow(logs, path);
  const values = group.others === undefined ? {} : namedIn(logs, group.others, path);
  for (const [name, node] of Object.entries(group.members)) {
    if (node.node === "key") values[name] = resolveValue(logs, [...path, name], node);
    else if (node.holds !== "nothing") {
      const value = resolveGroup(logs, node, [...path, name]);
      if (node.holds !== "written" || Object.keys(value).length > 0) values[name] = value;
    }
  }
  return values;
}

function namedIn(logs: readonly LayerLog[], others: Node, path: readonly string[]): Record<string, unknown> {
  return others.node === "group" && others.holds !== "nothing" ? writtenBelow(logs, path) : {};
}

function toolTables(logs: readonly LayerLog[]): ToolSettings["named"] {
  const { members, others } = SCHEMA.members.tools as Group;
  const tables = Object.entries(writtenBelow(logs, ["tools"])).filter(([name]) => {
    const node = Object.hasOwn(members, name) ? members[name]! : others!;
    return node.node === "group" && node.holds === "nothing" && !node.presets;
  });
  return Object.fromEntries(tables) as ToolSettings["named"];
}

/** Returns the list of tools; `offered` is null if no layer changed it. */
function offerOf(logs: readonly LayerLog[], catalog: Catalog): Pick<ToolSettings, "offered" | "left_out"> {
  if (!logs.some((log) => log.on("tools").length > 0)) return { offered: null, left_out: [] };
  const { offered, leftOut } = resolveTools(logs, catalog);
  return { offered, left_out: leftOut };
}

/** Returns the list of skills, and the names that layers removed from it. */
function skillsOf(logs: readonly LayerLog[]): ResolvedSkills {
  const key = (nodeAt(["skills"]) as Group).list!;
  const list = resolveList(logs, "skills", listStart(logs, "skills", key), listPresets(logs, "skills"));
  return { names: list.value as readonly string[], excluded: list.excluded };
}

/** Builds a nested tree of every key below `prefix` that some layer wrote, with its resolved value. */
function writtenBelow(logs: readonly LayerLog[], prefix: readonly string[]): Record<string, unknown> {
  const tree: Record<string, unknown> = {};
  for (const path of logs.flatMap((log) => log.below(prefix))) {
    const value = resolveValue(logs, path, nodeAt(path) as SettingKey);
    let at = tree;
    const inner = path.slice(prefix.length);
    for (const name of inner.slice(0, -1)) {
      // A name such as `constructor` exists on every object, so only own members are used.
      if (!Object.hasOwn(at, name)) at[name] = {};
      at = at[name] as Record<string, unknown>;
    }
    at[inner.at(-1)!] = value;
  }
  return tree;
}

/** Resolves approval separately for the person's layers and for the document. */
function approvalOf(logs: readonly LayerLog[], options: EffectiveOptions) {
  const key = "tools.auto_approve";
  const node = nodeAt(["tools", "auto_approve"]) as SettingKey;
  const policy = (of: readonly LayerLog[]) =>
    resolveList(of, key, listStart(of, key, node), listPresets(of, key));
  const person = logs.filter((log) => log.layer !== "M");
  // The document's layer is left out: its presets may replace the person's, but must not change the person's own
  // policy.
  const own = policy(person);
  const touched = logs.find((log) => log.layer === "M")?.on(key) ?? [];
  let document: DocumentApproval | null = null;
  if (touched.length > 0) {
    const whole = policy(logs);
    const presets = listPresets(logs, key) ?? {};
    document = {
      auto_approve: whole.value as AutoApprove | null,
      excluded: whole.excluded,
      presets: collectPresets(logs),
      assigned: touched.some(({ op }) => op === "set"),
      removed: touched.filter(({ op }) => op === "remove")
        .flatMap(({ value }) => [value as string, ...expandList([value as string], presets).approve]),
    };
  }
  const approval = {
    auto_approve: own.value as AutoApprove | null,
    excluded: own.excluded,
    denied: options.denied ?? [],
    approved: options.approved ?? [],
    document,
  };
  return { ...approval, rules: currentRules(logs, approval) };
}

interface ResolvedModel {
  readonly provider: string | null;
  readonly model: string | null;
  /** The preset's parameters as a separate log, or null. */
  readonly log: LayerLog | null;
  readonly layer: Layer;
  readonly faults: Effective["faults"];
}

const MODEL_PRESETS: readonly string[] = ["$best", "$cheap"];

/** Resolves `model = "$name"`. */
function resolveModel(logs: readonly LayerLog[]): ResolvedModel {
  const { value, layer } = resolveScalar(logs, "model", null);
  const plain = { provider: null, model: value as string | null, log: null, layer, faults: [] };
  if (typeof value !== "string" || !value.startsWith("$")) return plain;
  const fault = (message: string, suggestion?: string, by = layer, key = "model"): ResolvedModel => ({
    ...plain,
    model: null,
    faults: [{
      code: "config_invalid_value",
      severity: "error",
      key,
      message,
      ...(suggestion === undefined ? {} : { suggestion }),
      written: [key],
      layer: by,
    }],
  });
  const presets: Presets = allPresets(logs, profileOf(logs));
  const preset = Object.hasOwn(presets, value) ? presets[value] : undefined;
  if (preset === undefined && MODEL_PRESETS.includes(value)) {
    const provider = resolveValue(logs, ["provider"], nodeAt(["provider"]) as SettingKey);
    const choice = Object.hasOwn(MODEL_CHOICES, String(provider))
      ? MODEL_CHOICES[String(provider)]
      : undefined;
    return choice === undefined
      ? fault(`"${value}" selects a model of a known provider, and ${provider} is not one`)
      : { ...plain, model: choice[value]! };
  }
  if (preset === undefined) {
    const near = nearest(value, [...Object.keys(presets), ...MODEL_PRESETS], 3) ?? undefined;
    return fault(
      `there is no preset "${value}"${near === undefined ? "" : `; did you mean "${near}"?`}`,
      near,
    );
  }
  const provider = resolveScalar(logs, "provider", null);
  if (
    preset.provider !== undefined && compareLayers(provider.layer, layer) >= 0 && provider.layer !== "D" &&
    provider.value !== preset.provider
  ) {
    return fault(
      `the preset "${value}" is for the provider ${preset.provider}, but the ${
        LAYER_NAMES[provider.layer]
      } sets ` +
        `the provider ${provider.value}; set a model for it too, or remove the provider`,
      undefined,
      provider.layer,
      "provider",
    );
  }
  const writes = presetWrites(preset, value);
  if (!writes.ok) return fault(writes.problem.message);
  return {
    provider: preset.provider ?? null,
    model: preset.model ?? null,
    log: writes.value,
    layer,
    faults: [],
  };
}

function insertBelow(logs: readonly LayerLog[], log: LayerLog, layer: Layer): readonly LayerLog[] {
  const at = logs.findIndex((other) => other.layer === layer);
  return [...logs.slice(0, at), log, ...logs.slice(at)];
}
