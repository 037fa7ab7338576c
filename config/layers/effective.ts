// From layers to the tree of settings the other rooms read: presets of models resolved, approval sorted by who speaks.

import { isObject } from "../../base/is_object.ts";
import type { Catalog } from "../schema/catalog.ts";
import { listPresets, listStart, profileOf, resolveTools, valueOf } from "./resolve.ts";
import { nodeAt } from "../schema/keys.ts";
import { type LayerLog, resolveList, resolveScalar } from "./log.ts";
import { nearest } from "../../base/names.ts";
import { type Fault, type Layer, LAYER_NAMES } from "../types.ts";
import { MODEL_CHOICES } from "./model_choices.generated.ts";
import { presetWrites } from "./preset_parameters.ts";
import { allPresets, expandList, writtenPresets } from "./presets.ts";
import { currentRules } from "./rules.ts";
import type { Presets } from "../settings/tools.ts";
import { ownServers } from "./references.ts";
import { PROVIDER_TABLES } from "../schema/schema.ts";
import { DEFAULT_SETTINGS } from "../defaults.ts";
import type { Settings } from "../settings.ts";
import { ownKeyVariable } from "../settings/model.ts";
import type { AutoApprove, DocumentApproval, ToolSettings } from "../settings/tools.ts";
import type { Group, Key } from "../schema/define.ts";

export interface Effective {
  readonly settings: Settings;
  /** What is wrong with the layers taken together, with the layer that said it. */
  readonly faults: readonly (Fault & { readonly layer: Layer })[];
}

export interface EffectiveOptions {
  readonly catalog: Catalog;
  /** Tools denied by an untrusted project file. */
  readonly denied?: readonly string[];
  /** Servers of tools that nobody agreed to. */
  readonly untrusted?: readonly string[];
  /** Names approved for this run only. */
  readonly approved?: readonly string[];
}

/** Members of `tools` that are groups but no settings of one tool. */
const NOT_A_TOOL: ReadonlySet<string> = new Set(["presets", "env", "truncate", "autopilot"]);

/** Resolves all keys (frontmatter-config 2.2 to 2.6). `logs` are all layers above the defaults, weakest first. */
export function effectiveSettings(given: readonly LayerLog[], options: EffectiveOptions): Effective {
  const model = resolveModel(given);
  // A model preset is one more log just below the layer that named it: what that layer says itself stays stronger.
  const logs = model.log === null ? given : insertBelow(given, model.log, model.layer);
  const get = <T>(key: string): T => {
    const path = key.split(".");
    return valueOf(logs, path, nodeAt(path) as Key) as T;
  };
  const { sandbox } = DEFAULT_SETTINGS;
  const settings: Settings = {
    provider: model.provider ?? get("provider"),
    model: model.model,
    prefill: get("prefill"),
    files: { names: get("files.names") },
    templating: { enabled: get("templating.enabled") },
    parameters: parametersOf(logs, get),
    providers: writtenBelow(logs, ["providers"]) as Settings["providers"],
    secrets: { gcloud: { path: get("secrets.gcloud.path") } },
    tools: toolsOf(logs, get, options),
    sandbox: {
      enabled: get("sandbox.enabled"),
      backend: get("sandbox.backend"),
      policy: membersOf(sandbox.policy, "sandbox.policy", get),
      backends: {
        ...writtenBelow(logs, ["sandbox", "backends"]) as Settings["sandbox"]["backends"],
        bwrap: membersOf(sandbox.backends.bwrap!, "sandbox.backends.bwrap", get),
      },
    },
    skills: skillsOf(logs, get),
    mcp: { servers: writtenBelow(logs, ["mcp", "servers"]) as Settings["mcp"]["servers"] },
    new: membersOf(DEFAULT_SETTINGS.new, "new", get),
    ask: membersOf(DEFAULT_SETTINGS.ask, "ask", get),
    context: membersOf(DEFAULT_SETTINGS.context, "context", get),
    run: membersOf(DEFAULT_SETTINGS.run, "run", get),
    hooks: membersOf(DEFAULT_SETTINGS.hooks, "hooks", get),
    frontmatter: membersOf(DEFAULT_SETTINGS.frontmatter, "frontmatter", get),
    lock: membersOf(DEFAULT_SETTINGS.lock, "lock", get),
    undo: membersOf(DEFAULT_SETTINGS.undo, "undo", get),
    trust: membersOf(DEFAULT_SETTINGS.trust, "trust", get),
    ui: { pricing: membersOf(DEFAULT_SETTINGS.ui.pricing, "ui.pricing", get) },
  };
  return { settings, faults: model.faults };
}

/** The value of a key, of the type that its schema gives it. */
type Get = <T>(key: string) => T;

/** The general parameters, and the tables of providers that somebody wrote. */
function parametersOf(logs: readonly LayerLog[], get: Get): Settings["parameters"] {
  const general = Object.fromEntries(
    Object.keys(DEFAULT_SETTINGS.parameters).filter((name) => PROVIDER_TABLES[name] === undefined)
      .map((name) => [name, get(`parameters.${name}`)]),
  );
  const tables = Object.fromEntries(
    Object.keys(PROVIDER_TABLES).map((name) => [name, writtenBelow(logs, ["parameters", name])] as const)
      .filter(([name, table]) => name === "anthropic" || Object.keys(table).length > 0),
  );
  return { ...general, ...tables } as unknown as Settings["parameters"];
}

