// The repositories of one run: those that existed at its start are protected, those that commands create are checked
// after every command.

import { isInside, parentOf } from "../../base/paths.ts";
import type { Problem } from "../../base/problem.ts";
import type { Environment } from "../../base/environment.ts";
import { FsSnapshot } from "../../base/disk/fs_snapshot.ts";
import { realPath } from "../../base/disk/real_path.ts";
import { isGitFolder, lookedUpNames } from "../paths/git_folder.ts";
import { readEntryContent, settledStamp } from "../paths/stamp.ts";
import type { TreeScanResult } from "../paths/tree_scan.ts";
import { isHarmlessGit } from "./harmless.ts";
import { bareHooks, gitHooks, GitLinks, gitPlaces } from "./repository.ts";
import { GitSteps, newSteps } from "./steps.ts";

/** Limit on repositories that are protected one by one. Beyond it, folders full of them are read-only. */
const MOST_REPOSITORIES = 200;

/** Limit on protected repositories if some of them are directly in a folder where commands must be able to write. */
const MOST_OPEN = 1000;

/** Repositories at one moment. All folders are real paths. */
export interface Repositories {
  /** Working folders of the repositories, except the working folders of the run. */
  readonly repositories: readonly string[];
  /** Folders that are bare repositories. */
  readonly gitFolders: readonly string[];
  /** Folders with too many repositories. They are read-only as a whole, and nothing in them is listed. */
  readonly held: readonly string[];
  /** True if a sandbox that mounts nothing could protect all of them one by one. */
  readonly fitsUnmounted: boolean;
}

interface Shape {
  readonly hooks: ReadonlySet<string>;
  /** The git folders of the repository: its own, and those of its submodules and worktrees. */
  readonly gitFolders: readonly string[];
  readonly stamps: readonly (readonly [path: string, stamp: string | null])[];
}

/** What a run knows about folders and repositories when it starts. */
export interface RepositoryPlaces {
  /** Real paths of the working folders that commands can write to, or below. */
  readonly folders: readonly string[];
  /** Real paths of the folders that commands can write to. */
  readonly writable: readonly string[];
  /** Repositories that earlier runs found in these folders. */
  readonly known: readonly string[];
  /** True if nothing is mounted over protected paths, so that more of them cost little. @default false */
  readonly mountsNothing?: boolean;
}

export class RepositoriesOfRun {
  readonly #places: RepositoryPlaces;
  readonly #links = new GitLinks();
  readonly #steps = new GitSteps();
  readonly atStart: Repositories;
  /**
   * Paths that git would read or run and that are not protected, with their state before the live commands. Live
   * commands can change only these.
   */
  #before: ReadonlyMap<string, string | null> = new Map();
  /** Returns the names in a folder that matter to git, as they were before the live commands. */
  #namesBefore: (folder: string) => ReadonlySet<string> = () => new Set();
  /** For each repository that existed at the start: its hooks then, and the folders where new hooks could appear. */
  readonly #shapes = new Map<string, Shape>();
  #stepsBefore: ReadonlyMap<string, string | null> = new Map();

