// Recovery after a killed run: ends its commands and repairs what they did, as the run itself would have.

import type { Environment } from "../../base/environment.ts";
import { stateFolder } from "../../base/folders.ts";
import type { Problem } from "../../base/problem.ts";
import { endFamily } from "../process/end_family.ts";
import { findLeftRecords, groupLeft, type Recorded, removeRecord, survivors } from "../process/leftovers.ts";
import { RemovedSettings } from "../git/removed_settings.ts";
import { type Before, repairChanges } from "./repair.ts";

/** The part of `Before` that is recorded on disk. */
export type Lasting = Omit<Before, "sealed" | "protectedPaths" | "missingInGit">;

/** Names that several folders have in common; for instance, a hundred repositories lack the same files. */
interface Grouped {
  readonly names: readonly string[];
  readonly folders: readonly string[];
}

/** The state to record before a command starts, as JSON. Built once for all commands of one snapshot. */
export function serializeBefore(before: Before): string {
  let text = texts.get(before);
  if (text === undefined) {
    const { sealed: _, protectedPaths: __, missingInGit: ___, missing, ...rest } = before;
    texts.set(before, text = JSON.stringify({ ...rest, missing: grouped(missing) }));
  }
  return text;
}

const texts = new WeakMap<Before, string>();

/**
 * Ends commands whose program is gone and repairs what they changed. Several runs may call this at the same time: each
 * step may safely be done twice.
 *
 * @returns what was done, for the person; empty if nothing was left
 */
export async function recover(environment: Environment): Promise<Problem[]> {
  const reported: Problem[] = [];
  for (const recorded of findLeftRecords(environment)) {
    if (survivors(recorded).length > 0) {
      await endFamily(groupLeft(recorded), recorded.mark);
      reported.push(ended(recorded));
    }
    const before = lastingOf(recorded.before);
    // What changed since the run was killed is unknown, so every path is inspected.
    if (before !== null) {
      const sealed = { holds: () => false, accept: () => {} };
      reported.push(
        ...await repairChanges(
          { ...before, sealed, protectedPaths: new Set<string>(), missingInGit: [] },
          () => `${stateFolder(environment)}/moved`,
          undefined,
          undefined,
          new RemovedSettings(environment),
        ) ?? [],
      );
    }
    removeRecord(recorded.file);
  }
  return reported;
}

function ended({ owner, leader }: Recorded): Problem {
  return {
    code: "command-left-behind",
    message: `Ended process ${leader.pid}: the run that started it (process ${owner.pid}) was killed.`,
  };
}

/** The recorded state, if the value has the expected shape. */
export function lastingOf(value: unknown): Lasting | null {
  if (typeof value !== "object" || value === null) return null;
  const { missing, links, compared } = value as Partial<Lasting>;
  const all = [missing, links, compared].every(Array.isArray);
  return all ? { ...value as Lasting, missing: ungrouped(missing!) } : null;
}

function grouped(paths: readonly string[]): Grouped[] {
  const namesIn = new Map<string, string[]>();
  for (const path of paths) {
    const slash = path.lastIndexOf("/");
    const folder = path.slice(0, slash);
    const names = namesIn.get(folder);
    if (names === undefined) namesIn.set(folder, [path.slice(slash + 1)]);
    else names.push(path.slice(slash + 1));
  }
  const foldersOf = new Map<string, { names: readonly string[]; folders: string[] }>();
  for (const [folder, names] of namesIn) {
    const key = names.join("/");
    const group = foldersOf.get(key);
    if (group === undefined) foldersOf.set(key, { names, folders: [folder] });
    else group.folders.push(folder);
  }
  return [...foldersOf.values()];
}

/** Older versions recorded each path as a string. */
function ungrouped(groups: readonly (Grouped | string)[]): string[] {
  return groups.flatMap((group) =>
    typeof group === "string"
      ? [group]
      : group.folders.flatMap((folder) => group.names.map((name) => `${folder}/${name}`))
  );
}
