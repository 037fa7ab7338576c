// The settings layer of the command line.

import type { Environment } from "../../base/environment.ts";
import { loadSettingsLayers } from "../../config/load.ts";
import type { Loaded, SettingsOverrides } from "../../config/sources/find.ts";
import { typedValue } from "../../config/schema/presets/modeline.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import { type Arguments, listOption, numberOption, switchOption, textOption } from "./options.ts";

type Tree = Record<string, unknown>;

/** Returns the settings from options, which override the settings files. Fails with `usage`. */
export function readOverrides(given: Arguments): Outcome<SettingsOverrides> {
  const overrides: Tree = {};
  const set = (path: string, value: unknown) => {
    if (value !== undefined) setPath(overrides, path.split("."), value);
  };
  set("provider", textOption(given, "provider"));
  set("model", textOption(given, "model"));
  set("tools.autopilot.enabled", switchOption(given, "autopilot"));
  set("tools.autopilot.max_turns", numberOption(given, "max-turns"));
  set("run.max_cost", numberOption(given, "max-cost"));
  set("run.max_tokens", numberOption(given, "max-tokens"));
  set("run.wait_for_limit", numberOption(given, "wait-limit"));
  set(
    "fallback.models",
    textOption(given, "fallback")?.split(",").map((name) => name.trim()).filter(Boolean),
  );
  set("sandbox.enabled", switchOption(given, "sandbox"));
  if (switchOption(given, "no-hooks") === true) set("hooks.enabled", false);
  set("sandbox.backend", textOption(given, "backend"));
  for (const text of listOption(given, "param")) {
    const equals = text.indexOf("=");
    if (equals < 1) return failure("usage", `--param needs KEY=VALUE, not ${text}.`);
    set(`parameters.${text.slice(0, equals)}`, typedValue(text.slice(equals + 1)));
  }
  return success({
    configPath: textOption(given, "config"),
    noConfig: switchOption(given, "no-config") === true,
    overrides,
    approve: listOption(given, "approve"),
    preset: presetName(textOption(given, "preset")),
  });
}

/**
 * Loads the settings of a document (null for an unsaved one), overridden by the options. Any error leads to exit code
 * 2.
 */
export async function settingsOf(
  given: Arguments,
  environment: Environment,
  document: string | null,
): Promise<Outcome<Loaded>> {
  const overrides = readOverrides(given);
  return overrides.ok ? await loadSettingsLayers({ ...overrides.value, environment, document }) : overrides;
}

/** The `$` is optional, because a shell would expand `$name` as a variable. */
function presetName(given: string | undefined): string | undefined {
  return given === undefined || given.startsWith("$") ? given : `$${given}`;
}

function setPath(tree: Tree, path: readonly string[], value: unknown): void {
  const [name = "", ...rest] = path;
  const inner = Object.hasOwn(tree, name) ? tree[name] : undefined;
  const below: Tree = typeof inner === "object" && inner !== null ? inner as Tree : {};
  // The member is defined instead of assigned, because names such as `__proto__` have setters.
  Object.defineProperty(tree, name, {
    value: rest.length === 0 ? value : below,
    enumerable: true,
    writable: true,
    configurable: true,
  });
  if (rest.length > 0) setPath(below, rest, value);
}
