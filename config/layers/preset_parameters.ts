// Conversion of a preset's parameters to writes of settings, with validation.

import { isObject } from "../../base/is_object.ts";
import { mismatches, mismatchSentence } from "../schema/check.ts";
import { LayerLog } from "./log.ts";
import type { ApprovalPreset } from "../values.ts";
import { PROVIDER_TABLES, SCHEMA } from "../schema/schema.ts";
import { nearest } from "../../base/names.ts";
import { failed, type Outcome, success } from "../../base/problem.ts";
import type { Group, Node } from "../schema/define.ts";

/** An error in a preset: its key, a sentence, and the closest valid name. */
export interface PresetFault {
  readonly key: string;
  readonly message: string;
  readonly suggestion?: string;
}

/** The writes of a preset, or its first error. */
export type PresetWrites = Outcome<LayerLog, PresetFault>;

/**
 * Returns the writes of a preset. General names go below `parameters`, others into the table of the preset's provider.
 * Parameters of external providers are accepted unchecked, because they have no table here.
 */
export function presetWrites(preset: ApprovalPreset, name: string): PresetWrites {
  const general = SCHEMA.members.parameters as Group;
  const { provider = "" } = preset;
  const own = Object.hasOwn(PROVIDER_TABLES, provider) ? PROVIDER_TABLES[provider] : undefined;
  const log = new LayerLog("D");
  for (const [written, given] of leaves(preset.parameters ?? {}, general)) {
    const place = locate(written, general, own, preset.provider);
    if (place === null) {
      const names = [...Object.keys(general.members), ...Object.keys(own?.members ?? {})];
      const near = nearest(written[0]!, names);
      return failed({
        key: `${name}.${written.join(".")}`,
        message: `the preset "${name}" has the unknown parameter "${written.join(".")}"${
          near === null ? "" : `; did you mean "${near}"?`
        }`,
        ...(near === null ? {} : { suggestion: near }),
      });
    }
    const { path, node } = place;
    if (node === null || node.node !== "key" || given === null) {
      log.push({ op: "set", path, value: given });
      continue;
    }
    const value = node.long === undefined ? given : node.long(given);
    const [mismatch] = mismatches(node.type, value);
    if (mismatch !== undefined) {
      return failed({
        key: path.join("."),
        message: `in the preset "${name}", ${mismatchSentence(path.join("."), mismatch)}`,
        ...(mismatch.suggestion === undefined ? {} : { suggestion: mismatch.suggestion }),
      });
    }
    log.push({ op: "set", path, value });
  }
  return success(log);
}

function locate(
  written: readonly string[],
  general: Group,
  own: Group | undefined,
  provider: string | undefined,
): { path: readonly string[]; node: Node | null } | null {
  const inGeneral = descend(general, written);
  if (inGeneral !== null) return { path: ["parameters", ...written], node: inGeneral };
  const inOwn = own === undefined ? null : descend(own, written);
  if (inOwn !== null) return { path: ["parameters", provider!, ...written], node: inOwn };
  return provider !== undefined && own === undefined
    ? { path: ["parameters", provider, ...written], node: null }
    : null;
}

function descend(group: Group, path: readonly string[]): Node | null {
  let node: Node = group;
  for (const name of path) {
    if (node.node !== "group" || !Object.hasOwn(node.members, name)) return null;
    node = node.members[name]!;
  }
  return node.node === "key" ? node : null;
}

/** Returns the leaves of nested tables; expands dotted names and provider tables, but not values of a single key. */
function leaves(
  table: Readonly<Record<string, unknown>>,
  group: Node | undefined,
  prefix: readonly string[] = [],
): [readonly string[], unknown][] {
  return Object.entries(table).flatMap(([name, value]): [readonly string[], unknown][] => {
    const path = [...prefix, ...name.split(".")];
    const node = group?.node === "group" && Object.hasOwn(group.members, name)
      ? group.members[name]
      : undefined;
    const opens = isObject(value) && (node?.node === "group" || name === "experimental");
    return opens ? leaves(value, node, path) : [[path, value]];
  });
}
