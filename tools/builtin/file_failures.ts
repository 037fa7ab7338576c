// Messages about files that could not be found, read or written, with the path as the model wrote it.

import { canBeSeen } from "../../base/files.ts";
import { thrownText } from "../../base/problem.ts";
import { isInside, parentOf } from "../../base/paths.ts";
import { realPath } from "../../base/disk/real_path.ts";
import type { ExecutionContext } from "../definition.ts";
import { FileFailure, folderSentence } from "../../base/disk/failures.ts";
import { performOnDisk, runWithTimeout } from "../files/on_disk.ts";
import { nearName } from "../files/text/mismatch.ts";

/** The part of an execution context that makes a call's paths absolute and decides which may be read. */
export type FileContext = Pick<ExecutionContext, "path" | "sandbox" | "disk">;

/** Returns why a file operation of a call failed. `doing` completes "could not be …". */
export async function fileSentence(
  path: string,
  doing: "read" | "written",
  thrown: unknown,
  context: FileContext,
  noun: "file" | "folder" | "folder or file" = "file",
): Promise<string> {
  if (thrown instanceof FileFailure) return thrown.message;
  if (thrown instanceof Deno.errors.NotFound) {
    return `The ${noun} ${path} does not exist${await hint(path, context)}.`;
  }
  if (thrown instanceof Deno.errors.IsADirectory) return folderSentence(path);
  if (thrown instanceof Deno.errors.NotADirectory || thrown instanceof Deno.errors.AlreadyExists) {
    return `The ${noun} ${path} could not be ${doing}: part of the path is a file, not a folder.`;
  }
  if (thrown instanceof Deno.errors.PermissionDenied) {
    return `The ${noun} ${path} could not be ${doing}: permission denied.`;
  }
  return `The ${noun} ${path} could not be ${doing}: ${thrownText(thrown).replace(/\.$/, "")}.`;
}

/** Maximum number of names in a folder that are compared. */
const MOST_NAMES = 10_000;
/** Maximum number of seconds to wait for a hint. */
const MOST_SECONDS = 2;

/** Returns a hint about a name that looks like the missing one, as the end of a sentence; empty if there is none. */
async function hint(path: string, places: FileContext): Promise<string> {
  const { path: { resolve }, sandbox } = places;
  const target = linkAt(resolve(path));
  if (target !== null) return `; it is a symbolic link to ${target}`;
  let missing = resolve(path);
  while (missing !== "/" && !canBeSeen(parentOf(missing))) missing = parentOf(missing);
  const folder = parentOf(missing);
  if (!sandbox.isPathReadable(folder)) return "";
  const near = nearName(await namesIn(folder, places), missing.slice(missing.lastIndexOf("/") + 1));
  return near === null ? "" : `; ${folder} contains ${JSON.stringify(near.name)}, ${near.words}`;
}

/** Target of the link at a path, or null if there is none. */
function linkAt(path: string): string | null {
  try {
    return Deno.readLinkSync(path);
  } catch {
    return null;
  }
}

async function namesIn(folder: string, places: FileContext): Promise<readonly string[]> {
  const real = realPath(folder, "/");
  if (real === null) return [];
  try {
    const time = { timeout: MOST_SECONDS, signal: new AbortController().signal };
    return await runWithTimeout(
      time,
      (signal) => performOnDisk(places, "names", { folder: real, most: MOST_NAMES }, signal),
    );
  } catch {
    return []; // An unreadable folder gives no hint.
  }
}

/** The message about a path that tools may not read. The setting is named only if it is the reason. */
export function unreadableSentence(shown: string, real: string, context: FileContext): string {
  const policy = context.sandbox.policy();
  const isHidden = policy.ok && (policy.value.deny_read ?? []).some((hidden) => isInside(real, hidden));
  return `Sandbox: tools may not read ${describeTarget(shown, real, context)}${
    isHidden ? "; the user can change that with sandbox.policy.deny_read" : ""
  }.`;
}

/**
 * Returns how messages name a path that is refused because of its target. If the path is a link, the text says so,
 * because the path itself does not show the reason.
 */
export function describeTarget(
  path: string,
  real: string,
  { path: { resolve } }: Pick<FileContext, "path">,
): string {
  return real === resolve(path) ? path : `${path} (it resolves to ${real})`;
}

/** Message for a path that `realPath` cannot resolve. */
export function nowhereSentence(path: string): string {
  return path.includes("\0")
    ? "The path contains a NUL character, which a file name cannot contain."
    : `The path ${path} cannot be resolved: its symbolic links form a loop, or there are too many.`;
}
