// Adds functions that an older Deno lacks: file locks without waiting, and signal 0, which only checks for a process.

/** Adds the missing functions to the runtime; call it before anything else. */
export function completeRuntime(): void {
  Object.assign(Deno.FsFile.prototype, { tryLock, tryLockSync });
  const { kill } = Deno;
  Object.assign(Deno, {
    kill: (process: number, signal?: Deno.Signal | 0) =>
      signal === 0 ? probeProcess(process) : kill(process, signal),
  });
}

/**
 * Does what signal 0 does: checks that a process exists, or a process group for a negative number. Throws
 * `NotFound`.
 */
export function probeProcess(process: number): void {
  const { success } = new Deno.Command("/bin/sh", {
    args: ["-c", 'kill -s 0 -- "$1"', "sh", String(process)],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).outputSync();
  if (!success) throw new Deno.errors.NotFound(`There is no process ${process}.`);
}

export function tryLock(this: Deno.FsFile, exclusive?: boolean): Promise<boolean> {
  return Promise.resolve(tryLockSync.call(this, exclusive));
}

/**
 * Replaces `Deno.FsFile.tryLockSync` of newer versions: takes the lock of an open file if it is free. The program
 * `flock` checks whether the lock is free. If another process takes the lock between the check and the locking, this
 * waits for that lock, so two processes never hold it.
 *
 * @throws `Deno.errors.NotSupported` if `flock` is missing or cannot be given the file
 */
export function tryLockSync(this: Deno.FsFile, exclusive = false): boolean {
  const success = isFree(placeOf(this), exclusive);
  if (success) this.lockSync(exclusive);
  return success;
}

function isFree(place: string, exclusive: boolean): boolean {
  try {
    // The flock of small systems knows only short options.
    const { code } = new Deno.Command("flock", {
      args: ["-n", exclusive ? "-x" : "-s", place, "/bin/sh", "-c", ":"],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).outputSync();
    // Exit code 1 means that the lock is taken; a higher code means that flock did not work.
    if (code > 1) throw cannotLock();
    return code === 0;
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) throw cannotLock();
    throw thrown;
  }
}

function cannotLock(): Error {
  return new Deno.errors.NotSupported(
    `Deno ${Deno.version.deno} cannot lock files without the program flock`,
  );
}

/** Returns a path that leads to an open file, even if its name has changed. */
function placeOf(file: Deno.FsFile): string {
  const { dev, ino } = file.statSync();
  const folder = `/proc/${Deno.pid}/fd`;
  try {
    for (const { name } of Deno.readDirSync(folder)) {
      const other = statOf(`${folder}/${name}`);
      if (other?.dev === dev && other.ino === ino) return `${folder}/${name}`;
    }
  } catch (thrown) {
    // Systems without this folder get the same error as those without flock.
    if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
  }
  throw cannotLock();
}

function statOf(path: string): Deno.FileInfo | null {
  try {
    return Deno.statSync(path);
  } catch {
    return null; // Some open descriptors have no path, and some are closed by now.
  }
}
