// Repairs after a command: restores links, and moves away files that appeared at protected paths.

import type { Problem } from "../../base/problem.ts";
import { thrownText } from "../../base/problem.ts";
import { FsSnapshot, type Sealed } from "../../base/disk/fs_snapshot.ts";
import { StatCache } from "../../base/disk/stat_cache.ts";
import { baseName, foldersBetween, isInside, parentOf } from "../../base/paths.ts";
import {
  linkInFolder,
  makeInFolder,
  moveFromFolder,
  openToOwner,
  putIntoFolder,
  setModeInFolder,
  setModeOf,
} from "../paths/open_folder.ts";
import { realPath } from "../../base/disk/real_path.ts";
import { RemovedSettings } from "../git/removed_settings.ts";
import { type Compared, putBack, remember } from "./compared.ts";
import {
  checkChangedSettingsFile,
  checkNewSettingsFile,
  inGitFolders,
  isGitSettings,
  isHarmlessGit,
} from "../git/harmless.ts";
import { putSettingsBack } from "./settings.ts";

/** The state of everything that commands must not change, recorded before they begin. */
export interface Before {
  /**
   * Protected paths that existed. Each of them is either mounted read-only, so that no command can change it, or listed
   * in `compared`.
   */
  readonly protectedPaths: ReadonlySet<string>;
  /** Protected paths that did not exist and that a command can create. */
  readonly missing: readonly string[];
  /** Those of `missing` that git would run or obey, because they are in a git folder. */
  readonly missingInGit: readonly string[];
  /** Links on the way to protected paths that a command can remove. */
  readonly links: readonly { readonly path: string; readonly target: string }[];
  readonly writable: readonly string[];
  /** Protected paths in reach that are not mounted. */
  readonly compared: readonly Compared[];
  /** Folders that a command can replace because the backend does not keep them in place. Absent if it does. */
  readonly places?: readonly string[];
  /** Modes of paths outside the writable folders, if the backend does not keep them. Absent if it does. */
  readonly modes?: readonly { readonly path: string; readonly mode: number }[];
  /** Tells whether anything was created or removed near these paths since the record was made. */
  readonly sealed: Sealed;
}

/** Records protected paths and links in reach of commands: those below a writable path. */
export function before(
  protection: { readonly real: readonly string[]; readonly links: Before["links"] },
  { writable, exempt, apart, kept = [], present = [], places, modes }: {
    writable: readonly string[];
    exempt: readonly string[];
    /** Protected paths that are not mounted. */
    apart: readonly string[];
    /** Protected paths that are not mounted and must be complete afterwards. Present if the backend mounts nothing. */
    kept?: readonly string[];
    /** Protected paths that are not mounted and must exist afterwards; this program writes them itself. */
    present?: readonly string[];
    /** Paths whose folders must stay in place. */
    places?: readonly string[];
    /** Paths whose modes must stay. */
    modes?: readonly string[];
  },
  snapshot: FsSnapshot,
): Before {
  const inReach = (path: string) => writable.some((root) => isInside(path, root));
  const missing = protection.real.filter((path) =>
    inReach(path) && !exempt.includes(path) && !snapshot.has(path)
  );
  return {
    protectedPaths: new Set(protection.real.filter((path) => snapshot.has(path))),
    missing,
    missingInGit: inGitFolders(missing, snapshot),
    links: protection.links.filter(({ path }) => inReach(path) && path !== "/"),
    writable,
    compared: [
      ...remember(apart.filter(inReach), snapshot),
      ...remember(kept, snapshot, "same"),
      ...remember(present, snapshot, "present"),
    ],
    ...(places === undefined ? {} : { places: foldersOf(places, writable, snapshot) }),
    ...(modes === undefined ? {} : { modes: modesOf(modes, snapshot) }),
    sealed: snapshot.seal(),
  };
}

/** The folders among these paths, and those between them and the writable path around them. */
function foldersOf(paths: readonly string[], writable: readonly string[], snapshot: FsSnapshot): string[] {
  const around = paths.flatMap((path) => [
    path,
    ...writable.filter((root) => isInside(path, root)).flatMap((root) => foldersBetween(root, path)),
  ]);
  return outerFirst([...new Set(around)].filter((path) => snapshot.lstat(path)?.isDirectory === true));
}

