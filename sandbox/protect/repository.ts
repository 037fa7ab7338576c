// Where git looks for what it runs: the git folders behind a `.git`, and repositories below a folder (sandbox 12.5).

import { FsSnapshot } from "../paths/fs_snapshot.ts";
import { GIT_HOOKS } from "../policy/hooks.ts";
import { parentOf } from "../../base/paths.ts";
import { realPath } from "../paths/real_path.ts";

/** Bytes of a `.git` file or a `commondir` that are read; both hold one line. */
const POINTER_BYTES = 4096;

/** Folders that are looked into for repositories; a policy must not cost seconds. */
const MOST_FOLDERS = 200;
const MOST_DEPTH = 3;

/** Folders that hold thousands of others and no repository anybody works in. */
const SKIPPED: ReadonlySet<string> = new Set([".git", "node_modules", "target", ".venv", "__pycache__"]);

/**
 * What git may run or obey for a working folder: hooks and configuration of its own git folder, of the one it shares
 * with other worktrees, and of its submodules. Existing or not; links are kept.
 */
export function gitHooks(folder: string, snapshot: FsSnapshot): string[] {
  const dotGit = `${folder === "/" ? "" : folder}/.git`;
  const hooks = (gitFolder: string) => GIT_HOOKS.map((name) => `${gitFolder}/${name}`);
  const found = hooks(dotGit);
  const real = realPath(dotGit, "/", snapshot);
  const info = real === null ? null : snapshot.lstat(real);
  if (real === null || info === null) return found;
  if (info.isFile) {
    const target = pointerIn(real, parentOf(real), /^gitdir: (.+)$/m, snapshot);
    if (target === null) return found;
    found.push(...hooks(target));
    const common = pointerIn(`${target}/commondir`, target, /^(.+)$/m, snapshot);
    return common === null ? found : [...found, ...hooks(common), ...innerHooks(common, snapshot)];
  }
  return [...found, ...innerHooks(real, snapshot)];
}

/** Of the submodules and worktrees whose git folders lie inside another. */
function innerHooks(gitFolder: string, snapshot: FsSnapshot): string[] {
  const hooks: string[] = [];
  if (snapshot.has(`${gitFolder}/worktrees`)) {
    for (const name of snapshot.names(`${gitFolder}/worktrees`)) {
      hooks.push(...["config.worktree", "commondir"].map((hook) => `${gitFolder}/worktrees/${name}/${hook}`));
    }
  }
  // The name of a submodule may hold slashes, so folders without a HEAD are looked into.
  const waiting = snapshot.has(`${gitFolder}/modules`) ? [`${gitFolder}/modules`] : [];
  for (let looked = 0; looked < MOST_FOLDERS; looked++) {
    const folder = waiting.pop();
    if (folder === undefined) break;
    for (const name of snapshot.names(folder)) {
      const inner = `${folder}/${name}`;
      if (!snapshot.lstat(inner)?.isDirectory) continue;
      if (snapshot.has(`${inner}/HEAD`)) {
        hooks.push(...GIT_HOOKS.map((hook) => `${inner}/${hook}`), ...innerHooks(inner, snapshot));
      } else waiting.push(inner);
    }
  }
  return hooks;
}

/**
 * Working folders of repositories below a folder, to a depth of three and within a fixed number of folders, nearer ones
 * first. Links are not followed. The folder itself is not among them.
 */
export function repositoriesBelow(folder: string, snapshot: FsSnapshot): string[] {
  const found: string[] = [];
  let level = [folder];
  let looked = 0;
  for (let depth = 0; depth < MOST_DEPTH; depth++) {
    const next: string[] = [];
    for (const outer of level) {
      if (++looked > MOST_FOLDERS) return found;
      for (const name of snapshot.names(outer)) {
        const inner = `${outer === "/" ? "" : outer}/${name}`;
        if (SKIPPED.has(name) || !snapshot.lstat(inner)?.isDirectory) continue;
        if (snapshot.has(`${inner}/.git`)) found.push(inner);
        next.push(inner);
      }
    }
    level = next;
  }
  return found;
}

/** The path that a small file names, without links; null when it names none. */
function pointerIn(file: string, base: string, form: RegExp, snapshot: FsSnapshot): string | null {
  const [, path] = form.exec(snapshot.read(file, POINTER_BYTES) ?? "") ?? [];
  return path === undefined ? null : realPath(path.trim(), base, snapshot);
}

/** Whether a path is one of git's own, for who decides what to do with one that appeared. */
export function isGitHook(path: string): "hooks" | "config" | null {
  if (!/\/\.git(\/|$)/.test(path)) return null;
  if (path.endsWith("/hooks")) return "hooks";
  return /\/config(\.worktree)?$/.test(path) ? "config" : null;
}

/** Settings of a new repository that run nothing and lead nowhere. */
const HARMLESS: readonly RegExp[] = [
  /^core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks)$/,
  /^extensions\.(objectformat|refstorage|compatobjectformat)$/,
  /^remote\.[^\n]*\.(url|fetch|tagopt|partialclonefilter|promisor)$/,
  /^branch\.[^\n]*\.(remote|merge|rebase)$/,
  /^submodule\.[^\n]*\.(url|active)$/,
  /^submodule\.active$/,
  /^user\.(name|email)$/,
];

/**
 * Whether the text of a git configuration holds nothing but what `git init` and `git clone` write. Anything that is not
 * understood counts as harmful: sections in old spelling, continued lines, quoted values, includes.
 */
export function isHarmlessGitConfig(text: string): boolean {
  let section = "";
  for (const line of text.split(/\r?\n/)) {
    const trimmed = line.trim();
    if (trimmed === "" || /^[#;]/.test(trimmed)) continue;
    const header = /^\[([A-Za-z0-9-]+)(?: "((?:[^"\\\n])*)")?\]$/.exec(trimmed);
    if (header !== null) {
      section = header[1]!.toLowerCase() + (header[2] === undefined ? "" : `.${header[2]}`);
      continue;
    }
    const entry = /^([A-Za-z][A-Za-z0-9-]*) ?= ?([^"\\]*)$/.exec(trimmed);
    if (entry === null) return false;
    const key = `${section}.${entry[1]!.toLowerCase()}`;
    if (!HARMLESS.some((form) => form.test(key))) return false;
    // `ext::` runs a command, and so does a transport of the same form.
    if (key.endsWith(".url") && /::|^-/.test(entry[2]!.trim())) return false;
  }
  return true;
}

/** Whether a folder of hooks holds nothing that git would run. */
export function areHarmlessHooks(folder: string): boolean {
  const snapshot = new FsSnapshot();
  if (!snapshot.lstat(folder)?.isDirectory) return false;
  return snapshot.names(folder).every((name) =>
    name.endsWith(".sample") && snapshot.lstat(`${folder}/${name}`)?.isFile === true
  );
}
