// Finds the files of code that a run loads in addition to the program's own: modules of the settings, and tool files.

import { resolvePath } from "../../base/paths.ts";
import { followImports, sealOf } from "../code/imports.ts";
import { modulePath, modulesIn } from "../schema/module_path.ts";
import type { Settings } from "../settings.generated.ts";
import type { LoadedSettings, LoadOptions } from "./find.ts";
import { codeIn, toolFolders } from "./tool_folders.ts";

/** Returns the code as it is now, with everything that it imports by path. */
export async function codeOfRun(
  { tools }: Pick<Settings, "tools">,
  options: LoadOptions,
): Promise<Pick<LoadedSettings, "code" | "seals">> {
  const { environment, document = null, noConfig } = options;
  const { home, cwd } = environment;
  const seals = new Map<string, string | null>();
  const code = new Set<string>();
  for (const path of [...modulesIn(tools.auto_approve), ...modulesIn(tools.resolvers), ...tools.modules]) {
    const sealed = await sealOf(path, home);
    seals.set(path, sealed?.hash ?? null);
    for (const file of sealed?.files ?? [modulePath(path, "/", home)]) code.add(file);
  }
  const found = options.toolFolders ??
    (noConfig ? { user: null, project: null } : toolFolders(environment, document));
  const named = tools.dirs.map((dir) => resolvePath(dir, { folder: cwd, home }));
  const folders = [...named, found.user, found.project].filter((folder) => folder !== null);
  const { files } = await followImports(await codeIn(folders), home);
  for (const file of files) code.add(file);
  return { seals, code: [...code] };
}
