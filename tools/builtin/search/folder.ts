// Where the paths of a call lead, for tools that look into folders.

import { isSystemFile, isSystemPath } from "../../../base/system/reading.ts";
import { resolvePath } from "../../../base/paths.ts";
import { realPath } from "../../../base/disk/real_path.ts";
import type { ExecutionContext } from "../../definition.ts";
import { FileFailure } from "../../../base/disk/failures.ts";
import { leading, nowhereSentence, type Places } from "../file_failures.ts";

/** What a path of a call leads to. */
export interface Place {
  /** Real path. */
  readonly real: string;
  readonly info: Deno.FileInfo;
}

/** The paths of a tool that works in `cwd`, which is the folder of the document unless a setting says otherwise. */
export function placesOf({ cwd, environment, sandbox, disk }: ExecutionContext): Places {
  const base = { folder: cwd, home: environment.home };
  return { path: { resolve: (path) => resolvePath(path, base) }, sandbox, disk };
}

/**
 * What stands at a path as the model wrote it. Throws `FileFailure` where tools may not look, and as the system does.
 */
export async function placeAt(shown: string, places: Places): Promise<Place> {
  const real = realPath(places.path.resolve(shown), "/");
  if (real === null) throw new FileFailure(nowhereSentence(shown));
  const refused = () => new FileFailure(`Sandbox: ${leading(shown, real, places)} may not be read by tools.`);
  if (isSystemPath(real) || !places.sandbox.isPathReadable(real)) throw refused();
  const info = await Deno.stat(real);
  if (isSystemFile(real, info)) throw refused();
  return { real, info };
}