function modesOf(paths: readonly string[], snapshot: FsSnapshot): { path: string; mode: number }[] {
  return paths.flatMap((path) => {
    const mode = snapshot.lstat(path)?.mode;
    return mode === null || mode === undefined ? [] : [{ path, mode: mode & 0o7777 }];
  });
}

/**
 * Restores removed links and moves new files at protected paths into `keep`, a folder no command can reach. Leaves what
 * `git init` creates, and deletes nothing.
 *
 * @param appeared returns further new paths; called after the folders around them are accessible, with stat results
 * that are already known
 * @param textBefore the text before the commands of a path that `appeared` returns, as Latin-1; null if there was none
 * @param removed what commands removed from git configurations; gets what these commands removed
 * @returns what was done, for the person; null if nothing had changed
 */
export async function repairChanges(
  before: Before,
  keep: () => string,
  appeared: (stats: StatCache) => readonly string[] = () => [],
  textBefore: (path: string) => string | null = () => null,
  removed: RemovedSettings = new RemovedSettings(null),
): Promise<Problem[] | null> {
  const stats = new StatCache();
  const changed = !before.sealed.holds(stats);
  const paths = [...before.missing, ...before.links.map(({ path }) => path)];
  const locked = changed ? await openFolders(paths, before.writable) : [];
  try {
    const isInReach = (path: string) => before.writable.some((root) => isInside(path, root));
    const isPutBack = (path: string) => before.links.some((link) => isInside(path, link.path));
    // If access to a folder was just restored, earlier stat results are incomplete, because they lack the files in it.
    const found = appeared(locked.length === 0 ? stats : new StatCache()).filter((path) =>
      isInReach(path) && !before.protectedPaths.has(path) && !isPutBack(path)
    );
    const isQuiet = !changed && found.length === 0;
    if (isQuiet && before.places === undefined) return null;
    // Nothing appeared or vanished. But a command that the backend does not keep out can change a file and restore its
    // time stamp.
    const considered = isQuiet ? { ...before, missing: [], links: [], places: [] } : before;
    return await putRight(considered, found, { textBefore, keep, removed, isQuiet, stats });
  } finally {
    // Inner folders first: the program cannot enter an outer one that is closed again.
    for (const { path, mode } of locked.reverse()) await closeAgain(path, mode);
  }
}

async function putRight(
  { missing, links, compared, places = [], modes = [] }: Before,
  found: readonly string[],
  { textBefore, keep, removed, isQuiet, stats }: {
    readonly textBefore: (path: string) => string | null;
    readonly keep: () => string;
    readonly removed: RemovedSettings;
    /** True if nothing appeared or vanished, as these stat results show. */
    readonly isQuiet: boolean;
    readonly stats: StatCache;
  },
): Promise<Problem[]> {
  const reported: Problem[] = [];
  const snapshot = new FsSnapshot(isQuiet ? stats : new StatCache());
  for (const { path, mode } of modes) {
    const info = snapshot.lstat(path);
    if (info === null || info.isSymlink || ((info.mode ?? mode) & 0o7777) === mode) continue;
    reported.push(
      await attempt(path, async () => {
        await setModeOf(path, mode);
        return {
          code: "protected-mode-restored",
          message: `Restored the permissions of ${path}: a command changed them.`,
        };
      }),
    );
  }
  for (const path of places) {
    const info = new FsSnapshot().lstat(path);
    if (info === null || info.isDirectory) continue;
    reported.push(
      await attempt(path, async () => ({
        code: "protected-folder-replaced",
        message: `Moved ${path} to ${await moveAway(path, keep())}: a command put it in place of a folder.`,
        next: "Look for the folder, and move it back.",
      })),
    );
  }
  for (const { path, target } of links) {
    if (snapshot.linkTarget(path) === target) continue;
    reported.push(
      await attempt(path, async () => {
        const kept = snapshot.has(path) ? await moveAway(path, keep()) : null;
        await linkInFolder(path, target);
        return {
          code: "protected-link-restored",
          message:
            `Restored the symbolic link ${path}: a command replaced it, and it leads to a protected path.`,
          ...(kept === null ? {} : { next: `The replacement is saved as ${kept}.` }),
        };
      }),
    );
  }
  const repairs = {
    removed,
    attempt,
    moveAway: (path: string) => moveAway(path, keep()),
    putBack: (path: string, bytes: Uint8Array, mode: number) => putFileBack(path, bytes, mode, keep()),
  };
  for (const path of outerFirst([...new Set([...missing, ...found])]).filter((path) => snapshot.has(path))) {
    // A file in a folder that was moved away has moved with the folder.
    if (!new FsSnapshot().has(path)) continue;
    // A configuration of a new repository, or one that an existing repository did not have.
    const checked = !isGitSettings(path)
      ? null
      : found.includes(path) || path.endsWith("/config")
      ? checkNewSettingsFile(path, textBefore(path), removed.of(path))
      : checkChangedSettingsFile(path, null);
    if (checked === null ? isHarmlessGit(path) : checked.refused.length === 0) continue;
    reported.push(
      await attempt(path, async () => {
        if (checked !== null) {
          return await putSettingsBack(path, checked, repairs, { existed: textBefore(path) !== null });
        }
        const kept = await moveAway(path, keep());
        return {
          code: "protected-path-appeared",
          message:
            `Moved ${path} to ${kept}: a command created it, and other programs would run it or read settings from it.`,
          next: "Look at it there. To keep it, move it back yourself.",
        };
      }),
    );
  }
  // After a repair, the earlier results are outdated.
  const known = isQuiet && reported.length === 0 ? stats : new StatCache();
  return [...reported, ...await putBack(compared, repairs, known)];
}

