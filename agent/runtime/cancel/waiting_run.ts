// Finds the run that has released its document while it waits for its provider.

import type { Environment } from "../../../base/environment.ts";
import { isMissing } from "../../../base/files.ts";
import { runsFolder } from "./request.ts";

/** A run of another process. */
export interface WaitingRun {
  readonly pid: number;
  /** Name of its machine. */
  readonly host: string;
}

/**
 * Returns the run that waits for its provider with a document that nobody has locked; null if there is none.
 *
 * @param path real path of the document
 */
export async function waitingRun(path: string, environment: Environment): Promise<WaitingRun | null> {
  try {
    if (Deno.readDirSync(runsFolder(environment)).next().done === true) return null;
  } catch (thrown) {
    if (isMissing(thrown)) return null;
    throw thrown;
  }
  const { liveRuns } = await import("./ask.ts");
  return (await liveRuns(environment)).find((run) => run.path === path) ?? null;
}
