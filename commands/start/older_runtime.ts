// What an older Deno lacks and the program needs: locks of files that do not wait, and the signal that only asks.

/** Gives the runtime the calls that it does not have; to be called before anything else is done. */
export function completeRuntime(): void {
  Object.assign(Deno.FsFile.prototype, { tryLock, tryLockSync });
  const { kill } = Deno;
  Object.assign(Deno, {
    kill: (process: number, signal?: Deno.Signal | 0) => signal === 0 ? ask(process) : kill(process, signal),
  });
}

/** What the signal 0 does: it asks whether a process, or a group of them below zero, is there. */
export function ask(process: number): void {
  const { success } = new Deno.Command("/bin/sh", {
    args: ["-c", 'kill -s 0 -- "$1"', "sh", String(process)],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).outputSync();
  if (!success) throw new Deno.errors.NotFound(`There is no process ${process}.`);
}

/** `Deno.FsFile.tryLock` of newer versions. */
export function tryLock(this: Deno.FsFile, exclusive?: boolean): Promise<boolean> {
  return Promise.resolve(tryLockSync.call(this, exclusive));
}

/**
 * `Deno.FsFile.tryLockSync` of newer versions: takes the lock of an open file if nobody has it. The program `flock` tells;
 * whoever takes it between the two steps is waited for, so two never have it.
 *
 * @throws `Deno.errors.NotSupported` Where there is no such program, or no way to tell it the file.
 */
export function tryLockSync(this: Deno.FsFile, exclusive = false): boolean {
  const success = isFree(placeOf(this), exclusive);
  if (success) this.lockSync(exclusive);
  return success;
}

function isFree(place: string, exclusive: boolean): boolean {
  try {
    // Short options, for those are all that the flock of small systems knows.
    const { code } = new Deno.Command("flock", {
      args: ["-n", exclusive ? "-x" : "-s", place, "/bin/sh", "-c", ":"],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).outputSync();
    // 1 says that somebody has it; any other code but that of success, that nothing was tried.
    if (code > 1) throw cannotLock();
    return code === 0;
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) throw cannotLock();
    throw thrown;
  }
}

function cannotLock(): Error {
  return new Deno.errors.NotSupported(
    `Deno ${Deno.version.deno} takes no locks of files without the program flock`,
  );
}

/** A path that leads to an open file, whatever has become of its name. */
function placeOf(file: Deno.FsFile): string {
  const { dev, ino } = file.statSync();
  const folder = `/proc/${Deno.pid}/fd`;
  try {
    for (const { name } of Deno.readDirSync(folder)) {
      const other = statOf(`${folder}/${name}`);
      if (other?.dev === dev && other.ino === ino) return `${folder}/${name}`;
    }
  } catch (thrown) {
    // Systems without this folder are told the same as those without the program.
    if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
  }
  throw cannotLock();
}

function statOf(path: string): Deno.FileInfo | null {
  try {
    return Deno.statSync(path);
  } catch {
    return null; // Some of what is open has no path, and some is closed by now.
  }
}
