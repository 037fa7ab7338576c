// Checks that need to know what is registered: tools and presets that settings name and nobody has.

import { BUILTIN_BACKENDS, type Catalog } from "../schema/catalog.ts";
import { foreignTool } from "../schema/hints.ts";
import { isModulePath, modulesIn } from "../schema/module_path.ts";
import { PROVIDER_TABLES } from "../schema/parameters.ts";
import type { LayerLog } from "./log.ts";
import { readRule } from "../rules/read_rule.ts";
import { nearest } from "../../base/names.ts";
import { type Fault, MOST_FINDINGS } from "../types.ts";
import { allPresets } from "./presets.ts";
import type { ApprovalPreset } from "../settings/tools.ts";
import { profileOf } from "./resolve.ts";

/** What only the registries know is wrong: tools and presets that do not exist (3.5, Q13). */
export function referenceFaults(
  log: LayerLog,
  logs: readonly LayerLog[],
  catalog: Catalog,
): readonly Fault[] {
  const faults: Fault[] = [];
  const providers = [
    ...Object.keys(PROVIDER_TABLES),
    ...Object.keys(catalog.providers ?? {}),
    ...ownServers([...logs, log]),
  ];
  const backends = [...BUILTIN_BACKENDS, ...(catalog.backends ?? [])];
  const isFull = () => faults.length >= MOST_FINDINGS;
  const tools = catalog.tools.map((tool) => tool.name);
  const presets = allPresets(logs, profileOf(logs));
  const servers = new Set(
    [...logs, log].flatMap((each) => each.below(["mcp", "servers"])).map((path) => path[2]!),
  );
  const isKnown = (name: string) =>
    name.startsWith("$")
      ? Object.hasOwn(presets, name)
      : tools.includes(name) || ofServer(name) || mayCome(name);
  // What servers have is known only once they were asked.
  const ofServer = (name: string) => /^[^:]+:./.test(name) && servers.has(name.slice(0, name.indexOf(":")));
  // What only sources can tell is settled when they have answered; one letter off a name that is there is a slip.
  const mayCome = (name: string) => catalog.open === true && nearest(name, tools, 1) === null;
  const near = (name: string) => {
    if (name.startsWith("$")) return nearest(name, Object.keys(presets), 3);
    const known = foreignTool(name);
    return known !== null && tools.includes(known) ? known : nearest(name, tools, 3);
  };
  const hint = (name: string | null) => (name === null ? "" : `; did you mean "${name}"?`);
  for (const { value } of log.on("tools")) {
    for (const name of [value].flat() as string[]) {
      if (isFull()) return faults;
      if (typeof name !== "string" || isKnown(name)) continue;
      const suggestion = near(name);
      faults.push({
        code: "config_unknown_tool",
        severity: "error",
        key: "tools",
        message: `"tools" names the ${
          name.startsWith("$") ? "preset" : "tool"
        } "${name}", which does not exist${hint(suggestion)}`,
        ...(suggestion === null ? {} : { suggestion }),
        written: ["tools"],
        item: name,
      });
    }
  }
  /** A name that is no tool: without effect where it would grant; where it takes away, a slip is an error. */
  const tell = (key: string, name: string, takesAway: boolean, item: unknown = name): void => {
    const what = name.startsWith("$") ? "the preset" : "the tool";
    const suggestion = near(name);
    const isSlip = takesAway && (suggestion !== null || !/^[\w:.$-]+$/.test(name));
    faults.push({
      code: isSlip ? "config_unknown_tool" : "config_ignored_value",
      severity: isSlip ? "error" : "warning",
      key,
      message: `"${key}" names ${what} "${name}", which does not exist${hint(suggestion)}`,
      ...(suggestion === null ? {} : { suggestion }),
      written: key.split("."),
      item,
    });
  };
  for (const { op, value } of log.on("tools.auto_approve")) {
    for (const item of [value].flat()) {
      if (isFull()) return faults;
      if (typeof item !== "string" || modulesIn(item).length > 0) continue;
      const name = toolOf(item);
      if (!isKnown(name)) tell("tools.auto_approve", name, op === "remove", item);
    }
  }
  for (const { op, value } of log.on("tools.rules")) {
    for (const item of op === "remove" ? [] : [value].flat()) {
      const rule = readRule(item);
      for (const name of rule.ok ? rule.value.tools : []) {
        if (isFull()) return faults;
        if (name === "*" || isKnown(name)) continue;
        tell("tools.rules", name, rule.ok && rule.value.decision !== "approve", item);
      }
    }
  }
  for (const home of [["presets"], ["tools", "presets"]]) {
    for (const path of log.below(home)) {
      const preset = log.on(path.join(".")).at(-1)!.value as ApprovalPreset;
      const named = [
        ...(preset.approve ?? []).map((name) => ({ name, takesAway: false })),
        ...(preset.deny ?? []).map((name) => ({ name, takesAway: true })),
      ];
      for (const { name, takesAway } of named) {
        if (isFull()) return faults;
        if (name.startsWith("$")) {
          faults.push({
            code: "config_ignored_value",
            severity: takesAway ? "error" : "warning",
            key: path.join("."),
            message: `"${path.join(".")}" names the preset "${name}"; presets do not refer to presets`,
            written: path,
            item: name,
          });
        } else if (!isKnown(toolOf(name))) tell(path.join("."), toolOf(name), takesAway, name);
      }
      if (preset.provider !== undefined) faults.push(...providerFaults(path.join("."), preset.provider));
    }
  }
  for (const { value } of log.on("provider")) {
    if (typeof value === "string") faults.push(...providerFaults("provider", value));
  }
  for (const { value } of log.on("sandbox.backend")) {
    if (typeof value === "string") faults.push(...backendFaults(value));
  }
  for (const path of log.below(["providers"])) faults.push(...unknownTable(path, 1, "provider", providers));
  for (const path of log.below(["sandbox", "backends"])) {
    faults.push(...unknownTable(path, 2, "backend", backends));
  }
  return faults.slice(0, MOST_FINDINGS);

  function providerFaults(key: string, name: string): Fault[] {
    return unknownName(key, name, "provider", providers);
  }

  function backendFaults(name: string): Fault[] {
    return unknownName("sandbox.backend", name, "backend", ["auto", "required", ...backends]);
  }
}

