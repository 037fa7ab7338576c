// Loading of a run's settings: finds the files of each layer, and loads the parsers only if needed.

import { type Outcome, success } from "../base/problem.ts";
import { BUILTIN_CATALOG } from "./schema/catalog.ts";
import { DEFAULT_SETTINGS } from "./settings.generated.ts";
import { findSources, type Loaded, type LoadOptions } from "./sources/find.ts";

/**
 * Loads settings. Any error in a file or option stops the program, because a wrong policy must never apply in part.
 * The problem `config-invalid` lists every error, one per line, as `FILE:LINE:COL: sentence`.
 */
export async function loadSettingsLayers(options: LoadOptions): Promise<Outcome<Loaded>> {
  const sources = findSources(options);
  if (!sources.ok) return sources;
  const { global, project, mcp, session } = sources.value;
  const given = Object.keys(options.overrides ?? {}).length > 0 || (options.approve ?? []).length > 0 ||
    options.preset !== undefined;
  if (global !== null || project !== null || mcp !== null || session || given) {
    const { assemble } = await import("./sources/assemble.ts");
    return await assemble(options, sources.value);
  }
  return success({
    settings: DEFAULT_SETTINGS,
    files: [],
    ...await codeOf(options),
    project: null,
    notices: [],
    warnings: [],
    logs: [],
    catalog: options.catalog ?? BUILTIN_CATALOG,
    origin: () => "defaults",
    placeOf: () => null,
  });
}

/** Returns the tool files, which need no settings. */
async function codeOf(options: LoadOptions): Promise<Pick<Loaded, "code" | "seals">> {
  const { user, project } = options.toolFolders ?? { user: null, project: null };
  if (user === null && project === null) return { code: [], seals: new Map() };
  const { codeOfRun } = await import("./sources/run_code.ts");
  return await codeOfRun(DEFAULT_SETTINGS, options);
}
