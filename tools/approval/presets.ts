// Presets as approval sees them: what is in force, and what a list that uses them comes to.

import { BUILTIN_PRESETS, type ExpandedList, expandList } from "../../config/layers/presets.ts";
import type { Presets } from "../../config/settings/tools.ts";
import type { ToolSettings } from "../../config/settings/tools.ts";

import type { RegisteredTool } from "../definition.ts";

export { type ExpandedList, expandList };

/** Name of the tool that loads skills. */
export const SKILL_TOOL = "skill";

/** What approval asks of the tools. */
export interface ToolFacts {
  hasCapability(tool: string, capability: string): boolean;
  /** The tool of a name, as far as anybody knows it. @default no tool is known */
  get?(tool: string): Partial<Pick<RegisteredTool, "risk" | "origin" | "runs" | "effects">> | undefined;
}

/** The presets in force: the profile's own, each replaced whole by a person's preset of that name. */
export function presetsOf(settings: Pick<ToolSettings, "approval_profile" | "presets">): Presets {
  return { ...BUILTIN_PRESETS[settings.approval_profile], ...settings.presets };
}

/** A list as it stands for one tool: the built-in presets hold the tool of skills beside `read`, where there are skills. */
export function expandFor(
  tool: string,
  list: readonly string[],
  presets: Presets,
  { excluded = [], tools }: { readonly excluded?: readonly string[]; readonly tools: ToolFacts },
): ExpandedList {
  const expanded = expandList(list, presets, excluded);
  // Of others' tools of that name nobody knows that what they give was trusted before.
  const isSkills = tool === SKILL_TOOL && tools.get?.(tool)?.origin === "built-in";
  // Whoever took `read` out, alone or with its preset, did not mean to keep what comes with it.
  if (!isSkills || [tool, "read"].some((name) => excluded.includes(name))) return expanded;
  const builtin = new Set(Object.values(BUILTIN_PRESETS).flatMap((profile) => Object.values(profile)));
  const beside = list.some((entry) =>
    Object.hasOwn(presets, entry) && builtin.has(presets[entry]!) && presets[entry]!.approve?.includes("read")
  );
  return beside ? { ...expanded, approve: new Set([...expanded.approve, tool]) } : expanded;
}
