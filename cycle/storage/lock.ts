// The document lock: one run at a time, by an advisory lock that the system releases when its holder dies.

import { isMissing } from "../../base/files.ts";
import type { Environment } from "../../base/environment.ts";
import type { Settings } from "../../config/settings.generated.ts";
import { quickHash } from "../../base/hash.ts";
import { parentOf } from "../../base/paths.ts";
import {
  failure,
  type Outcome,
  type Problem,
  runtimeRefusal,
  success,
  thrownText,
} from "../../base/problem.ts";
import { operands } from "../../base/shell_word.ts";
import { documentKey, stateFolder } from "./state_files.ts";

/** Text of the lock file, from which other runs learn who holds the lock. */
export interface Holder {
  /** Id of the holder's process. */
  readonly pid: number;
  /** Name of the machine that the holder runs on. */
  readonly host: string;
  /** Real path of the document. */
  readonly path: string;
  /** Boot id of the machine, if the system reports one. */
  readonly boot?: string;
  /** Time at which the holder took the lock, ISO 8601. Process ids are reused, in containers immediately. */
  readonly since?: string;
}

export interface DocumentLock {
  /** Reports that this run took over the lock of a dead run; null if it did not. */
  readonly notice: Problem | null;
  /**
   * True if the killed run used another journal, for instance on another machine: our journal then does not list the
   * calls that it started.
   */
  readonly leftElsewhere: boolean;
  /** Releases the lock. Returns what prevented removing the lock file; the lock is free in any case. */
  release(): Promise<Problem | null>;
}

export interface LockOptions {
  readonly environment: Environment;
  /** Seconds to wait for another run; 0 fails immediately. */
  readonly wait: number;
  /** Where the lock file is. @default state */
  readonly place?: Settings["lock"]["place"];
  /** Signal that cancels the wait when the signal aborts. */
  readonly signal?: AbortSignal;
}

const POLL_MILLISECONDS = 50;

/** Milliseconds to wait for an unnamed holder, which either only checks the lock or is about to write its name. */
const NAMELESS_MILLISECONDS = 500;

/**
 * Locks the document whose real path is given, waiting at most `wait` seconds.
 *
 * The lock is the system's lock on an open file, not the existence of the file: it cannot outlive its holder, in any
 * process namespace. The text inside only names the holder. If text is found when the lock is granted, the holder died
 * without releasing it. Fails with `document-locked`, or with `cancelled` when the signal ends the wait.
 */
export async function lockDocument(
  realPath: string,
  options: LockOptions,
): Promise<Outcome<DocumentLock>> {
  const begun = performance.now();
  const locked: LockedFile[] = [];
  const since = new Date().toISOString();
  const release = async () => {
    let problem: Problem | null = null;
    for (const lock of locked.toReversed()) problem = await lock.release() ?? problem;
    return problem;
  };
  for (const file of await lockFiles(realPath, options)) {
    const wait = Math.max(0, options.wait - (performance.now() - begun) / 1000);
    const lock = await lockFile(file, { path: realPath, since }, { ...options, wait });
    if (!lock.ok) {
      await release();
      return lock;
    }
    locked.push(lock.value);
  }
  const dead = locked.map(({ before }) => before).filter((each) => each !== null);
  const beside = options.place === "beside" ? locked.at(-1)?.before ?? null : null;
  const leftElsewhere = beside !== null &&
    !locked.slice(0, -1).some(({ before }) => isSameRun(before, beside));
  const last = leftElsewhere ? beside : dead[0];
  return success({ notice: last === undefined ? null : takenOver(last), leftElsewhere, release });
}

interface LockedFile {
  /** The run that died while holding the lock; null if none did. */
  readonly before: Holder | null;
  release(): Promise<Problem | null>;
}

function isSameRun(one: Holder | null, other: Holder): boolean {
  return one !== null && one.pid === other.pid && one.host === other.host && one.boot === other.boot &&
    one.since === other.since;
}

function takenOver({ pid, host }: Holder): Problem {
  return {
    code: "lock-taken-over",
    message:
      `An earlier run (process ${pid} on ${host}) ended without finishing. This run continues from what it wrote.`,
  };
}

/** The lock file of a document, and what to do if it cannot be created. */
interface LockFile {
  readonly folder: string;
  readonly path: string;
  readonly remedy: string;
}

