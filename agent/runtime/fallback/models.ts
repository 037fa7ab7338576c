// Reads the entries of `fallback.models`: the settings with which each model is asked.

import { asSentence, failure, type Outcome, success } from "../../../base/problem.ts";
import { MODEL_CHOICES } from "../../../config/layers/model_choices.generated.ts";
import { presetWrites } from "../../../config/layers/preset_parameters.ts";
import type { Settings } from "../../../config/settings.generated.ts";
import { knownProvider } from "../../../providers/registry.ts";

/**
 * Returns the settings with which a model is asked: those of the document, with another provider, model and, for a
 * preset, parameters. Approvals of a preset do not change during a run, so they do not apply.
 *
 * @param entry `MODEL` of the current provider, `PROVIDER/MODEL`, or `$preset`
 */
export function fallbackSettings(settings: Settings, entry: string): Outcome<Settings> {
  if (entry.startsWith("$")) return presetSettings(settings, entry);
  const slash = entry.indexOf("/");
  const provider = entry.slice(0, Math.max(0, slash));
  // Models of some servers have a slash in their names.
  return success(
    provider !== "" && knownProvider(provider, settings) !== null
      ? { ...settings, provider, model: entry.slice(slash + 1) }
      : { ...settings, model: entry },
  );
}

function presetSettings(settings: Settings, name: string): Outcome<Settings> {
  const preset = Object.hasOwn(settings.tools.presets, name) ? settings.tools.presets[name]! : undefined;
  if (preset === undefined) {
    const choice = Object.hasOwn(MODEL_CHOICES, settings.provider)
      ? MODEL_CHOICES[settings.provider]![name]
      : undefined;
    return choice === undefined
      ? failure("usage", `There is no preset "${name}" with a model for ${settings.provider}.`)
      : success({ ...settings, model: choice });
  }
  if (preset.model === undefined) return failure("usage", `The preset "${name}" names no model.`);
  const writes = presetWrites(preset, name);
  if (!writes.ok) return failure("usage", asSentence(writes.problem.message));
  const provider = preset.provider ?? settings.provider;
  const written = writes.value.operations.reduce(
    (tree, { path, value }) => withValue(tree, path, value),
    settings as unknown as Tree,
  ) as unknown as Settings;
  return success({ ...written, provider, model: preset.model });
}

type Tree = Readonly<Record<string, unknown>>;

/** Returns a copy of a tree with another value at a path. */
function withValue(tree: Tree, [name = "", ...rest]: readonly string[], value: unknown): Tree {
  const inner = Object.hasOwn(tree, name) ? tree[name] as Tree | undefined : undefined;
  return { ...tree, [name]: rest.length === 0 ? value : withValue(inner ?? {}, rest, value) };
}
