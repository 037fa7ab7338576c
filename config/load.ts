// Loading of a run's settings: finds the files of each layer, and loads the parsers only if needed.

import { type Outcome, success } from "../base/problem.ts";
import { BUILTIN_CATALOG } from "./schema/catalog.ts";
import { DEFAULT_SETTINGS } from "./settings.generated.ts";
import { findSources, type Loaded, type LoadOptions, type SettingsSources } from "./sources/find.ts";

/**
 * Loads settings. Any error in a file or option stops the program, because a wrong policy must never apply in part.
 * The problem `config-invalid` lists every error, one per line, as `FILE:LINE:COL: sentence`.
 */
export async function loadSettingsLayers(options: LoadOptions): Promise<Outcome<Loaded>> {
  const sources = findSources(options);
  if (!sources.ok) return sources;
  const { global, project, mcp, session, hooks } = sources.value;
  const given = Object.keys(options.overrides ?? {}).length > 0 || (options.approve ?? []).length > 0 ||
    options.preset !== undefined;
  if (global !== null || project !== null || mcp !== null || session || given || hooks !== null) {
    const { assemble } = await import("./sources/assemble.ts");
    const loaded = await assemble(options, sources.value);
    return loaded.ok ? await withHooks(loaded.value, options, sources.value) : loaded;
  }
  return success({
    settings: DEFAULT_SETTINGS,
    files: [],
    ...await codeOf(options),
    project: null,
    notices: [],
    warnings: [],
    hooks: null,
    logs: [],
    catalog: options.catalog ?? BUILTIN_CATALOG,
    origin: () => "defaults",
    placeOf: () => null,
  });
}

/** Adds the hooks, and protects their files like code. */
async function withHooks(
  loaded: Loaded,
  options: LoadOptions,
  sources: SettingsSources,
): Promise<Outcome<Loaded>> {
  const { hooks: settings } = loaded.settings;
  // Of all values below `hooks`, only those of events are lists of tables.
  const written = sources.hooks !== null || settings.from.length > 0 ||
    Object.values(settings).some((value) => Array.isArray(value) && typeof value[0] === "object");
  if (!settings.enabled || !written) return success(loaded);
  const { loadHooks } = await import("./load_hooks.ts");
  const hooks = await loadHooks(loaded, options, sources);
  if (!hooks.ok) return hooks;
  const { files, notices } = hooks.value;
  return success({
    ...loaded,
    hooks: hooks.value,
    code: [...loaded.code, ...files],
    notices: [...loaded.notices, ...notices],
  });
}

/** Returns the tool files, which need no settings. */
async function codeOf(options: LoadOptions): Promise<Pick<Loaded, "code" | "seals">> {
  const { user, project } = options.toolFolders ?? { user: null, project: null };
  if (user === null && project === null) return { code: [], seals: new Map() };
  const { codeOfRun } = await import("./sources/run_code.ts");
  return await codeOfRun(DEFAULT_SETTINGS, options);
}