  /** @param found what the scan found */
  constructor(places: RepositoryPlaces, found: TreeScanResult, snapshot = new FsSnapshot()) {
    this.#places = places;
    this.atStart = withoutCrowds(this.#find(found, snapshot), places);
    // The hooks that exist now are protected. Missing hooks are checked as missing paths.
    for (const folder of [...places.folders, ...this.atStart.repositories]) this.#newIn(folder, snapshot);
  }

  /**
   * Records the current state. Call before the first of a group of commands.
   *
   * @param names the names in a folder that the scan found
   */
  remember(
    found: TreeScanResult,
    names: (folder: string) => ReadonlySet<string>,
    snapshot = new FsSnapshot(),
  ): void {
    this.#before = this.#now(found, snapshot);
    this.#namesBefore = names;
    this.#stepsBefore = this.#steps.now(this.#gitFolders(found, snapshot), snapshot);
  }

  /** Everything that is a repository now: working folders and bare repositories. */
  all(found: TreeScanResult, snapshot = new FsSnapshot()): string[] {
    const { repositories, gitFolders } = this.#find(found, snapshot);
    return [...repositories, ...gitFolders];
  }

  /**
   * Real paths that git would read or run and that commands created or changed since `remember`: in new repositories,
   * submodules and worktrees, and in those that are not protected. If commands turned a folder with existing files into
   * a bare repository, these are the paths that made it one.
   */
  changed(found: TreeScanResult, snapshot = new FsSnapshot()): string[] {
    const turned = this.#turned(found, snapshot);
    const restored = turned.map(parentOf);
    return [
      ...[...this.#now(found, snapshot)].filter(([path, content]) => this.#before.get(path) !== content)
        .map(([path]) => path).filter((path) => !restored.includes(parentOf(path))),
      ...turned,
    ];
  }

  /** The text that a path had before the commands, as Latin-1; null if it had none or the text is not known. */
  textBefore(path: string): string | null {
    const text = /^\d+ (.*)$/s.exec(this.#before.get(path) ?? "")?.[1];
    return text === undefined ? null : String.fromCharCode(...new TextEncoder().encode(text));
  }

  /** Reports unfinished work that runs programs when it is continued, and that commands left since `remember`. */
  todos(found: TreeScanResult, snapshot = new FsSnapshot()): Problem[] {
    return newSteps(this.#stepsBefore, this.#steps.now(this.#gitFolders(found, snapshot), snapshot));
  }

  /**
   * Paths that commands created in a folder with files of the person, so that git would take the folder for a git
   * folder and run something there.
   */
  #turned(found: TreeScanResult, snapshot: FsSnapshot): string[] {
    return found.gitFolders.flatMap((folder) => {
      const before = this.#namesBefore(folder);
      if (isGitFolder(before) || this.atStart.gitFolders.includes(folder)) return [];
      const base = folder === "/" ? "" : folder;
      const runs = bareHooks(folder, snapshot).some((path) =>
        before.has(path.slice(base.length + 1)) && snapshot.has(path) && !isHarmlessGit(path)
      );
      const made = ["HEAD", "commondir", "objects", "refs"].find((name) =>
        !before.has(name) && snapshot.has(`${base}/${name}`)
      );
      return runs && made !== undefined ? [`${base}/${made}`] : [];
    });
  }

  /** All git folders in which unfinished work can be. */
  #gitFolders(found: TreeScanResult, snapshot: FsSnapshot): string[] {
    const { repositories, gitFolders } = this.#find(found, snapshot);
    const known = new Set([...this.#places.folders, ...this.atStart.repositories]);
    const inner = [...known].flatMap((folder) => this.#shapes.get(folder)?.gitFolders ?? []);
    const added = repositories.filter((folder) => !known.has(folder)).flatMap((folder) =>
      gitFoldersIn(gitHooks(folder, snapshot), snapshot)
    );
    return [...new Set([...inner, ...added, ...gitFolders])];
  }

  /**
   * Returns the current state of the paths that git would read or run, except those that are protected or were
   * recorded as missing at the start.
   */
  #now(found: TreeScanResult, snapshot: FsSnapshot): Map<string, string | null> {
    const { repositories, gitFolders } = this.#find(found, snapshot);
    const known = new Set([...this.#places.folders, ...this.atStart.repositories]);
    const hooks = [
      ...[...known].flatMap((folder) => this.#newIn(folder, snapshot)),
      ...repositories.filter((folder) => !known.has(folder)).flatMap((folder) => gitHooks(folder, snapshot)),
      ...gitFolders.filter((folder) => !this.atStart.gitFolders.includes(folder))
        .flatMap((folder) => bareHooks(folder, snapshot)),
    ].filter((path) => snapshot.has(path));
    const real = hooks.map((path) => realPath(path, "/", snapshot)).filter((path) => path !== null);
    return new Map(real.map((path) => [path, readEntryContent(path, snapshot.stats)]));
  }

  /**
   * Returns what a repository that existed at the start has gained since: submodules, worktrees, or another git
   * folder.
   */
  #newIn(folder: string, snapshot: FsSnapshot): string[] {
    const shape = this.#shapes.get(folder);
    const stampNow = (path: string) => settledStamp(path, snapshot.stats);
    const isValid = (shape?.stamps.length ?? 0) > 0 &&
      shape!.stamps.every(([path, stamp]) => stamp !== null && stampNow(path) === stamp);
    if (isValid) return [];
    const hooks = gitHooks(folder, snapshot);
    const first = shape?.hooks ?? new Set(hooks);
    const news = hooks.filter((path) => !first.has(path));
    const places = news.length > 0 ? [] : gitPlaces(folder, snapshot);
    // If something is new, this check runs every time. Otherwise the result is valid until a folder where something
    // new could appear changes.
    const stamps = news.length > 0
      ? [[folder, null] as const]
      : places.map((path) => [path, stampNow(path)] as const);
    this.#shapes.set(folder, { hooks: first, gitFolders: gitFoldersIn(hooks, snapshot), stamps });
    return news;
  }

  #find(found: TreeScanResult, snapshot: FsSnapshot): Repositories {
    const { folders, known } = this.#places;
    const { held = [], fitsUnmounted = true } = this.atStart ?? {};
    const isHeld = (path: string) => held.some((folder) => isInside(path, folder));
    const repositories = new Set(found.repositories);
    const gitFolders = new Set(found.gitFolders);
    for (const path of known) {
      // Most known repositories that are not found by the scan are gone, and one look says so.
      if (folders.includes(path) || isHeld(path) || snapshot.lstat(path)?.isDirectory !== true) continue;
      if (realPath(path, "/", snapshot) !== path) continue;
      if (snapshot.has(`${path}/.git`)) repositories.add(path);
      else if (isGitFolder(lookedUpNames(path, snapshot))) {
        gitFolders.add(path);
      }
    }
    const scanned = new Set(repositories);
    // Git automatically enters the repositories inside these folders, at any depth.
    const waiting = [...folders];
    for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
      for (const link of this.#links.of(folder, snapshot)) {
        const real = realPath(link, "/", snapshot);
        if (real === null || folders.includes(real) || isHeld(real) || !snapshot.has(`${real}/.git`)) {
          continue;
        }
        if (repositories.has(real) && !scanned.has(real)) continue;
        if (!repositories.has(real)) waiting.push(real);
        repositories.add(real);
      }
    }
    return {
      repositories: [...repositories].filter((path) => !isHeld(path)),
      gitFolders: [...gitFolders].filter((path) => !isHeld(path)),
      held,
      fitsUnmounted,
    };
  }
}

/** Existing git folders that contain these files. */
function gitFoldersIn(hooks: readonly string[], snapshot: FsSnapshot): string[] {
  const real = [...new Set(hooks.map(parentOf))].map((path) => realPath(path, "/", snapshot));
  return [...new Set(real)].filter((path) =>
    path !== null && snapshot.lstat(path)?.isDirectory === true
  ) as string[];
}

/**
 * Replaces repositories beyond the limit by the folders that contain most of them. A working folder, or a folder that
 * contains one, is replaced only beyond the higher limit, because commands could then write nothing.
 */
function withoutCrowds(
  { repositories, gitFolders }: Repositories,
  { folders, writable, mountsNothing = false }: RepositoryPlaces,
): Repositories {
  const limit = mountsNothing ? MOST_OPEN : MOST_REPOSITORIES;
  const isOpen = (folder: string) => [...folders, ...writable].some((path) => isInside(path, folder));
  let all = [...repositories, ...gitFolders];
  const fitsUnmounted = all.length <= MOST_OPEN;
  const held: string[] = [];
  while (all.length > limit) {
    const counts = new Map<string, number>();
    for (const path of all) counts.set(parentOf(path), (counts.get(parentOf(path)) ?? 0) + 1);
    const most = [...counts].filter(([folder]) => all.length > MOST_OPEN || !isOpen(folder))
      .reduce((a, b) => b[1] > a[1] ? b : a, ["", 0]);
    if (most[1] === 0) break;
    held.push(most[0]);
    all = all.filter((path) => !isInside(path, most[0]));
  }
  const isKept = (path: string) => all.includes(path);
  return {
    repositories: repositories.filter(isKept),
    gitFolders: gitFolders.filter(isKept),
    held,
    fitsUnmounted,
  };
}

/**
 * Reports folders that are read-only because they contain too many repositories.
 *
 * @param other a backend that works here and would protect each of them; null if there is none
 */
export function readOnlyFolderNotice(folder: string, other: string | null): Problem {
  return {
    code: "too-many-repositories",
    message:
      `${folder} contains too many git repositories to protect each one, so it is read-only for commands.`,
    next: other === null
      ? "To change files there, start flemma in the folder of one repository."
      : `To change files there, start flemma in the folder of one repository, or use the sandbox ${other}, which covers less: flemma sandbox use ${other}`,
  };
}

/** Reports a folder that is too large to be searched for repositories completely. */
export function partialScanNotice(folder: string): Problem {
  return {
    code: "folders-not-searched",
    message: `${folder} has too many folders to search all of them for git repositories after commands.`,
    next: "Check a repository that a command made deep inside it before you run git there.",
  };
}

/** The git configuration files that apply to every repository of this person. */
export function gitConfigsOf({ home, variables }: Environment): string[] {
  const { XDG_CONFIG_HOME } = variables;
  const base = XDG_CONFIG_HOME?.startsWith("/") ? XDG_CONFIG_HOME : `${home}/.config`;
  return ["/etc/gitconfig", `${base}/git/config`, `${home}/.gitconfig`];
}

/** Returns those of the folders to which, or below which, a command can write. */
export function foldersInReach(folders: readonly string[], writable: readonly string[]): string[] {
  return folders.filter((folder) =>
    writable.some((root) => isInside(folder, root) || isInside(root, folder))
  );
}