/** Keys that say where more tools come from, with all that stands below them. */
const TOOL_SOURCES = ["tools.modules", "tools.dirs"];

/** Whether a layer names a source of tools. */
export function bringsTools(log: LayerLog): boolean {
  return log.operations.some(({ op, path }) => {
    const key = path.join(".");
    return op !== "remove" && TOOL_SOURCES.some((source) => key === source || key.startsWith(`${source}.`));
  });
}

/** Names that `providers.NAME.kind` of any layer makes providers. */
export function ownServers(logs: readonly LayerLog[]): readonly string[] {
  const kinds = logs.flatMap((log) => log.below(["providers"])).filter((path) => path[2] === "kind");
  return [...new Set(kinds.map((path) => path[1]!))];
}

const OWN_SERVER = ", or a server of your own with kind: openai_chat";

/** A name that must be one of a few, unless it is the path of a module. */
function unknownName(key: string, name: string, what: string, known: readonly string[]): Fault[] {
  if (known.includes(name) || isModulePath(name)) return [];
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

/** A table of settings for something that does not exist; `at` is where in the path its name stands. */
function unknownTable(path: readonly string[], at: number, what: string, known: readonly string[]): Fault[] {
  const key = path.slice(0, at + 1);
  return unknownName(key.join("."), path[at]!, what, known)
    .map(({ item: _item, ...fault }) => ({ ...fault, written: key, atKey: true }));
}

/** The tool that an item of a list is about: a rule in its short form names it before its parenthesis. */
function toolOf(item: string): string {
  return /^([\w:.-]+)\(.*\)$/s.exec(item)?.[1] ?? item;
}
