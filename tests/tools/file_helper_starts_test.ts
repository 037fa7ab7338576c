// How often file tools start their helper if the sandbox cannot be set up.

import assert from "node:assert/strict";
import { success } from "../../base/problem.ts";
import { socketVanished } from "../../sandbox/backends/failures.ts";
import type { RunSandbox } from "../../sandbox/mod.ts";
import type { SandboxWorker } from "../../sandbox/types.ts";
import { FileHelper } from "../../tools/files/file_helper.ts";

/** A helper whose sandbox failed. */
function failedWorker(isPassing: boolean): SandboxWorker {
  const { isPassing: _, ...failure } = socketVanished("");
  return {
    wrapped: true,
    input: new WritableStream<Uint8Array>().getWriter(),
    output: new Blob([]).stream(),
    ended: Promise.resolve(isPassing ? { ...failure, isPassing } : failure),
    kill: () => Promise.resolve(),
  };
}

for (const [what, isPassing, starts] of [["passes", true, 20], ["stays", false, 2]] as const) {
  Deno.test(`a failure of the sandbox that ${what} makes ${starts} starts of the helper, then the call fails`, async () => {
    let count = 0;
    const sandbox: Pick<RunSandbox, "startWorker"> = {
      startWorker: () => {
        count++;
        return Promise.resolve(success(failedWorker(isPassing)));
      },
    };
    const helper = new FileHelper({
      sandbox: sandbox as RunSandbox,
      program: () => success("/bin/true"),
    });
    await assert.rejects(
      helper.perform("write", {}, new AbortController().signal),
      /Sandbox: .*a socket vanished/,
    );
    assert.equal(count, starts);
  });
}
