// Presets as approval sees them: what is in force, and what a list that uses them comes to.

import { BUILTIN_PRESETS, type ExpandedList, expandList } from "../../config/layers/presets.ts";
import type { Presets } from "../../config/settings/tools.ts";
import type { ToolSettings } from "../../config/settings/tools.ts";

export { type ExpandedList, expandList };

/** Name of the tool that loads skills. */
export const SKILL_TOOL = "skill";
/** What tells that tool from a host's own of the same name: only what it gives was trusted before. */
export const SKILL_CAPABILITY = "gives_trusted_skills";

/** What approval asks of the tools. */
export interface ToolFacts {
  hasCapability(tool: string, capability: string): boolean;
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
  // Whoever took `read` out, alone or with its preset, did not mean to keep what stands beside it.
  const isSkills = tool === SKILL_TOOL && tools.hasCapability(tool, SKILL_CAPABILITY);
  if (!isSkills || [tool, "read"].some((name) => excluded.includes(name))) return expanded;
  const builtin = new Set(Object.values(BUILTIN_PRESETS).flatMap((profile) => Object.values(profile)));
  const beside = list.some((entry) =>
    Object.hasOwn(presets, entry) && builtin.has(presets[entry]!) && presets[entry]!.approve?.includes("read")
  );
  return beside ? { ...expanded, approve: new Set([...expanded.approve, tool]) } : expanded;
}
