// The repositories of one run: those that were there when it began, which are protected, and those that commands made, which
// are judged after every command.

import { isInside, parentOf } from "../../base/paths.ts";
import type { Problem } from "../../base/problem.ts";
import type { Environment } from "../../base/environment.ts";
import { FsSnapshot } from "../paths/fs_snapshot.ts";
import { realPath } from "../paths/real_path.ts";
import { contentOf } from "../paths/stamp.ts";
import type { Found } from "../paths/tree_scan.ts";
import { CONFIG_BYTES } from "./git_config.ts";
import { bareHooks, gitHooks, GitLinks, indexesOf } from "./repository.ts";

/** Repositories at one moment; all folders real. */
export interface Repositories {
  /** Their working folders, the folders that are worked in not among them. */
  readonly repositories: readonly string[];
  /** Folders that are repositories by themselves. */
  readonly gitFolders: readonly string[];
}

export class RepositoriesOfRun {
  readonly #folders: readonly string[];
  readonly #links = new GitLinks();
  readonly atStart: Repositories;
  /** What git would read or run, with its state before the commands that live now; those could have changed the rest only. */
  #before: ReadonlyMap<string, string | null> = new Map();
  #todos: ReadonlyMap<string, string | null> = new Map();

  /**
   * @param folders Real paths of the folders that are worked in and that commands can write to, or write below.
   * @param found What lies below them.
   */
  constructor(folders: readonly string[], found: Found) {
    this.#folders = folders;
    this.atStart = this.#look(found);
  }

  /** To be called before the first of some commands. */
  remember(found: Found): void {
    this.#before = this.#now(found);
    this.#todos = this.#todosNow(found);
  }

  /**
   * What git would read or run and what commands made or changed since `remember`: of new repositories, submodules and
   * worktrees, and of those that are not protected. Real paths.
   */
  changed(found: Found): string[] {
    return [...this.#now(found)].filter(([path, content]) => this.#before.get(path) !== content).map((
      [path],
    ) => path);
  }

  /** Steps of a rebase that run programs and that commands left behind since `remember`, for the person to look at. */
  todos(found: Found): Problem[] {
    return [...this.#todosNow(found)].filter(([path, content]) =>
      this.#todos.get(path) !== content && runsPrograms(path)
    )
      .map(([path]) => ({
        code: "git-steps-run-programs",
        message: `A command left an unfinished rebase whose next steps run programs: ${path}.`,
        next: "Look at it before git rebase --continue; git rebase --abort gives it up.",
      }));
  }

  #todosNow(found: Found): Map<string, string | null> {
    const snapshot = new FsSnapshot();
    const { repositories } = this.#look(found);
    const todos = [...this.#folders, ...repositories]
      .flatMap((folder) => indexesOf(folder, snapshot).slice(0, 1))
      .map((index) => `${parentOf(index)}/rebase-merge/git-rebase-todo`);
    return new Map(todos.map((path) => [path, contentOf(path)]));
  }

  #now(found: Found): Map<string, string | null> {
    const snapshot = new FsSnapshot();
    const hooks = this.#hooksOf(this.#look(found), snapshot).filter((path) => snapshot.has(path));
    const real = hooks.map((path) => realPath(path, "/", snapshot)).filter((path) => path !== null);
    return new Map(real.map((path) => [path, contentOf(path)]));
  }

  #look(found: Found): Repositories {
    const snapshot = new FsSnapshot();
    const repositories = new Set(found.repositories);
    // Git goes into these by itself, however deep they lie, and into those inside of them.
    const waiting = [...this.#folders, ...repositories];
    for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
      for (const link of this.#links.of(folder, snapshot)) {
        const real = realPath(link, "/", snapshot);
        if (real === null || repositories.has(real) || !snapshot.has(`${real}/.git`)) continue;
        repositories.add(real);
        waiting.push(real);
      }
    }
    return { repositories: [...repositories], gitFolders: found.gitFolders };
  }

  #hooksOf({ repositories, gitFolders }: Repositories, snapshot: FsSnapshot): string[] {
    return [
      ...[...this.#folders, ...repositories].flatMap((folder) => gitHooks(folder, snapshot)),
      ...gitFolders.flatMap((folder) => bareHooks(folder, snapshot)),
    ];
  }
}

/** Whether a list of steps of a rebase holds one that runs a program. */
function runsPrograms(path: string): boolean {
  return /^\s*(x|exec)\s/m.test(new FsSnapshot().read(path, CONFIG_BYTES) ?? "");
}

/** The files of git's configuration that hold for every repository of this person. */
export function gitConfigsOf({ home, variables }: Environment): string[] {
  const { XDG_CONFIG_HOME } = variables;
  const base = XDG_CONFIG_HOME?.startsWith("/") ? XDG_CONFIG_HOME : `${home}/.config`;
  return ["/etc/gitconfig", `${base}/git/config`, `${home}/.gitconfig`];
}

/** The folders among these that a command can write to, or below. */
export function foldersInReach(folders: readonly string[], writable: readonly string[]): string[] {
  return folders.filter((folder) =>
    writable.some((root) => isInside(folder, root) || isInside(root, folder))
  );
}
