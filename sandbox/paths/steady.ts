// Decides whether other users could replace the file or folder at a path, judged by the rights on the folders around
// it.

import { parentOf } from "../../base/paths.ts";
import type { FsSnapshot } from "../../base/disk/fs_snapshot.ts";

/** Fields of stat data that determine access rights. */
export type Rights = Pick<Deno.FileInfo, "uid" | "gid" | "mode">;

export interface User {
  readonly uid: number | null;
  readonly gid: number | null;
}

const STICKY = 0o1000;
const GROUP_WRITES = 0o020;
const ALL_WRITE = 0o002;

/** True if only this user and the superuser can rename or remove what is at a real path, or a folder around it. */
export function isSteady(path: string, user: User, snapshot: FsSnapshot): boolean {
  for (let at = path; at !== "/"; at = parentOf(at)) {
    const entry = snapshot.lstat(at);
    const folder = snapshot.lstat(parentOf(at));
    if (entry === null || folder === null || !isEntrySteady(entry, folder, user)) return false;
  }
  return true;
}

/** True if only this user and the superuser can rename or remove `entry` in `folder`. */
export function isEntrySteady(entry: Rights, folder: Rights, user: User): boolean {
  const trusted = (uid: number | null) => uid === 0 || uid === user.uid;
  if (!trusted(folder.uid)) return false;
  const mode = folder.mode ?? 0o777;
  // A private group has the id of its user. The members of other groups are unknown here.
  const ownGroup = folder.gid === user.gid && user.gid === user.uid;
  const others = (mode & ALL_WRITE) !== 0 || ((mode & GROUP_WRITES) !== 0 && !ownGroup);
  return !others || ((mode & STICKY) !== 0 && trusted(entry.uid));
}
