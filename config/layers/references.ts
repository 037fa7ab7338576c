// Checks of names that settings refer to: tools, presets, providers and backends that do not exist.

import { BUILTIN_BACKENDS, type Catalog } from "../schema/catalog.ts";
import { foreignTool } from "../data/hints.ts";
import { VENDOR_KEYS } from "../data/vendors.generated.ts";
import { modulesIn } from "../schema/module_path.ts";
import { PROVIDER_TABLES } from "../schema/parameters.ts";
import type { LayerLog } from "./log.ts";
import { readRule } from "../rules/read_rule.ts";
import { nearest } from "../../base/names.ts";
import { MOST_FINDINGS, type SettingFault } from "../types.ts";
import { allPresets } from "./presets.ts";
import type { ApprovalPreset, Presets } from "../values.ts";
import { profileOf } from "./resolve.ts";

/** Returns faults that need the registries: names of tools, presets and others that do not exist. */
export function referenceFaults(
  log: LayerLog,
  logs: readonly LayerLog[],
  catalog: Catalog,
): readonly SettingFault[] {
  const faults: SettingFault[] = [];
  // Computed lazily: searching for similar names is slow, and only the first ones are shown.
  for (const fault of allFaults(log, [...logs, log], catalog, new KnownNames(log, logs, catalog))) {
    if (faults.length === MOST_FINDINGS) break;
    faults.push(fault);
  }
  return faults;
}

function* allFaults(
  log: LayerLog,
  all: readonly LayerLog[],
  catalog: Catalog,
  names: KnownNames,
): Generator<SettingFault, undefined> {
  const providers = [
    ...Object.keys(PROVIDER_TABLES),
    ...Object.keys(VENDOR_KEYS),
    ...Object.keys(catalog.providers ?? {}),
    ...ownServers(all),
  ];
  const backends = [...BUILTIN_BACKENDS, ...(catalog.backends ?? [])];
  yield* offeredFaults(log, names);
  yield* approvedFaults(log, names);
  yield* ruleFaults(log, names);
  yield* presetFaults(log, names, providers);
  for (const { value } of log.on("provider")) {
    if (typeof value === "string") yield* unknownName("provider", value, "provider", providers);
  }
  for (const { value } of log.on("fallback.models")) {
    for (const item of [value].flat()) {
      if (typeof item !== "string" || !item.startsWith("$") || names.has(item)) continue;
      if (!["$best", "$cheap"].includes(item)) {
        yield { ...missing("fallback.models", item, names), code: "config_invalid_value", severity: "error" };
      }
    }
  }
  for (const { value } of log.on("sandbox.backend")) {
    if (typeof value !== "string") continue;
    yield* unknownName("sandbox.backend", value, "backend", ["auto", "required", ...backends]);
  }
  for (const path of log.below(["providers"])) yield* unknownTable(path, 1, "provider", providers);
  for (const path of log.below(["sandbox", "backends"])) yield* unknownTable(path, 2, "backend", backends);
}

function* offeredFaults(log: LayerLog, names: KnownNames): Generator<SettingFault, undefined> {
  for (const { value } of log.on("tools")) {
    for (const name of [value].flat()) {
      if (typeof name !== "string" || names.has(name)) continue;
      yield { ...missing("tools", name, names), code: "config_unknown_tool", severity: "error" };
    }
  }
}

function* approvedFaults(log: LayerLog, names: KnownNames): Generator<SettingFault, undefined> {
  for (const { op, value } of log.on("tools.auto_approve")) {
    for (const item of [value].flat()) {
      if (typeof item !== "string" || modulesIn(item).length > 0) continue;
      const name = toolOf(item);
      if (!names.has(name)) yield withoutTool("tools.auto_approve", name, names, op === "remove", item);
    }
  }
}

function* ruleFaults(log: LayerLog, names: KnownNames): Generator<SettingFault, undefined> {
  for (const { op, value } of log.on("tools.rules")) {
    for (const item of op === "remove" ? [] : [value].flat()) {
      const rule = readRule(item);
      for (const name of rule.ok ? rule.value.tools : []) {
        if (name === "*" || names.has(name)) continue;
        yield withoutTool("tools.rules", name, names, rule.ok && rule.value.decision !== "approve", item);
      }
    }
  }
}

function* presetFaults(
  log: LayerLog,
  names: KnownNames,
  providers: readonly string[],
): Generator<SettingFault, undefined> {
  for (const home of [["presets"], ["tools", "presets"]]) {
    for (const path of log.below(home)) {
      const key = path.join(".");
      const { approve = [], deny = [], provider } = log.on(key).at(-1)!.value as ApprovalPreset;
      const named = [
        ...approve.map((name) => ({ name, takesAway: false })),
        ...deny.map((name) => ({ name, takesAway: true })),
      ];
      for (const { name, takesAway } of named) {
        if (name.startsWith("$")) {
          yield {
            code: "config_ignored_value",
            severity: takesAway ? "error" : "warning",
            key,
            message: `"${key}" names the preset "${name}"; presets cannot refer to presets`,
            written: path,
            item: name,
          };
        } else if (!names.has(toolOf(name))) yield withoutTool(key, toolOf(name), names, takesAway, name);
      }
      if (provider !== undefined) yield* unknownName(key, provider, "provider", providers);
    }
  }
}

