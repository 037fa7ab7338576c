// Presets: named approve and deny lists, and what a list that uses them comes to.

import type { ApprovalPreset, ToolSettings } from "../../config/settings.ts";

const FOUNDING: Readonly<Record<string, ApprovalPreset>> = {
  $default: { approve: ["read", "write", "edit"] },
  $readonly: { approve: ["read"] },
  $standard: { approve: ["read", "write", "edit", "find", "grep", "ls"] },
};

const PLUGIN: Readonly<Record<string, ApprovalPreset>> = {
  $readonly: { approve: ["read", "find", "grep", "ls"] },
  $standard: { approve: ["read", "write", "edit", "find", "grep", "ls"] },
};

/** The presets in force: the profile's own, each replaced whole by a person's preset of that name. */
export function presetsOf(settings: ToolSettings): Readonly<Record<string, ApprovalPreset>> {
  return { ...(settings.approval_profile === "founding" ? FOUNDING : PLUGIN), ...settings.presets };
}

export interface ExpandedList {
  readonly approve: ReadonlySet<string>;
  readonly deny: ReadonlySet<string>;
  /** `$names` that no preset has; they contribute nothing. */
  readonly unknown: readonly string[];
}

/** Union of all presets and plain names of a list (approval section 5). Deny is kept apart: it wins. */
export function expandList(
  list: readonly string[],
  presets: Readonly<Record<string, ApprovalPreset>>,
): ExpandedList {
  const approve = new Set<string>();
  const deny = new Set<string>();
  const unknown: string[] = [];
  for (const entry of list) {
    if (!entry.startsWith("$")) {
      approve.add(entry);
      continue;
    }
    const preset = Object.hasOwn(presets, entry) ? presets[entry] : undefined;
    if (preset === undefined) unknown.push(entry);
    for (const name of preset?.approve ?? []) approve.add(name);
    for (const name of preset?.deny ?? []) deny.add(name);
  }
  return { approve, deny, unknown };
}