function outerFirst(paths: readonly string[]): string[] {
  return [...paths].sort((a, b) => a.length - b.length);
}

async function attempt(path: string, act: () => Promise<Problem>): Promise<Problem> {
  try {
    // A command may have replaced the folder with a link, which could lead anywhere, so nothing is changed through it.
    const folder = parentOf(path);
    if (realPath(folder, "/") !== folder) {
      throw new Error(`the folder ${folder} was replaced by a symbolic link.`);
    }
    return await act();
  } catch (thrown) {
    return {
      code: "protected-path-changed",
      message: `A command changed the protected path ${path}, and this could not be undone: ${
        thrownText(thrown)
      }`,
      next: `Check ${path} before you run anything there.`,
    };
  }
}

/**
 * Gives the owner access to the folders around these paths. A command may have removed it; then flemma could neither
 * see nor move what is there.
 *
 * @returns the modes to restore
 */
async function openFolders(
  paths: readonly string[],
  writable: readonly string[],
): Promise<{ path: string; mode: number }[]> {
  const opened: { path: string; mode: number }[] = [];
  const around = new Set(
    paths.flatMap((path) =>
      writable.filter((root) => isInside(path, root)).flatMap((root) => [root, ...foldersBetween(root, path)])
    ),
  );
  for (const path of outerFirst([...around])) {
    const mode = isRealFolder(path) ? (Deno.lstatSync(path).mode ?? 0o7777) & 0o7777 : 0o7777;
    if ((mode & OWNER) === OWNER) continue;
    try {
      await openToOwner(path);
      opened.push({ path, mode });
    } catch {
      // The folder belongs to another user. If something must be moved out of it later, that step reports the error.
    }
  }
  return opened;
}

/** Mode bits that the owner needs to list and change a folder. */
const OWNER = 0o700;

/** True if a path is a folder, and no link leads to it. */
function isRealFolder(path: string): boolean {
  return new FsSnapshot().lstat(path)?.isDirectory === true && realPath(path, "/") === path;
}

async function closeAgain(path: string, mode: number): Promise<void> {
  try {
    await setModeInFolder(path, mode);
  } catch {
    // A command replaced or removed the folder, so the old mode is not restored.
  }
}

/** Moves a file or folder into `folder`. Returns its new path. */
async function moveAway(path: string, folder: string): Promise<string> {
  const target = inKeep(path, folder);
  await moveFromFolder(path, target);
  return target;
}

/** Writes a file where nothing exists now. */
async function putFileBack(path: string, bytes: Uint8Array, mode: number, folder: string): Promise<void> {
  if (!new FsSnapshot().has(parentOf(path))) makeInFolder(parentOf(path));
  const draft = inKeep(path, folder);
  Deno.writeFileSync(draft, bytes, { createNew: true });
  try {
    Deno.chmodSync(draft, mode & 0o777);
    await putIntoFolder(draft, path);
  } catch (thrown) {
    Deno.removeSync(draft);
    throw thrown;
  }
}

/** Returns an unused path in the folder for files that were moved away. Creates the folder if it is missing. */
function inKeep(path: string, folder: string): string {
  Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
  return `${folder}/${crypto.randomUUID().slice(0, 8)}-${baseName(path)}`;
}