/**
 * An unknown tool is a warning, because the name has no effect. A probable misspelling in a restriction is an error.
 */
function withoutTool(
  key: string,
  name: string,
  names: KnownNames,
  takesAway: boolean,
  item: unknown,
): SettingFault {
  const fault = missing(key, name, names);
  const isSlip = takesAway && (fault.suggestion !== undefined || !/^[\w:.$-]+$/.test(name));
  return {
    ...fault,
    code: isSlip ? "config_unknown_tool" : "config_ignored_value",
    severity: isSlip ? "error" : "warning",
    item,
  };
}

function missing(key: string, name: string, names: KnownNames): Omit<SettingFault, "code" | "severity"> {
  const suggestion = names.near(name);
  const hint = suggestion === null ? "" : `; did you mean "${suggestion}"?`;
  const what = name.startsWith("$") ? "preset" : "tool";
  return {
    key,
    message: `"${key}" names the ${what} "${name}", which does not exist${hint}`,
    ...(suggestion === null ? {} : { suggestion }),
    written: key.split("."),
    item: name,
  };
}

/** Existing tools and presets, and those that sources may still provide. */
class KnownNames {
  readonly #tools: readonly string[];
  readonly #presets: Presets;
  readonly #servers: ReadonlySet<string>;
  /** True if sources may provide tools of any name. */
  readonly #open: boolean;

  constructor(log: LayerLog, logs: readonly LayerLog[], { tools, open = false }: Catalog) {
    this.#tools = tools.map(({ name }) => name);
    this.#presets = allPresets(logs, profileOf(logs));
    this.#servers = new Set(
      [...logs, log].flatMap((each) => each.below(["mcp", "servers"])).map((path) => path[2]!),
    );
    this.#open = open;
  }

  has(name: string): boolean {
    if (name.startsWith("$")) return Object.hasOwn(this.#presets, name);
    return this.#tools.includes(name) || this.#isOfServer(name) || this.#mayCome(name);
  }

  /** Returns an existing name that this one may be meant for; null if none is similar. */
  near(name: string): string | null {
    if (name.startsWith("$")) return nearest(name, Object.keys(this.#presets), 3);
    const known = foreignTool(name);
    return known !== null && this.#tools.includes(known) ? known : nearest(name, this.#tools, 3);
  }

  /** Tools of servers are known only after the servers were queried. */
  #isOfServer(name: string): boolean {
    return /^[^:]+:./.test(name) && this.#servers.has(name.slice(0, name.indexOf(":")));
  }

  /**
   * True if a source may still provide the name. Such a name is checked later. A name that differs from an existing
   * name by one letter is a mistake, so no source is expected to provide it.
   */
  #mayCome(name: string): boolean {
    return this.#open && nearest(name, this.#tools, 1) === null;
  }
}

/** Keys that name sources of tools, including all keys below them. */
const TOOL_SOURCES = ["tools.modules", "tools.dirs"];

export function bringsTools(log: LayerLog): boolean {
  return log.operations.some(({ op, path }) => {
    const key = path.join(".");
    return op !== "remove" && TOOL_SOURCES.some((source) => key === source || key.startsWith(`${source}.`));
  });
}

/** Returns the names of providers defined by `providers.NAME.kind` in any layer. */
export function ownServers(logs: readonly LayerLog[]): readonly string[] {
  const kinds = logs.flatMap((log) => log.below(["providers"])).filter((path) => path[2] === "kind");
  return [...new Set(kinds.map((path) => path[1]!))];
}

const OWN_SERVER = ", or an entry of your own: providers.NAME.kind";

function unknownName(key: string, name: string, what: string, known: readonly string[]): SettingFault[] {
  if (known.includes(name)) return [];
  const suggestion = nearest(name, known, 3);
  const end = suggestion === null
    ? `; there are ${known.join(", ")}${what === "provider" ? OWN_SERVER : ""}`
    : `; did you mean "${suggestion}"?`;
  return [{
    code: "config_invalid_value",
    severity: "error",
    key,
    message: `"${key}" names the ${what} "${name}", which does not exist${end}`,
    ...(suggestion === null ? {} : { suggestion }),
    written: key.split("."),
    item: name,
  }];
}

/**
 * Reports a settings table for something that does not exist. `at` is the index, in the path, of the name of that
 * thing.
 */
function unknownTable(
  path: readonly string[],
  at: number,
  what: string,
  known: readonly string[],
): SettingFault[] {
  const key = path.slice(0, at + 1);
  return unknownName(key.join("."), path[at]!, what, known)
    .map(({ item: _item, ...fault }) => ({ ...fault, written: key, atKey: true }));
}

/** Returns the tool that a list item is about: in a short rule, the name before the parenthesis. */
function toolOf(item: string): string {
  return /^([\w:.-]+)\(.*\)$/s.exec(item)?.[1] ?? item;
}
