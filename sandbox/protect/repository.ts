// Where git looks for what it runs: the git folders behind a `.git`, and repositories below a folder (sandbox 12.5).

import { FsSnapshot } from "../paths/fs_snapshot.ts";
import { GIT_HOOKS } from "../policy/hooks.ts";
import { isInside, parentOf } from "../../base/paths.ts";
import { realPath } from "../paths/real_path.ts";
import { CONFIG_BYTES } from "./git_config.ts";
import { readIndex } from "./git_index.ts";

/** Bytes of a `.git` file or a `commondir` that are read; both hold one line. */
const POINTER_BYTES = 4096;

/** Folders that are looked into for submodules; a policy must not cost seconds. */
const MOST_FOLDERS = 200;

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

/** The same of a folder that is a repository by itself, without a working folder. */
export function bareHooks(gitFolder: string, snapshot: FsSnapshot): string[] {
  return [...GIT_HOOKS.map((name) => `${gitFolder}/${name}`), ...innerHooks(gitFolder, snapshot)];
}

/** Which repositories lie inside others by the others' own account, remembered as long as their indexes stay the same. */
export class GitLinks {
  readonly #known = new Map<string, { readonly stamp: string; readonly links: readonly string[] }>();

  /** Working folders that the repository of a folder takes for repositories inside of it, whether they are there or not. */
  of(folder: string, snapshot = new FsSnapshot()): string[] {
    const found = indexesOf(folder, snapshot).flatMap((index) => {
      const stamp = stampOf(index);
      let known = this.#known.get(index);
      if (known?.stamp !== stamp) {
        const links = readIndex(index).filter(({ link }) => link).map(({ path }) => path);
        this.#known.set(index, known = { stamp, links });
      }
      return known.links;
    });
    return [...new Set(found)].slice(0, MOST_LINKS).map((path) => `${folder === "/" ? "" : folder}/${path}`);
  }
}

/** Repositories inside one other that are looked after. */
const MOST_LINKS = 200;

/** The index of a working folder, and the ones it is split into. */
export function indexesOf(folder: string, snapshot: FsSnapshot): string[] {
  const dotGit = realPath(`${folder === "/" ? "" : folder}/.git`, "/", snapshot);
  const info = dotGit === null ? null : snapshot.lstat(dotGit);
  if (dotGit === null || info === null) return [];
  const gitFolder = info.isFile ? pointerIn(dotGit, parentOf(dotGit), /^gitdir: (.+)$/m, snapshot) : dotGit;
  if (gitFolder === null) return [];
  const shared = namesIn(gitFolder).filter((name) => name.startsWith("sharedindex."));
  return ["index", ...shared].map((name) => `${gitFolder}/${name}`);
}

function namesIn(folder: string): string[] {
  try {
    return Array.from(Deno.readDirSync(folder), ({ name }) => name);
  } catch {
    return []; // Gone meanwhile.
  }
}

/** The state of a file or folder, which differs after every change of it, though not of what lies deeper. */
export function stampOf(path: string): string {
  try {
    const { ino, size, mtime, ctime } = Deno.lstatSync(path);
    return [ino, size, mtime?.getTime(), ctime?.getTime()].join();
  } catch {
    return "missing";
  }
}

/** The path that a small file names, without links; null when it names none. */
function pointerIn(file: string, base: string, form: RegExp, snapshot: FsSnapshot): string | null {
  const [, path] = form.exec(snapshot.read(file, POINTER_BYTES) ?? "") ?? [];
  return path === undefined ? null : realPath(path.trim(), base, snapshot);
}

/** Whether what stands at a path of git's own runs nothing and leads nowhere; false also for every other path. */
export function isHarmlessGit(path: string): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const snapshot = new FsSnapshot();
  const inGitFolder = /\/\.git(\/|$)/.test(path) || snapshot.has(`${parentOf(path)}/HEAD`);
  if (!inGitFolder) return false;
  switch (name) {
    case ".git":
      // When it became a folder: its dangerous parts are judged one by one.
      return snapshot.lstat(path)?.isDirectory === true;
    case "hooks":
      return areHarmlessHooks(path);
    case "commondir":
      // Of a worktree; what the folder it belongs to holds is judged by itself.
      return /\/worktrees\/[^/]+\/commondir$/.test(path) &&
        pointerIn(path, parentOf(path), /^(.+)$/m, snapshot) === parentOf(parentOf(parentOf(path)));
    case "config":
    case "config.worktree": {
      const text = snapshot.lstat(path)?.isFile ? snapshot.read(path, CONFIG_BYTES) : null;
      return text !== null && isHarmlessGitConfig(text, path);
    }
    default:
      return false;
  }
}

/** Settings of a new repository that run nothing and lead nowhere. */
const HARMLESS: readonly RegExp[] = [
  /^core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks)$/,
  /^extensions\.(objectformat|refstorage|compatobjectformat)$/,
  /^remote\.[^\n]*\.(url|fetch|tagopt|mirror|partialclonefilter|promisor)$/,
  /^branch\.[^\n]*\.(remote|merge|rebase)$/,
  /^submodule\.[^\n]*\.(url|active)$/,
  /^submodule\.active$/,
  /^user\.(name|email)$/,
];

/**
 * Whether the text of a git configuration holds nothing but what `git init` and `git clone` write. Anything that is not
 * understood counts as harmful: sections in old spelling, continued lines, quoted values, includes.
 */
export function isHarmlessGitConfig(text: string, path = ""): boolean {
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
    // `git submodule` writes where the working folder of a submodule is.
    if (key === "core.worktree" && isOwnSubmodule(path, entry[2]!.trim())) continue;
    if (!HARMLESS.some((form) => form.test(key))) return false;
    // `ext::` runs a command, and so does a transport of the same form.
    if (key.endsWith(".url") && /::|^-/.test(entry[2]!.trim())) return false;
  }
  return true;
}

/** Whether the configuration at a path is a submodule's, and its working folder lies in that of the repository around. */
function isOwnSubmodule(path: string, worktree: string): boolean {
  const [, around] = /^(.+)\/\.git\/modules\/.+$/.exec(path) ?? [];
  if (around === undefined || worktree.startsWith("/")) return false;
  const real = realPath(worktree, parentOf(path));
  return real !== null && real !== around && isInside(real, around) && !isInside(real, `${around}/.git`);
}

/** Whether a folder of hooks holds nothing that git would run. */
export function areHarmlessHooks(folder: string): boolean {
  const snapshot = new FsSnapshot();
  if (!snapshot.lstat(folder)?.isDirectory) return false;
  return snapshot.names(folder).every((name) =>
    name.endsWith(".sample") && snapshot.lstat(`${folder}/${name}`)?.isFile === true
  );
}
