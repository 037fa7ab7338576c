// The file helper of a run: a process inside the sandbox that performs file operations, requested over its standard
// input. It is bundled into helper.generated.ts, so that every distribution of the program contains it.

import { writeAllSync } from "../../base/files.ts";
import { isSystemPath } from "../../base/system/system_files.ts";
import { isSeen } from "../../sandbox/policy/view.ts";
import { packError } from "../../base/disk/failures.ts";
import { type Disk, workingFolderAccess } from "../../base/disk/folder_access.ts";
import { type FileOperation, perform } from "./operations.ts";
import { frameOf, FrameReader, type FromHelper, type Greeting, type ToHelper } from "./protocol.ts";

/** Serves requests until its input ends. */
export async function serve(): Promise<void> {
  const frames = new FrameReader();
  const running = new Map<number, AbortController>();
  let disk: Disk | null = null;
  for await (const chunk of Deno.stdin.readable) {
    for (const frame of frames.push(chunk)) {
      if (disk === null) {
        disk = diskOf(frame as Greeting);
        answer({ ready: true });
        continue;
      }
      const asked = frame as ToHelper;
      if ("cancel" in asked) running.get(asked.cancel)?.abort();
      else doOne(asked, disk, running);
    }
  }
  // Nobody is left to receive answers.
  Deno.exit(0);
}

function diskOf({ view, systemDevices, rg }: Greeting): Disk {
  const devices = new Set(systemDevices);
  return {
    folderAccess: workingFolderAccess,
    isSystem: (real, { dev }) => isSystemPath(real) || devices.has(dev),
    isReadable: (real) => !isSystemPath(real) && isSeen(real, view),
    rg,
  };
}

function doOne(
  { id, operation, request }: { id: number; operation: string; request: object },
  disk: Disk,
  running: Map<number, AbortController>,
): void {
  const stop = new AbortController();
  running.set(id, stop);
  const overwriting = () => answer({ id, overwriting: true });
  // Names and requests come from the run, which checks their types.
  perform(operation as FileOperation, request as never, disk, stop.signal, overwriting)
    .then((value) => answer({ id, value }), (thrown) => answer({ id, error: packError(thrown) }))
    .finally(() => running.delete(id));
}

function answer(frame: FromHelper): void {
  const bytes = frameOf(frame);
  writeAllSync(Deno.stdout, bytes);
}
