// The folder in which live runs announce themselves, and the runs that have released their document there.

import type { Environment } from "../../base/environment.ts";
import { isMissing } from "../../base/files.ts";
import { stateFolder } from "../../base/folders.ts";
import type { LiveRun } from "./ask.ts";

/** Returns the folder that contains one folder per run. */
export function runsFolder(environment: Environment): string {
  return `${stateFolder(environment)}/running`;
}

/**
 * Returns the run that waits for its provider with a document that nobody has locked; null if there is none.
 *
 * @param path real path of the document
 */
export async function waitingRun(path: string, environment: Environment): Promise<LiveRun | null> {
  try {
    if (Deno.readDirSync(runsFolder(environment)).next().done === true) return null;
  } catch (thrown) {
    if (isMissing(thrown)) return null;
    throw thrown;
  }
  const { liveRuns } = await import("./ask.ts");
  return (await liveRuns(environment)).find((run) => run.path === path) ?? null;
}
