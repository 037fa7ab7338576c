// Decides whether a file that commands left in a git folder is harmless, and which settings a configuration there may
// contain.

import { FsSnapshot } from "../../base/disk/fs_snapshot.ts";
import { realPath } from "../../base/disk/real_path.ts";
import { baseName, isInside, parentOf } from "../../base/paths.ts";
import { pointerIn } from "./repository.ts";
import type { SettingValues } from "./removed_settings.ts";
import {
  checkChangedSettings,
  type CheckedSettings,
  checkNewSettings,
  type RepositoryFacts,
} from "./settings_changes.ts";
import { CONFIG_BYTES } from "./settings_file.ts";
import { isGitFolder, lookedUpNames } from "../paths/git_folder.ts";
import { GIT_SETTINGS } from "./table.ts";

/** Maximum number of bytes of `packed-refs` that are read. If the file is larger, every branch is assumed to exist. */
const REFS_BYTES = 4 * 1024 * 1024;

/** Matches a `.git`, and what is below it. */
const BELOW_GIT = /\/\.git(\/|$)/;

/** True if a path is in a git folder: below a `.git`, or in a folder that git takes for a bare repository. */
export function isInGitFolder(path: string, snapshot = new FsSnapshot()): boolean {
  return BELOW_GIT.test(path) || isGitFolder(lookedUpNames(parentOf(path), snapshot));
}

/** Returns those of the missing paths that are in a git folder. */
export function inGitFolders(missing: readonly string[], snapshot: FsSnapshot): string[] {
  return missing.filter((path) => isInGitFolder(path, snapshot));
}

/** True if a path is a configuration in a git folder. */
export function isGitSettings(path: string): boolean {
  return GIT_SETTINGS.includes(baseName(path)) && isInGitFolder(path);
}

/**
 * True if a path in a git folder is harmless: it runs nothing and leads to no other folder. False for every path
 * outside git folders.
 */
export function isHarmlessGit(path: string): boolean {
  const snapshot = new FsSnapshot();
  if (!isInGitFolder(path, snapshot)) return false;
  switch (baseName(path)) {
    case ".git":
      // The dangerous parts of a `.git` folder are checked one by one.
      return snapshot.lstat(path)?.isDirectory === true;
    case "hooks":
      return areHarmlessHooks(path);
    case "commondir":
      // This file is harmless in a worktree that leads to its own repository. The folder of that repository is checked
      // separately.
      return /\/worktrees\/[^/]+\/commondir$/.test(path) &&
        pointerIn(path, parentOf(path), "", snapshot) === parentOf(parentOf(parentOf(path)));
    case "config":
    case "config.worktree":
      return checkNewSettingsFile(path, null)?.refused.length === 0;
    default:
      return false;
  }
}

/** Checks the configuration at a path; null if it is not a file that git accepts. */
export function checkNewSettingsFile(
  path: string,
  before: string | null,
  removedEarlier?: SettingValues,
): CheckedSettings | null {
  const text = settingsIn(path);
  return text === null ? null : checkNewSettings(before, text, factsOf(path), removedEarlier);
}

/** Checks the changes of the configuration at a path; null if it is not a file that git accepts. */
export function checkChangedSettingsFile(
  path: string,
  before: string | null,
  removedEarlier?: SettingValues,
): CheckedSettings | null {
  const text = settingsIn(path);
  return text === null ? null : checkChangedSettings(before, text, factsOf(path), removedEarlier);
}

/** The text of a configuration as Latin-1, which preserves each byte. */
function settingsIn(path: string): string | null {
  const snapshot = new FsSnapshot();
  return snapshot.lstat(path)?.isFile ? snapshot.readBytes(path, CONFIG_BYTES) : null;
}

function factsOf(path: string): RepositoryFacts {
  const gitFolder = parentOf(path);
  return {
    isOwnWorktree: (value) => isOwnSubmodule(path, value),
    hasBranch: (name) => hasBranch(gitFolder, name),
  };
}

/** Whether a repository has a branch. True if that cannot be determined. */
function hasBranch(gitFolder: string, name: string): boolean {
  const snapshot = new FsSnapshot();
  const encoded = new TextDecoder().decode(Uint8Array.from(name, (char) => char.charCodeAt(0)));
  if (encoded.includes("\0") || snapshot.has(`${gitFolder}/reftable`)) return true;
  if (snapshot.has(`${gitFolder}/refs/heads/${encoded}`)) return true;
  if (!snapshot.has(`${gitFolder}/packed-refs`)) return false;
  const packed = snapshot.readBytes(`${gitFolder}/packed-refs`, REFS_BYTES);
  return packed === null || packed.split("\n").some((line) => line.endsWith(` refs/heads/${name}`));
}

/** True if a path is the configuration of a submodule whose working folder is inside that of the outer repository. */
function isOwnSubmodule(path: string, worktree: string): boolean {
  const [, around] = /^(.+)\/\.git\/modules\/.+$/.exec(path) ?? [];
  if (around === undefined || worktree.startsWith("/")) return false;
  const real = realPath(worktree, parentOf(path));
  return real !== null && real !== around && isInside(real, around) && !isInside(real, `${around}/.git`);
}

/** True if a hooks folder contains nothing that git would run. */
export function areHarmlessHooks(folder: string): boolean {
  const snapshot = new FsSnapshot();
  if (!snapshot.lstat(folder)?.isDirectory) return false;
  return snapshot.names(folder).every((name) =>
    name.endsWith(".sample") && snapshot.lstat(`${folder}/${name}`)?.isFile === true
  );
}
