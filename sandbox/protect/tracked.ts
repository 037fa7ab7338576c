// Protected files that git tracks: git cannot check them out in the sandbox, and reports that badly or not at all.

import { isInside } from "../../base/paths.ts";
import { FsSnapshot } from "../../base/disk/fs_snapshot.ts";
import { type IndexEntry, readIndex } from "../git/index_file.ts";
import { settledStamp } from "../paths/stamp.ts";
import { indexesOf } from "../git/repository.ts";
import { repositoryAround } from "../git/worktree.ts";

/** Protected files by path, with the object id that git's index has for each. */
export type TrackedFiles = ReadonlyMap<string, string>;

/** Error messages of git after it was denied access to a file. */
const REFUSED = /unable to (unlink|create|write|rename|open)|Read-only file system|Device or resource busy/;

export class TrackedGuard {
  readonly #roots: readonly string[];
  /** For each index, by its path, the entries for protected files. They are valid until the index changes. */
  readonly #known = new Map<
    string,
    { readonly stamp: string | null; readonly protectedPaths: string; files: ReadonlyMap<string, IndexEntry> }
  >();

  /** @param folders real paths of the working folders */
  constructor(folders: readonly string[], snapshot = new FsSnapshot()) {
    const roots = folders.map((folder) => repositoryAround(folder, snapshot));
    this.#roots = [...new Set(roots.filter((root) => root !== null))];
  }

  /** Returns what the indexes say now about files at or below these protected paths. */
  now(protectedPaths: readonly string[], snapshot = new FsSnapshot()): TrackedFiles {
    const key = protectedPaths.join("\n");
    const found = this.#roots.flatMap((root) =>
      indexesOf(root, snapshot).flatMap((index) => {
        const stamp = settledStamp(index, snapshot.stats);
        let known = this.#known.get(index);
        if (known === undefined || stamp === null || known.stamp !== stamp || known.protectedPaths !== key) {
          const files = new Map(
            readIndex(index).map((entry) => [`${root}/${entry.path}`, entry] as const)
              .filter(([path]) => protectedPaths.some((around) => isInside(path, around))),
          );
          this.#known.set(index, known = { stamp, protectedPaths: key, files });
        }
        return [...known.files].map(([path, { hash }]) => [path, hash] as const);
      })
    );
    return new Map(found);
  }

  /** True if a file is as the last index that was read says: git took it from the file, so nothing is missing. */
  isAsIndexed(path: string): boolean {
    const info = new FsSnapshot().lstat(path);
    const entries = [...this.#known.values()].map(({ files }) => files.get(path));
    return info !== null &&
      entries.some((entry) =>
        entry !== undefined && entry.size === info.size % 2 ** 32 &&
        entry.seconds === Math.floor((info.mtime?.getTime() ?? -1) / 1000)
      );
  }
}

/**
 * Returns, sorted, the protected files that a command tried to change but could not. A file is one of them if the
 * command changed its entry in git's index and the file differs from this entry, or if an error message of git names
 * the file.
 */
export function notChanged(
  before: TrackedFiles,
  after: TrackedFiles,
  output: string,
  isAsIndexed: (path: string) => boolean,
): string[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
  // Other programs may name a file of the same name elsewhere.
  const refusals = output.split("\n").filter((line) =>
    /^(?:error|fatal|warning): /.test(line) && REFUSED.test(line)
  );
  const named = new Set(refusals.flatMap((line) => line.split(/['"\s:/]+/)));
  return paths.filter((path) => {
    const name = path.slice(path.lastIndexOf("/") + 1);
    const differs = before.get(path) !== after.get(path) && !(after.has(path) && isAsIndexed(path));
    return differs || (before.has(path) && named.has(name));
  });
}

export function notChangedSentence(paths: readonly string[]): string {
  return `[The sandbox protects ${
    paths.join(", ")
  }, which git tracks, so this command could not update the ` +
    "working tree completely. Check git status; the user can finish the change outside the sandbox.]";
}