function toolsOf(logs: readonly LayerLog[], get: Get, options: EffectiveOptions): ToolSettings {
  const { tools } = DEFAULT_SETTINGS;
  const named = Object.fromEntries(
    Object.entries(writtenBelow(logs, ["tools"])).filter(([name, value]) =>
      isObject(value) && !NOT_A_TOOL.has(name)
    ),
  );
  return {
    require_approval: get("tools.require_approval"),
    auto_approve_sandboxed: get("tools.auto_approve_sandboxed"),
    resolvers: get("tools.resolvers"),
    ...approvalOf(logs, options),
    untrusted_servers: options.untrusted ?? [],
    presets: writtenPresets(logs.filter((log) => log.layer !== "M")),
    approval_profile: profileOf(logs),
    approval_strict: get("tools.approval_strict"),
    autopilot: membersOf(tools.autopilot, "tools.autopilot", get),
    max_concurrent: get("tools.max_concurrent"),
    default_timeout: get("tools.default_timeout"),
    status_style: get("tools.status_style"),
    cursor_after_result: get("tools.cursor_after_result"),
    truncate: membersOf(tools.truncate, "tools.truncate", get),
    env: {
      block: get("tools.env.block"),
      pass: get("tools.env.pass"),
      keys: ownServers(logs).map(ownKeyVariable),
    },
    ...offerOf(logs, options.catalog),
    modules: get("tools.modules"),
    dirs: get("tools.dirs"),
    override: get("tools.override"),
    file_timeout: get("tools.file_timeout"),
    allowed_categories: get("tools.allowed_categories"),
    mcporter: {
      enabled: get("tools.mcporter.enabled"),
      path: get("tools.mcporter.path"),
      timeout: get("tools.mcporter.timeout"),
      startup: { concurrency: get("tools.mcporter.startup.concurrency") },
      include: get("tools.mcporter.include"),
      exclude: get("tools.mcporter.exclude"),
    },
    auto_approve_risk: get("tools.auto_approve_risk"),
    named: named as ToolSettings["named"],
  };
}

/** The list of tools as layers made it, or that none of them touched it. */
function offerOf(logs: readonly LayerLog[], catalog: Catalog): Pick<ToolSettings, "offered" | "left_out"> {
  if (!logs.some((log) => log.on("tools").length > 0)) return { offered: null, left_out: [] };
  const { offered, leftOut } = resolveTools(logs, catalog);
  return { offered, left_out: leftOut };
}

function membersOf<T extends object>(like: T, key: string, get: Get): T {
  return Object.fromEntries(Object.keys(like).map((name) => [name, get(`${key}.${name}`)])) as T;
}

/** The list of skills, with what was taken out of it. */
function skillsOf(logs: readonly LayerLog[], get: Get): Settings["skills"] {
  const key = (nodeAt(["skills"]) as Group).list!;
  const list = resolveList(logs, "skills", listStart(logs, "skills", key), listPresets(logs, "skills"));
  return {
    enabled: get("skills.enabled"),
    names: list.value as readonly string[],
    excluded: list.excluded,
    dirs: get("skills.dirs") as readonly string[],
  };
}

/** A nested tree of every key below `prefix` that some layer wrote, with its resolved value. */
function writtenBelow(logs: readonly LayerLog[], prefix: readonly string[]): Record<string, unknown> {
  const tree: Record<string, unknown> = {};
  for (const path of logs.flatMap((log) => log.below(prefix))) {
    const value = valueOf(logs, path, nodeAt(path) as Key);
    let at = tree;
    const inner = path.slice(prefix.length);
    for (const name of inner.slice(0, -1)) {
      // A name such as `constructor` is on every object; only what was put here counts.
      if (!Object.hasOwn(at, name)) at[name] = {};
      at = at[name] as Record<string, unknown>;
    }
    at[inner.at(-1)!] = value;
  }
  return tree;
}

/** Who speaks about approval: the person's layers, and the document for itself (2.4, approval 4.1). */
function approvalOf(logs: readonly LayerLog[], options: EffectiveOptions) {
  const key = "tools.auto_approve";
  const node = nodeAt(["tools", "auto_approve"]) as Key;
  const policy = (of: readonly LayerLog[]) =>
    resolveList(of, key, listStart(of, key, node), listPresets(of, key));
  const person = logs.filter((log) => log.layer !== "M");
  // Presets of the document may replace the person's of the same name; the person's words mean what they meant.
  const own = policy(person);
  const touched = logs.find((log) => log.layer === "M")?.on(key) ?? [];
  let document: DocumentApproval | null = null;
  if (touched.length > 0) {
    const whole = policy(logs);
    const presets = listPresets(logs, key) ?? {};
    document = {
      auto_approve: whole.value as AutoApprove | null,
      excluded: whole.excluded,
      presets: writtenPresets(logs),
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
  /** The preset's parameters as writes of their own, or null. */
  readonly log: LayerLog | null;
  readonly layer: Layer;
  readonly faults: Effective["faults"];
}

/** Built-in presets that stand for a model of whatever provider is in force. */
const MODEL_PRESETS: readonly string[] = ["$best", "$cheap"];

/** `model = "$name"` (2.6). */
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
    const { value: provider } = resolveScalar(logs, "provider", DEFAULT_SETTINGS.provider);
    const choice = Object.hasOwn(MODEL_CHOICES, String(provider))
      ? MODEL_CHOICES[String(provider)]
      : undefined;
    return choice === undefined
      ? fault(`"${value}" stands for a model of a provider that is known, and ${provider} is none`)
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
  const rank = (of: Layer) => "DGPRMC".indexOf(of);
  if (
    preset.provider !== undefined && rank(provider.layer) >= rank(layer) && provider.layer !== "D" &&
    provider.value !== preset.provider
  ) {
    return fault(
      `the preset "${value}" is for the provider ${preset.provider}, but the ${
        LAYER_NAMES[provider.layer]
      } sets ` +
        `the provider ${provider.value}; set a model for it too, or leave the provider out`,
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
