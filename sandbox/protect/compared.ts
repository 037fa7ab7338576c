// Protected paths that would need too many mounts, such as the configuration of a hundred repositories. flemma
// compares them after a command and restores them.

import { parentOf } from "../../base/paths.ts";
import type { Problem } from "../../base/problem.ts";
import { FsSnapshot } from "../../base/disk/fs_snapshot.ts";
import { StatCache } from "../../base/disk/stat_cache.ts";
import { checkChangedSettingsFile, isGitSettings } from "../git/harmless.ts";
import { leadingSettings } from "../git/settings_changes.ts";
import { openToOwner, setModeInFolder } from "../paths/open_folder.ts";
import { settledStamp } from "../paths/stamp.ts";
import { latin1Bytes, putSettingsBack, type Repairs } from "./settings.ts";

/** Changes of larger files are reported, but cannot be undone. */
const MOST_BYTES = 256 * 1024;

/** Depth to which folders are inspected, and number of entries that are remembered for each. */
const MOST_DEPTH = 3;
const MOST_THINGS = 200;

/** State of a protected path before a command. The path exists and is not mounted. */
export interface Compared {
  readonly path: string;
  /** For a folder, the names in it that other programs may run or read; otherwise null. */
  readonly names: readonly string[] | null;
  /** For a file, its bytes as Latin-1; null if it is too large to keep, or not a file. */
  readonly text: string | null;
  readonly mode: number | null;
  /**
   * `same`: the path must exist afterwards, with the same content and mode. `present`: it must exist. Absent if programs
   * work without it.
   */
  readonly kept?: "same" | "present";
  /** Number of names of a file. Absent in what older versions recorded. */
  readonly links?: number | null;
  /** Stat data that identifies the state of a file whose bytes are not stored. */
  readonly stamp: string;
  /** A stamp that every change would change, as `settledStamp` returns it. Absent in what older versions recorded. */
  readonly settled?: string | null;
}

/** Records the current state of these paths. The snapshot can later tell whether anything changed. */
export function remember(
  paths: readonly string[],
  snapshot: FsSnapshot,
  kept?: Compared["kept"],
): Compared[] {
  const found: Compared[] = [];
  for (const path of paths) inspect(path, 0, { snapshot, found, most: found.length + MOST_THINGS });
  return kept === undefined ? found : found.map((each) => ({ ...each, kept }));
}

/** True if the whole state of a path can be recorded, so that every change can be undone. */
export function canRemember(path: string, snapshot: FsSnapshot): boolean {
  return inspect(path, 0, { snapshot, found: [], most: MOST_THINGS });
}

interface Inspection {
  readonly snapshot: FsSnapshot;
  readonly found: Compared[];
  readonly most: number;
}

/** Records what is at a path. Returns whether that was possible completely. */
function inspect(path: string, depth: number, inspection: Inspection): boolean {
  const { snapshot, found, most } = inspection;
  const info = snapshot.lstat(path);
  if (info === null) return true;
  if (found.length >= most) return false;
  const stamp = `${info.dev} ${info.ino} ${info.size} ${info.mtime?.getTime()}`;
  const { mode } = info;
  const settled = settledStamp(path, snapshot.stats);
  if (!info.isDirectory) {
    const text = bytesOf(path, snapshot);
    found.push({ path, names: null, text, mode, links: info.nlink, stamp, settled });
    return text !== null || !info.isFile;
  }
  const names = live(snapshot.names(path));
  found.push({ path, names, text: null, mode, stamp: "", settled });
  if (depth === MOST_DEPTH) return names.length === 0;
  return names.map((name) => inspect(`${path}/${name}`, depth + 1, inspection)).every(Boolean);
}

/**
 * Restores what a command changed and deletes nothing. Returns what was done, for the person.
 *
 * @param stats results that are already known
 */
export async function putBack(
  compared: readonly Compared[],
  repairs: Repairs,
  stats = new StatCache(),
): Promise<Problem[]> {
  const reported: Problem[] = [];
  for (const before of compared) {
    if (before.settled && settledStamp(before.path, stats) === before.settled) continue;
    if (before.names !== null) {
      if (before.kept === "same" && isOtherMode(before)) {
        reported.push(await repairs.attempt(before.path, () => mode(before)));
      }
      for (const path of appeared(before)) {
        reported.push(await repairs.attempt(path, () => away(path, repairs)));
      }
    } else if (hasNewName(before)) {
      reported.push(await repairs.attempt(before.path, () => restore(before, repairs)));
    } else if (isGitSettings(before.path)) reported.push(...await settings(before, repairs));
    else if (!isUnchanged(before)) {
      const { path } = before;
      reported.push(await repairs.attempt(path, () => restore(before, repairs)));
    }
  }
  return reported;
}

