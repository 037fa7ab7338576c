// What a run that was killed left behind: its commands ended, and what they did put right, as it would have itself.

import type { Environment } from "../../base/environment.ts";
import { stateFolder } from "../../base/folders.ts";
import type { Problem } from "../../base/problem.ts";
import { endFamily } from "../process/end_family.ts";
import { forget, groupLeft, leftBehind, type Recorded, survivors } from "../process/leftovers.ts";
import { type Before, settle } from "./repair.ts";

/** The part of it that can be written down. */
export type Lasting = Omit<Before, "sealed" | "protectedPaths">;

/** Paths as the same names in each of some folders: of a hundred repositories the same things are missing. */
interface Grouped {
  readonly names: readonly string[];
  readonly folders: readonly string[];
}

/** What is written down beside a command that is about to start, as JSON; made once for all that start by one look. */
export function lasting(before: Before): string {
  let text = texts.get(before);
  if (text === undefined) {
    const { sealed: _, protectedPaths: __, missing, ...rest } = before;
    texts.set(before, text = JSON.stringify({ ...rest, missing: grouped(missing) }));
  }
  return text;
}

const texts = new WeakMap<Before, string>();

/**
 * Ends commands whose program is gone, and puts right what they changed. Answers with what was done, for the person; nothing
 * where nothing was left. May be called by several runs at once: each step bears being done twice.
 */
export async function recover(environment: Environment): Promise<Problem[]> {
  const reported: Problem[] = [];
  for (const recorded of leftBehind(environment)) {
    if (survivors(recorded).length > 0) {
      await endFamily(groupLeft(recorded), recorded.mark);
      reported.push(ended(recorded));
    }
    const before = lastingOf(recorded.before);
    // Nothing is known of what it looked like since, so everything is looked at.
    if (before !== null) {
      const sealed = { holds: () => false, accept: () => {} };
      reported.push(
        ...await settle(
          { ...before, sealed, protectedPaths: new Set<string>() },
          () => `${stateFolder(environment)}/moved`,
        ) ?? [],
      );
    }
    forget(recorded.file);
  }
  return reported;
}

function ended({ owner, leader }: Recorded): Problem {
  return {
    code: "command-left-behind",
    message:
      `An earlier run (process ${owner.pid}) was killed, and its command (process ${leader.pid}) still ran. It was ended.`,
  };
}

/** What stands in the file, if it is what this program writes. */
function lastingOf(value: unknown): Lasting | null {
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

/** An older program wrote each path. */
function ungrouped(groups: readonly (Grouped | string)[]): string[] {
  return groups.flatMap((group) =>
    typeof group === "string"
      ? [group]
      : group.folders.flatMap((folder) => group.names.map((name) => `${folder}/${name}`))
  );
}
