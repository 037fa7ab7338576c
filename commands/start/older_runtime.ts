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
 * `Deno.FsFile.tryLockSync` of newer versions: takes the lock of an open file if nobody has it. The program `flock` tells; whoever takes it between the two steps is
 * waited for, so two never have it.
 */
export function tryLockSync(this: Deno.FsFile, exclusive = false): boolean {
  const { success } = new Deno.Command("flock", {
    args: ["--nonblock", exclusive ? "--exclusive" : "--shared", placeOf(this), "true"],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).outputSync();
  if (success) this.lockSync(exclusive);
  return success;
}

/** A path that leads to an open file, whatever has become of its name. */
function placeOf(file: Deno.FsFile): string {
  const { dev, ino } = file.statSync();
  const folder = `/proc/${Deno.pid}/fd`;
  for (const { name } of Deno.readDirSync(folder)) {
    const other = statOf(`${folder}/${name}`);
    if (other?.dev === dev && other.ino === ino) return `${folder}/${name}`;
  }
  throw new Error("This Deno cannot lock files here; take a newer one.");
}

function statOf(path: string): Deno.FileInfo | null {
  try {
    return Deno.statSync(path);
  } catch {
    return null; // Some of what is open has no path, and some is closed by now.
  }
}
