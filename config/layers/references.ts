// Checks that need to know what is registered: tools and presets that settings name and nobody has.

import type { Catalog } from "../schema/catalog.ts";
import type { LayerLog } from "./log.ts";
import { nearest } from "../../base/nearest.ts";
import { type Fault, MOST_FINDINGS } from "../types.ts";
import { allPresets } from "./presets.ts";
import type { ApprovalPreset } from "../settings.ts";
import { profileOf } from "./resolve.ts";

/** What only the registries know is wrong: tools and presets that do not exist (3.5, Q13). */
export function referenceFaults(
  log: LayerLog,
  logs: readonly LayerLog[],
  catalog: Catalog,
): readonly Fault[] {
  const faults: Fault[] = [];
  const isFull = () => faults.length >= MOST_FINDINGS;
  const tools = catalog.tools.map((tool) => tool.name);
  const presets = allPresets(logs, profileOf(logs));
  const isKnown = (name: string) =>
    name.startsWith("$") ? Object.hasOwn(presets, name) : tools.includes(name);
  const near = (name: string) => nearest(name, name.startsWith("$") ? Object.keys(presets) : tools, 3);
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
  const warn = (key: string, name: string, what: string): void => {
    const written = key.split(".");
    const suggestion = near(name);
    faults.push({
      code: "config_ignored_value",
      severity: "warning",
      key,
      message: `"${key}" names ${what} "${name}", which does not exist${hint(suggestion)}`,
      ...(suggestion === null ? {} : { suggestion }),
      written,
      item: name,
    });
  };
  for (const { op, value } of log.on("tools.auto_approve")) {
    if (op === "remove") continue;
    for (const name of [value].flat()) {
      if (isFull()) return faults;
      if (typeof name !== "string" || isKnown(name) || /[/.]/.test(name)) continue;
      warn("tools.auto_approve", name, name.startsWith("$") ? "the preset" : "the tool");
    }
  }
  for (const home of [["presets"], ["tools", "presets"]]) {
    for (const path of log.below(home)) {
      const preset = log.on(path.join(".")).at(-1)!.value as ApprovalPreset;
      for (const name of [...preset.approve ?? [], ...preset.deny ?? []]) {
        if (isFull()) return faults;
        if (name.startsWith("$")) {
          faults.push({
            code: "config_ignored_value",
            severity: "warning",
            key: path.join("."),
            message: `"${path.join(".")}" names the preset "${name}"; presets do not refer to presets`,
          });
        } else if (!isKnown(name)) warn(path.join("."), name, "the tool");
      }
    }
  }
  return faults;
}