/** Restores a configuration, except for changes that may stay. */
async function settings(before: Compared, repairs: Repairs): Promise<Problem[]> {
  const { path, text } = before;
  if (isSameText(before)) return [];
  if (isRemovedRepository(path)) {
    // A later command may put the folder back, with other addresses.
    if (text !== null) repairs.removed.add(path, leadingSettings(text));
    return [];
  }
  const checked = text === null ? null : checkChangedSettingsFile(path, text, repairs.removed.of(path));
  if (checked !== null) repairs.removed.add(path, checked.removed);
  if (checked?.refused.length === 0) return [];
  const act = checked === null
    ? () => restore(before, repairs)
    : () => putSettingsBack(path, checked, repairs, { existed: true });
  return [await repairs.attempt(path, act)];
}

/**
 * True if a command made a hard link to the file. Where the sandbox mounts something over the protected path, a later
 * command could write the file by its other name.
 */
function hasNewName({ path, links }: Compared): boolean {
  const info = new FsSnapshot().lstat(path);
  return info?.isFile === true && (info.nlink ?? 1) > (links ?? Infinity);
}

/** True if the folder exists with another mode. */
function isOtherMode({ path, mode }: Compared): boolean {
  const info = new FsSnapshot().lstat(path);
  return info?.isDirectory === true && info.mode !== mode;
}

async function mode({ path, mode }: Compared): Promise<Problem> {
  // The folder is entered first, because a command can still live that puts a link in its place.
  await openToOwner(path);
  await setModeInFolder(path, (mode ?? 0o755) & 0o7777);
  return {
    code: "protected-mode-restored",
    message: `Restored the permissions of ${path}: a command changed them.`,
  };
}

/** True if the configuration is missing because its whole git folder is. */
function isRemovedRepository(path: string): boolean {
  return !new FsSnapshot().has(parentOf(path));
}

async function away(path: string, { moveAway }: Repairs): Promise<Problem> {
  const kept = await moveAway(path);
  return {
    code: "protected-path-appeared",
    message:
      `Moved ${path} to ${kept}: a command created it, and other programs would run it or read settings from it.`,
    next: "Look at it there. To keep it, move it back yourself.",
  };
}

async function restore({ path, text, mode }: Compared, { moveAway, putBack }: Repairs): Promise<Problem> {
  if (text === null) throw new Error("it was too large to save");
  const kept = new FsSnapshot().has(path) ? await moveAway(path) : null;
  await putBack(path, latin1Bytes(text), mode ?? 0o644);
  return {
    code: "protected-path-restored",
    message: `Restored ${path}: a command changed it, and other programs run it or read settings from it.`,
    ...(kept === null ? {} : { next: `The changed version is saved as ${kept}.` }),
  };
}

/** True if the change is harmless: the text is the same, or the file is gone. */
function isUnchanged(before: Compared): boolean {
  const { path, text, stamp } = before;
  const info = new FsSnapshot().lstat(path);
  // A removed file is harmless, because programs work without it. The exception is the file that names the common
  // folder of a worktree, because git must not guess that folder.
  if (info === null) {
    return before.kept === undefined &&
      (!path.endsWith("/commondir") || !new FsSnapshot().has(parentOf(path)));
  }
  if (before.kept === "present") return true;
  if (text === null) return stamp === `${info.dev} ${info.ino} ${info.size} ${info.mtime?.getTime()}`;
  return isSameText(before);
}

/** True if the file has the same text. A file that was not executable must not become executable. */
function isSameText({ path, text, mode, kept }: Compared): boolean {
  const snapshot = new FsSnapshot();
  const info = snapshot.lstat(path);
  const isSameMode = kept === "same" ? info?.mode === mode : ((info?.mode ?? 0) & ~(mode ?? 0) & 0o111) === 0;
  return info !== null && bytesOf(path, snapshot) === text && isSameMode;
}

/** Returns the paths that are new in a folder, or the folder itself if something else replaced it. */
function appeared({ path, names }: Compared): string[] {
  const snapshot = new FsSnapshot();
  const info = snapshot.lstat(path);
  if (info === null) return [];
  if (!info.isDirectory) return [path];
  return live(snapshot.names(path)).filter((name) => !names!.includes(name)).map((name) => `${path}/${name}`);
}

/** Names without sample hooks, which git does not run. */
function live(names: readonly string[]): string[] {
  return names.filter((name) => !name.endsWith(".sample"));
}

function bytesOf(path: string, snapshot: FsSnapshot): string | null {
  return snapshot.lstat(path)?.isFile ? snapshot.readBytes(path, MOST_BYTES) : null;
}