/** Returns all lock files that one run must hold, in the order in which every run takes them. */
async function lockFiles(
  realPath: string,
  { environment, place }: Pick<LockOptions, "environment" | "place">,
): Promise<readonly LockFile[]> {
  const folder = `${stateFolder(environment)}/locks`;
  const remedy = "Make that folder writable, or set XDG_STATE_HOME to another folder.";
  const inState = (key: string): LockFile => ({ folder, path: `${folder}/${key}.lock`, remedy });
  const shared = await sharedKey(realPath);
  return [
    inState(await documentKey(realPath)),
    ...(shared === null ? [] : [inState(shared)]),
    ...(place === "beside"
      ? [{
        folder: parentOf(realPath),
        path: lockBeside(realPath),
        remedy: "Make that folder writable, or set lock.place to state.",
      }]
      : []),
  ];
}

/** Maximum bytes of a file name. */
const LONGEST_NAME = 255;

/**
 * Returns the path of the lock next to a document. It uses the document's name alone, since other machines may have
 * the folder at another path. A name too long for the suffix is replaced by its hash.
 */
export function lockBeside(realPath: string): string {
  const folder = parentOf(realPath);
  const name = realPath.slice(folder === "/" ? 1 : folder.length + 1);
  const fits = new TextEncoder().encode(`.${name}.lock`).length <= LONGEST_NAME;
  return `${folder === "/" ? "" : folder}/.${fits ? name : quickHash(name)}.lock`;
}

/**
 * Returns the key of the file itself if it has several names (hard links), because all of them share one additional
 * lock.
 */
async function sharedKey(realPath: string): Promise<string | null> {
  try {
    const { dev, ino, nlink } = Deno.statSync(realPath);
    return (nlink ?? 1) > 1 ? await documentKey(`file ${dev}:${ino}`) : null;
  } catch (thrown) {
    // If the file is gone, the next open reports it.
    if (isMissing(thrown)) return null;
    throw thrown;
  }
}

async function lockFile(
  { folder, path: lockPath, remedy }: LockFile,
  run: Pick<Holder, "path" | "since">,
  options: LockOptions,
): Promise<Outcome<LockedFile>> {
  const { path: realPath } = run;
  const begun = performance.now();
  try {
    Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
    while (true) {
      const file = await Deno.open(lockPath, { create: true, read: true, write: true, mode: 0o600 });
      if (await file.tryLock(true)) {
        if (isStillAt(file, lockPath)) return success(await take(file, lockPath, run));
        file.close();
        continue;
      }
      const holder = await holderOfLocked(file);
      file.close();
      const patience = Math.max(options.wait * 1000, holder === null ? NAMELESS_MILLISECONDS : 0);
      if (performance.now() - begun >= patience) {
        const who = holder === null ? "another run" : `process ${holder.pid} on ${holder.host}`;
        return failure(
          "document-locked",
          `${realPath} is in use by ${who}.`,
          `Wait until it ends, stop its work with flemma cancel ${operands(realPath)}, or let this command ` +
            "wait with --wait SECONDS.",
        );
      }
      if (options.signal?.aborted === true) {
        return failure("cancelled", `${realPath} is in use, and waiting for it was canceled.`);
      }
      await new Promise((done) => setTimeout(done, POLL_MILLISECONDS));
    }
  } catch (thrown) {
    const refused = runtimeRefusal(thrown);
    if (refused !== null) return { ok: false, problem: refused };
    if (thrown instanceof Deno.errors.NotSupported) {
      return failure(
        "runtime-unsupported",
        `${realPath} cannot be locked: ${thrownText(thrown)}.`,
        "Install flock (part of the package util-linux), or run flemma with a newer Deno.",
      );
    }
    return failure(
      "state-unwritable",
      `Cannot create the lock for ${realPath} in ${folder}: ${thrownText(thrown)}.`,
      remedy,
    );
  }
}

/** How a lock is taken again. */
export interface TakeAgain {
  /** Seconds to wait for another run. */
  readonly wait: number;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
  /** Called once if another run has the lock, before waiting for this run. */
  readonly onBusy?: (problem: Problem) => void;
}

/** The lock of one document, which can be released and taken again. */
export class ReleasableLock {
  readonly #path: string;
  readonly #options: Pick<LockOptions, "environment" | "place">;
  #lock: DocumentLock;
  #isHeld = true;

