// The repositories of one run: those that existed at its start are protected, those that commands create are checked
// after every command.

import { isInside } from "../../base/paths.ts";
import type { Problem } from "../../base/problem.ts";
import type { Environment } from "../../base/environment.ts";
import { FsSnapshot } from "../../base/disk/fs_snapshot.ts";
import { realPath } from "../../base/disk/real_path.ts";
import { readEntryContent, settledStamp } from "../paths/stamp.ts";
import type { TreeScanResult } from "../paths/tree_scan.ts";
import { CONFIG_BYTES } from "./settings_file.ts";
import { bareHooks, gitFolderOf, gitHooks, GitLinks, gitPlaces } from "./repository.ts";

/** Repositories at one moment. All folders are real paths. */
export interface Repositories {
  /** Working folders of the repositories, except the working folders of the run. */
  readonly repositories: readonly string[];
  /** Folders that are bare repositories. */
  readonly gitFolders: readonly string[];
}

interface Shape {
  readonly hooks: ReadonlySet<string>;
  readonly stamps: readonly (readonly [path: string, stamp: string | null])[];
}

export class RepositoriesOfRun {
  readonly #folders: readonly string[];
  readonly #links = new GitLinks();
  readonly atStart: Repositories;
  /**
   * Paths that git would read or run and that are not protected, with their state before the live commands. Live
   * commands can change only these.
   */
  #before: ReadonlyMap<string, string | null> = new Map();
  /** For each repository that existed at the start: its hooks then, and the folders where new hooks could appear. */
  readonly #shapes = new Map<string, Shape>();
  #todos: ReadonlyMap<string, string | null> = new Map();

  /**
   * @param folders real paths of the working folders that commands can write to, or below
   * @param found what the scan found below them
   */
  constructor(folders: readonly string[], found: TreeScanResult, snapshot = new FsSnapshot()) {
    this.#folders = folders;
    this.atStart = this.#find(found, snapshot);
    // The hooks that exist now are protected. Missing hooks are checked as missing paths.
    for (const folder of [...folders, ...this.atStart.repositories]) this.#newIn(folder, snapshot);
  }

  /** Records the current state. Call before the first of a group of commands. */
  remember(found: TreeScanResult, snapshot = new FsSnapshot()): void {
    this.#before = this.#now(found, snapshot);
    this.#todos = this.#todosNow(snapshot);
  }

  /**
   * Real paths that git would read or run and that commands created or changed since `remember`: in new repositories,
   * submodules and worktrees, and in those that are not protected.
   */
  changed(found: TreeScanResult, snapshot = new FsSnapshot()): string[] {
    return [...this.#now(found, snapshot)].filter(([path, content]) => this.#before.get(path) !== content)
      .map((
        [path],
      ) => path);
  }

  /** The text that a path had before the commands, as Latin-1; null if it had none or the text is not known. */
  textBefore(path: string): string | null {
    const text = /^\d+ (.*)$/s.exec(this.#before.get(path) ?? "")?.[1];
    return text === undefined ? null : String.fromCharCode(...new TextEncoder().encode(text));
  }

  /** Reports steps of an unfinished rebase that run programs and that commands added since `remember`. */
  todos(snapshot = new FsSnapshot()): Problem[] {
    return [...this.#todosNow(snapshot)].filter(([path, content]) =>
      this.#todos.get(path) !== content && runsPrograms(path)
    )
      .map(([path]) => ({
        code: "git-steps-run-programs",
        message: `A command left an unfinished rebase whose remaining steps run programs: ${path}.`,
        next: "Check it before git rebase --continue, or drop it with git rebase --abort.",
      }));
  }

  #todosNow(snapshot: FsSnapshot): Map<string, string | null> {
    const todos = this.#folders.map((folder) => gitFolderOf(folder, snapshot))
      .filter((gitFolder) => gitFolder !== null && snapshot.stats.names(gitFolder)?.has("rebase-merge"))
      .map((gitFolder) => `${gitFolder}/rebase-merge/git-rebase-todo`);
    return new Map(todos.map((path) => [path, readEntryContent(path, snapshot.stats)]));
  }

  /**
   * Returns the current state of the paths that git would read or run, except those that are protected or were
   * recorded as missing at the start.
   */
  #now(found: TreeScanResult, snapshot: FsSnapshot): Map<string, string | null> {
    const { repositories, gitFolders } = this.#find(found, snapshot);
    const known = new Set([...this.#folders, ...this.atStart.repositories]);
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
    if (shape?.stamps.every(([path, stamp]) => stamp !== null && stampNow(path) === stamp)) return [];
    const hooks = gitHooks(folder, snapshot);
    const first = shape?.hooks ?? new Set(hooks);
    const news = hooks.filter((path) => !first.has(path));
    const places = news.length > 0 ? [] : gitPlaces(folder, snapshot);
    // If something is new, this check runs every time. Otherwise the result is valid until a folder where something
    // new could appear changes.
    const stamps = news.length > 0
      ? [[folder, null] as const]
      : places.map((path) => [path, stampNow(path)] as const);
    this.#shapes.set(folder, { hooks: first, stamps });
    return news;
  }

  #find(found: TreeScanResult, snapshot: FsSnapshot): Repositories {
    const repositories = new Set(found.repositories);
    // Git automatically enters the repositories inside these folders, at any depth.
    const waiting = [...this.#folders];
    for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
      for (const link of this.#links.of(folder, snapshot)) {
        const real = realPath(link, "/", snapshot);
        if (real === null || !snapshot.has(`${real}/.git`) || this.#folders.includes(real)) continue;
        if (repositories.has(real) && !found.repositories.includes(real)) continue;
        if (!repositories.has(real)) waiting.push(real);
        repositories.add(real);
      }
    }
    return { repositories: [...repositories], gitFolders: found.gitFolders };
  }
}

/** True if a list of rebase steps contains one that runs a program. */
function runsPrograms(path: string): boolean {
  return /^\s*(x|exec)\s/m.test(new FsSnapshot().read(path, CONFIG_BYTES) ?? "");
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
