// Resolves the paths of a call for tools that search folders.

import { isSystemFile, isSystemPath } from "../../../base/system/system_files.ts";
import { resolvePath } from "../../../base/paths.ts";
import { realPath } from "../../../base/disk/real_path.ts";
import type { ExecutionContext } from "../../definition.ts";
import { FileFailure } from "../../../base/disk/failures.ts";
import { type FileContext, nowhereSentence, unreadableSentence } from "../file_failures.ts";

/** Target of a path of a call. */
export interface PathTarget {
  readonly real: string;
  readonly info: Deno.FileInfo;
}

/**
 * Returns the path context of a tool whose paths are relative to `cwd`. This is the folder of the document, unless a
 * setting names another folder.
 */
export function placesOf({ cwd, environment, sandbox, disk }: ExecutionContext): FileContext {
  const base = { folder: cwd, home: environment.home };
  return { path: { resolve: (path) => resolvePath(path, base) }, sandbox, disk };
}

/**
 * Resolves a path as the model wrote it. Throws `FileFailure` for a path that tools may not read, and throws the
 * system's errors.
 */
export async function resolveTarget(shown: string, places: FileContext): Promise<PathTarget> {
  const real = realPath(places.path.resolve(shown), "/");
  if (real === null) throw new FileFailure(nowhereSentence(shown));
  const refused = () => new FileFailure(unreadableSentence(shown, real, places));
  if (isSystemPath(real) || !places.sandbox.isPathReadable(real)) throw refused();
  const info = await Deno.stat(real);
  if (isSystemFile(real, info)) throw refused();
  return { real, info };
}
