// Switching to a preset: sets its model by reference, its approvals as the list, and its tools.

import type { LayerLog } from "./log.ts";
import type { LayerDraft } from "../types.ts";
import { allPresets } from "./presets.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import { profileOf } from "./resolve.ts";

/** Writes the switch to a draft. Fails with `usage` if no layer defines the preset. */
export function switchTo(draft: LayerDraft, name: string, logs: readonly LayerLog[]): Outcome<void> {
  const presets = allPresets(logs, profileOf(logs));
  const preset = Object.hasOwn(presets, name) ? presets[name]! : undefined;
  if (preset === undefined) {
    return failure(
      "usage",
      `There is no preset "${name}".`,
      `The presets are: ${Object.keys(presets).sort().join(", ")}.`,
    );
  }
  if (preset.model !== undefined) draft.apply("set", ["model"], name);
  else if (preset.provider !== undefined) draft.apply("set", ["provider"], preset.provider);
  if (preset.approve !== undefined || preset.deny !== undefined) {
    draft.apply("set", ["tools", "auto_approve"], [name]);
  }
  if (preset.tools !== undefined) draft.apply("set", ["tools"], preset.tools);
  return success(undefined);
}