  /** Takes ownership of a lock. */
  constructor(path: string, lock: DocumentLock, options: Pick<LockOptions, "environment" | "place">) {
    this.#path = path;
    this.#lock = lock;
    this.#options = options;
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** See `DocumentLock`; of the last time that the lock was taken. */
  get leftElsewhere(): boolean {
    return this.#lock.leftElsewhere;
  }

  /** Releases the lock if it is held. Returns what prevented removing the lock file. */
  async release(): Promise<Problem | null> {
    if (!this.#isHeld) return null;
    this.#isHeld = false;
    return await this.#lock.release();
  }

  /** Takes the lock again. Succeeds with the notice about a run that died while it held the lock. */
  async take({ wait, signal, onBusy }: TakeAgain): Promise<Outcome<Problem | null>> {
    const free = await lockDocument(this.#path, { ...this.#options, wait: 0, signal });
    const isBusy = !free.ok && free.problem.code === "document-locked" && wait > 0;
    if (isBusy) onBusy?.(free.problem);
    const taken = isBusy ? await lockDocument(this.#path, { ...this.#options, wait, signal }) : free;
    if (!taken.ok) return taken;
    this.#lock = taken.value;
    this.#isHeld = true;
    return success(taken.value.notice);
  }
}

/** Returns the holder of a document's lock, without taking the lock; null if it is free. */
export async function holderOf(
  realPath: string,
  environment: Environment,
  place?: Settings["lock"]["place"],
): Promise<Holder | null> {
  for (const { path } of await lockFiles(realPath, { environment, place })) {
    const holder = await holderIn(path);
    if (holder !== null) return holder;
  }
  return null;
}

async function holderIn(lockPath: string): Promise<Holder | null> {
  try {
    using file = Deno.openSync(lockPath, { read: true, write: true });
    return await holderOfLocked(file);
  } catch (thrown) {
    if (isMissing(thrown)) return null;
    throw thrown;
  }
}

/**
 * Returns the holder of the exclusive lock on a file; null if there is none or it has not written its name. Checking
 * takes a shared lock briefly, which does not count as a run, even if the file still has the name of a dead one.
 */
async function holderOfLocked(file: Deno.FsFile): Promise<Holder | null> {
  return await file.tryLock(false) ? null : await readHolder(file);
}

async function take(
  file: Deno.FsFile,
  lockPath: string,
  run: Pick<Holder, "path" | "since">,
): Promise<LockedFile> {
  const before = await readHolder(file);
  const boot = bootId();
  const holder: Holder = {
    pid: Deno.pid,
    host: Deno.hostname(),
    ...run,
    ...(boot === null ? {} : { boot }),
  };
  file.truncateSync(0);
  file.seekSync(0, Deno.SeekMode.Start);
  await file.write(new TextEncoder().encode(JSON.stringify(holder)));
  return {
    before,
    async release() {
      try {
        // The name in the file is erased first. If the file cannot be removed, the next run would otherwise take this
        // run for a dead one.
        file.truncateSync(0);
        // The file is removed while it is locked, so that a waiting run sees that its file is no longer at the path. If
        // another process already removed our file, the file that is now at the path may be the lock of another run.
        if (isStillAt(file, lockPath)) await Deno.remove(lockPath);
        return null;
      } catch (thrown) {
        return {
          code: "lock-left",
          message: `Cannot remove the lock file ${lockPath}: ${
            thrownText(thrown)
          }. It does not block other runs.`,
        };
      } finally {
        file.close();
      }
    },
  };
}

/** Returns the boot id of this machine; null if the system does not report one. */
function bootId(): string | null {
  if (Deno.build.os !== "linux") return null;
  try {
    return Deno.readTextFileSync("/proc/sys/kernel/random/boot_id").trim();
  } catch {
    // Without /proc the lock still works.
    return null;
  }
}

/** A holder removes its file on release, so the file that we locked may no longer be the one that other runs open. */
function isStillAt(file: Deno.FsFile, lockPath: string): boolean {
  const ours = file.statSync();
  try {
    const there = Deno.statSync(lockPath);
    return there.ino === ours.ino && there.dev === ours.dev;
  } catch (thrown) {
    if (isMissing(thrown)) return false;
    throw thrown;
  }
}

/** Reads the holder's name from a file that was just opened. */
async function readHolder(file: Deno.FsFile): Promise<Holder | null> {
  const buffer = new Uint8Array(8192);
  const length = await file.read(buffer) ?? 0;
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(buffer.subarray(0, length)));
    return isHolder(value) ? value : null;
  } catch {
    // The file is empty or half written. If it is locked, the holder has no name yet.
    return null;
  }
}

function isHolder(value: unknown): value is Holder {
  return typeof value === "object" && value !== null && "pid" in value && typeof value.pid === "number" &&
    "host" in value && typeof value.host === "string";
}
