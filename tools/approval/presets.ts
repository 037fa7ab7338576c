// Returns the current presets for approval, and expands the presets in a list.

import { BUILTIN_PRESETS, type ExpandedList, expandList } from "../../config/layers/presets.ts";
import type { Presets } from "../../config/values.ts";
import type { ToolSettings } from "../../config/settings.generated.ts";

import type { RegisteredTool } from "../definition.ts";

export { type ExpandedList, expandList };

/** Name of the tool that loads skills. */
export const SKILL_TOOL = "skill";

/** Facts about tools that approval needs. */
export interface ToolFacts {
  /** True if the tool of this name has a capability. False for a tool that is not known. */
  hasCapability(tool: string, capability: string): boolean;
  /** Returns what is known about the tool with this name. @default no tool is known */
  get?(
    tool: string,
  ): Partial<Pick<RegisteredTool, "risk" | "origin" | "runs" | "effects" | "fault">> | undefined;
}

/** The current presets: the profile's own, each replaced entirely by a person's preset of the same name. */
export function presetsOf(settings: Pick<ToolSettings, "approval_profile" | "presets">): Presets {
  return { ...BUILTIN_PRESETS[settings.approval_profile], ...settings.presets };
}

/**
 * Expands a list for one tool. If there are skills, the built-in presets that approve `read` also approve the skill
 * tool.
 */
export function expandFor(
  tool: string,
  list: readonly string[],
  presets: Presets,
  { excluded = [], tools }: { readonly excluded?: readonly string[]; readonly tools: ToolFacts },
): ExpandedList {
  const expanded = expandList(list, presets, excluded);
  // Only the built-in skill tool qualifies: another tool of the same name may load skills that no person trusted.
  const isSkills = tool === SKILL_TOOL && tools.get?.(tool)?.origin === "built-in";
  // Excluding `read`, or the preset that contains it, also excludes the skill tool.
  if (!isSkills || [tool, "read"].some((name) => excluded.includes(name))) return expanded;
  const builtin = new Set(Object.values(BUILTIN_PRESETS).flatMap((profile) => Object.values(profile)));
  const beside = list.some((entry) =>
    Object.hasOwn(presets, entry) && builtin.has(presets[entry]!) && presets[entry]!.approve?.includes("read")
  );
  return beside ? { ...expanded, approve: new Set([...expanded.approve, tool]) } : expanded;
}
