// The private caches of commands on disk: how large they are, and their removal.

import type { Environment } from "../../base/environment.ts";
import { isMissing } from "../../base/files.ts";
import { isInside } from "../../base/paths.ts";
import { failure, type Outcome, success, thrownText } from "../../base/problem.ts";
import { privateCachesFolder } from "../policy/private_caches.ts";
import { othersAlive } from "../process/leftovers.ts";

/** Limit on the number of files that are counted, so that a report does not take minutes. */
const MOST_COUNTED = 500_000;

/** The caches of all trusted projects, or of one other project. */
export interface CacheSet {
  readonly path: string;
  readonly bytes: number;
  /** False if there are more files than were counted, or unreadable ones. */
  readonly complete: boolean;
}

/** The sets that exist, by name. */
export function cacheSets(environment: Environment): CacheSet[] {
  const folder = privateCachesFolder(environment);
  return namesIn(folder).map((name) => ({ path: `${folder}/${name}`, ...sizeOf(`${folder}/${name}`) }));
}

/** Removes all sets. Fails with `caches-in-use` while commands run, or with `caches-not-removed`. */
export async function removeCacheSets(
  environment: Environment,
): Promise<Outcome<{ readonly bytes: number }>> {
  const folder = privateCachesFolder(environment);
  const users = othersAlive(environment).filter(({ writable }) =>
    writable.some((root) => isInside(root, folder) || isInside(folder, root))
  );
  if (users.length > 0) {
    return failure(
      "caches-in-use",
      "Commands that use the caches are running.",
      "Wait until they end, or cancel them.",
    );
  }
  const bytes = cacheSets(environment).reduce((sum, set) => sum + set.bytes, 0);
  const doomed = `${folder}.removed-${crypto.randomUUID()}`;
  try {
    // The next command makes new caches, even while these are being removed.
    await Deno.rename(folder, doomed);
    openToOwner(doomed);
    await Deno.remove(doomed, { recursive: true });
    return success({ bytes });
  } catch (thrown) {
    if (isMissing(thrown)) return success({ bytes: 0 });
    return failure("caches-not-removed", `The caches of commands cannot be removed: ${thrownText(thrown)}.`);
  }
}

/** Go makes the folders of its module cache read-only. */
function openToOwner(folder: string): void {
  Deno.chmodSync(folder, 0o700);
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    if (isDirectory) openToOwner(`${folder}/${name}`);
  }
}

function sizeOf(folder: string): { bytes: number; complete: boolean } {
  let [bytes, files] = [0, 0];
  const waiting = [folder];
  try {
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      for (const { name, isDirectory } of Deno.readDirSync(at)) {
        if (++files > MOST_COUNTED) return { bytes, complete: false };
        if (isDirectory) waiting.push(`${at}/${name}`);
        else bytes += Deno.lstatSync(`${at}/${name}`).size;
      }
    }
    return { bytes, complete: true };
  } catch {
    // Commands change their caches, and may make parts of them unreadable.
    return { bytes, complete: false };
  }
}

function namesIn(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].filter(({ isDirectory }) => isDirectory).map(({ name }) => name)
      .sort();
  } catch (thrown) {
    if (isMissing(thrown)) return [];
    throw thrown;
  }
}
