// Presets as approval sees them: what is in force, and what a list that uses them comes to.

import { BUILTIN_PRESETS, type ExpandedList, expandList } from "../../config/layers/presets.ts";
import type { Presets } from "../../config/settings.ts";
import type { ToolSettings } from "../../config/settings.ts";

export { type ExpandedList, expandList };

/** The presets in force: the profile's own, each replaced whole by a person's preset of that name. */
export function presetsOf(settings: Pick<ToolSettings, "approval_profile" | "presets">): Presets {
  return { ...BUILTIN_PRESETS[settings.approval_profile], ...settings.presets };
}
