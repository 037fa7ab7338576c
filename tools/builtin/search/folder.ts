// Folders of a call: where they really are, whether they may be looked at, and what stands in them.

import { isSystemFile, isSystemPath } from "../../../base/reading.ts";
import { parentOf, resolvePath } from "../../../base/paths.ts";
import { realPath } from "../../../sandbox/paths/real_path.ts";
import type { ExecutionContext } from "../../definition.ts";
import { FileFailure, leading, type Places } from "../file_failures.ts";
import { nowhereSentence } from "../replace_file.ts";

/** One name in a folder. */
export interface Entry {
  readonly name: string;
  /** What stands there; links are not followed. */
  readonly kind: "folder" | "file" | "link" | "other";
}

/** What a path of a call leads to. */
export interface Place {
  /** Real path. */
  readonly real: string;
  readonly info: Deno.FileInfo;
}

/** The paths of a tool that works in `cwd`, which is the folder of the document unless a setting says otherwise. */
export function placesOf(context: ExecutionContext): Places {
  const base = { folder: context.cwd, home: context.environment.home };
  return { path: { resolve: (path) => resolvePath(path, base) }, sandbox: context.sandbox };
}

/**
 * What stands at a path as the model wrote it. Throws `FileFailure` where tools may not look, and as the system does.
 */
export async function placeAt(shown: string, places: Places): Promise<Place> {
  const real = realPath(places.path.resolve(shown), "/");
  if (real === null) throw new FileFailure(nowhereSentence(shown));
  const refused = () => new FileFailure(`Sandbox: ${leading(shown, real, places)} may not be read by tools.`);
  if (!isReadable(real, places)) throw refused();
  const info = await Deno.stat(real);
  if (isSystemFile(real, info)) throw refused();
  return { real, info };
}

/** Whether tools may look at a real path (sandbox 12.1), which is none of the system's own (S7). */
export function isReadable(real: string, { sandbox }: Pick<Places, "sandbox">): boolean {
  return !isSystemPath(real) && sandbox.isPathReadable(real);
}

/**
 * What stands in a folder, in no order; null when it may not be looked at, or was exchanged for something else meanwhile.
 *
 * @param real its real path
 */
export async function entriesOf(real: string, places: Places): Promise<Entry[] | null> {
  if (!isReadable(real, places)) return null;
  const entries: Entry[] = [];
  try {
    const judged = await Deno.lstat(real);
    if (!judged.isDirectory || isForeign(real, judged)) return null;
    for await (const { name, isDirectory, isFile, isSymlink } of Deno.readDir(real)) {
      entries.push({ name, kind: isDirectory ? "folder" : isFile ? "file" : isSymlink ? "link" : "other" });
    }
    // A link may have taken the place of what was judged, between judging and reading.
    const now = await Deno.lstat(real);
    return now.dev === judged.dev && now.ino === judged.ino && realPath(real, "/") === real ? entries : null;
  } catch (thrown) {
    // It went away, or belongs to somebody else.
    if (thrown instanceof Deno.errors.NotFound || thrown instanceof Deno.errors.PermissionDenied) return null;
    throw thrown;
  }
}

/** Whether a folder is one of the system's. One on the device of the folder around it is what that one was found to be. */
function isForeign(real: string, { dev }: Deno.FileInfo): boolean {
  return Deno.lstatSync(parentOf(real)).dev !== dev && isSystemFile(real, { dev });
}

/** Whether a link leads to a folder that tools may look at. */
export async function leadsToFolder(path: string, places: Places): Promise<boolean> {
  const real = realPath(path, "/");
  if (real === null || !isReadable(real, places)) return false;
  try {
    return (await Deno.stat(real)).isDirectory;
  } catch {
    return false; // It leads nowhere, or nobody may know.
  }
}

/** A path on a line of its own: one with control characters would break the line, and stands there as JSON. */
export function onOneLine(path: string): string {
  // deno-lint-ignore no-control-regex -- the range is what must not be on a line
  return /[\x00-\x1f\x7f]/.test(path) ? JSON.stringify(path) : path;
}
