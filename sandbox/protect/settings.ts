// Repairs git configurations after commands: removes only settings that run a program or lead git elsewhere.

import type { Problem } from "../../base/problem.ts";
import { FsSnapshot } from "../../base/disk/fs_snapshot.ts";
import type { RemovedSettings } from "../git/removed_settings.ts";
import type { CheckedSettings } from "../git/settings_changes.ts";
import { readGitSettings } from "../git/settings_file.ts";
import { refusedSentence } from "../git/settings_changes.ts";

/** Steps of a repair. */
export interface Repairs {
  /** What commands removed from configurations. */
  readonly removed: RemovedSettings;
  /** Moves a path away. Returns its new path. */
  moveAway(path: string): Promise<string>;
  /** Writes a file where nothing exists. */
  putBack(path: string, bytes: Uint8Array, mode: number): Promise<void>;
  attempt(path: string, act: () => Promise<Problem>): Promise<Problem>;
}

/** Limit on the number of settings that one message names. */
const MOST_NAMED = 5;

/**
 * Replaces the configuration that a command left with the text that it should contain.
 *
 * @param existed whether it existed before the commands; if not, and no setting stays, nothing is written
 */
export async function putSettingsBack(
  path: string,
  { text, refused }: CheckedSettings,
  { moveAway, putBack }: Repairs,
  { existed }: { readonly existed: boolean },
): Promise<Problem> {
  const mode = new FsSnapshot().lstat(path)?.mode ?? 0o644;
  const kept = await moveAway(path);
  if (existed || readGitSettings(text).settings.length > 0) await putBack(path, latin1Bytes(text), mode);
  const named = refused.slice(0, MOST_NAMED).map(refusedSentence);
  const more = refused.length - named.length;
  return {
    code: "protected-settings-put-back",
    message: `A command changed settings that flemma keeps in ${path}. ${
      [...named, ...(more > 0 ? [`${more} more`] : [])].join("; ")
    }.`,
    next:
      `To make such a change, run git config outside the sandbox. What the sandboxed command wrote is saved as ${kept}.`,
  };
}

export function latin1Bytes(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}
