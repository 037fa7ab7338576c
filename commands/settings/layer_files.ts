// Lists the settings files by layer.

import { configFolder } from "../../base/folders.ts";
import { mayBeThere } from "../../base/files.ts";
import { findSources } from "../../config/sources/find.ts";
import { type Outcome, success } from "../../base/problem.ts";
import { sessionPath } from "../../config/sources/session_overrides.ts";
import type { Invocation } from "../invocation.ts";
import { switchOption, textOption } from "../line/options.ts";

/**
 * Returns one line per existing file, with the letter of its layer first. The global file is listed even if it is
 * missing.
 */
export async function layerFiles(
  { environment, arguments: given }: Invocation,
  document: string | null,
): Promise<Outcome<readonly string[]>> {
  const sources = findSources({
    environment,
    configPath: textOption(given, "config"),
    noConfig: switchOption(given, "no-config") === true,
    document,
  });
  if (!sources.ok) return sources;
  const { global, project } = sources.value;
  const session = await sessionPath(environment, null);
  const own = document === null ? null : await sessionPath(environment, document);
  return success([
    `G  ${global?.path ?? `${configFolder(environment)}/config.yaml (does not exist)`}`,
    ...(project === null ? [] : [`P  ${project.path}`]),
    ...[session, own].filter((file) => file !== null && mayBeThere(file)).map((file) => `R  ${file}`),
  ]);
}
