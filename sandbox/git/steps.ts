// Unfinished work in git folders, such as a rebase, whose continuation would run programs.

import type { Problem } from "../../base/problem.ts";
import { FsSnapshot } from "../../base/disk/fs_snapshot.ts";
import { readEntryContent, settledStamp } from "../paths/stamp.ts";
import { CONFIG_BYTES, readGitSettings } from "./settings_file.ts";
import { REPORTED_IN_GIT } from "./table.ts";

/** Merge strategies of git itself. Any other name is a program. */
const STRATEGIES = /^\s*(?:ort|recursive|octopus|resolve|ours|subtree|)\s*$/;

/** For each path in the table, a test whether the content of the file makes git run something. */
const RUNS: Readonly<Record<string, (text: string) => boolean>> = {
  "rebase-merge/git-rebase-todo": (text) => /^\s*(?:x|exec)\s/m.test(text),
  "rebase-merge/strategy": (text) => !STRATEGIES.test(text),
  "sequencer/todo": (text) => /^\s*(?:x|exec)\s/m.test(text),
  "sequencer/opts": (text) => {
    const { settings, valid } = readGitSettings(text);
    return !valid || settings.some(({ key, value }) => key === "options.strategy" && !STRATEGIES.test(value));
  },
  BISECT_RUN: () => true,
  BISECT_NAMES: (text) => !/^(?:\s*'[^']*')*\s*$/.test(text),
  "info/attributes": (text) => /\s(?:filter|diff|merge)=/.test(text),
};

/** Finds unfinished work, and lists each git folder only when it changed. */
export class GitSteps {
  readonly #names = new Map<string, { readonly stamp: string | null; readonly files: readonly string[] }>();

  /** The current content of each file of the table that git would continue with, by path. */
  now(gitFolders: readonly string[], snapshot: FsSnapshot): ReadonlyMap<string, string | null> {
    const paths = gitFolders.flatMap((folder) =>
      this.#filesIn(folder, snapshot).map((file) => `${folder}/${file}`)
    );
    return new Map(
      paths.filter((path) => snapshot.has(path))
        .map((path) => [path, readEntryContent(path, snapshot.stats)]),
    );
  }

  #filesIn(folder: string, { stats }: FsSnapshot): readonly string[] {
    const stamp = settledStamp(folder, stats);
    const known = this.#names.get(folder);
    if (known !== undefined && stamp !== null && known.stamp === stamp) return known.files;
    const names = stats.names(folder);
    const files = REPORTED_IN_GIT.map(({ path }) => path).filter((path) => names?.has(path.split("/")[0]!));
    this.#names.set(folder, { stamp, files });
    return files;
  }
}

/** Returns a report for each file that changed between two moments and makes git run something. */
export function newSteps(
  before: ReadonlyMap<string, string | null>,
  after: ReadonlyMap<string, string | null>,
): Problem[] {
  return [...after].flatMap(([path, content]) => {
    if (before.get(path) === content) return [];
    const row = REPORTED_IN_GIT.find((file) => path.endsWith(`/${file.path}`));
    const text = new FsSnapshot().read(path, CONFIG_BYTES);
    if (row === undefined || (text !== null && !RUNS[row.path]!(text))) return [];
    return [{
      code: "git-steps-run-programs",
      message: `A command left ${path}: ${row.effect}.`,
      next: `Check it before you continue, or drop it with ${row.drop}.`,
    }];
  });
}
