// Lets other runs use a document while its run waits for a provider.

import { problemLine } from "../../base/problem.ts";
import type { Environment } from "../../base/environment.ts";
import type { Pause } from "../../cycle/send/options.ts";
import type { DocumentStore, Emit } from "../../cycle/types.ts";
import type { RunSandbox } from "../../sandbox/mod.ts";
import type { DocumentGuard } from "../trust/guard.ts";

/** Creates the pause of a document; undefined if no other run can use the document. */
export function createPause(
  { store, guard, sandbox, environment, emit }: {
    readonly store: DocumentStore;
    readonly guard: DocumentGuard;
    readonly sandbox: RunSandbox;
    readonly environment: Environment;
    readonly emit: Emit;
  },
): Pause | undefined {
  if (store.release === undefined || store.reclaim === undefined) return undefined;
  let isReleased = false;
  return {
    release: () => {
      isReleased = true;
      return store.release!();
    },
    reclaim: async (how) => {
      if (!isReleased) return null;
      const problem = await store.reclaim!(how);
      if (problem !== null) return problem;
      isReleased = false;
      if (store.leftElsewhere === true) {
        const { noteLeftElsewhere } = await import("../trust/runs_elsewhere.ts");
        const left = await noteLeftElsewhere(store, environment);
        if (left !== null) return left;
      }
      for (const each of await sandbox.recover({ again: true })) {
        emit({ event: "notice", code: each.code, message: problemLine(each) });
      }
      return await guard.reopen();
    },
  };
}
