// Leaves the background jobs of a document that is closed to the program that keeps them.

import type { Chat } from "../../../parser/types.ts";
import type { Runtime, RuntimeOptions } from "../types.ts";

/** Hands over running jobs, or waits until the last one is settled. Without a keeper, jobs ended with the run. */
export async function leaveJobs(
  runtime: Runtime,
  { path, chat }: { readonly path: string | null; readonly chat: Chat },
  { jobKeeper, environment, emit = () => {} }: RuntimeOptions,
): Promise<void> {
  if (jobKeeper === undefined || path === null) return;
  const settle = async () => {
    await runtime.endTools();
    await runtime.changes.done();
  };
  if (runtime.jobs.isAlive) {
    return jobKeeper.keep({ parts: runtime.kept(), environment, path, chat, emit, settle });
  }
  // The last one may have ended after the run.
  await runtime.jobs.idle();
  await settle();
}
