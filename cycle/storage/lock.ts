// One run at a time per document: an advisory lock that the system releases when its holder dies.

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

/** Written into the lock file so that others can name who holds it. */
export interface Holder {
  /** Number of the process. */
  readonly pid: number;
  /** Name of its machine. */
  readonly host: string;
  /** Real path of the document. */
  readonly path: string;
  /** Which start of that machine it belongs to, where the system names it. */
  readonly boot?: string;
  /** When it took the lock, ISO 8601: process ids are reused, in containers immediately. */
  readonly since?: string;
}

export interface DocumentLock {
  /** Says that a dead run's lock was taken over, when that happened. */
  readonly notice: Problem | null;
  /** Whether the killed run has another journal, for instance on another machine, so that ours does not hold what it began. */
  readonly leftElsewhere: boolean;
  /** Gives the lock back. Answers what was in the way of doing that without a trace; the lock is free all the same. */
  release(): Promise<Problem | null>;
}

export interface LockOptions {
  readonly environment: Environment;
  /** Seconds to wait for another run; 0 fails immediately. */
  readonly wait: number;
  /** Where it lies. @default state */
  readonly place?: Settings["lock"]["place"];
  /** Aborting it ends the waiting. */
  readonly signal?: AbortSignal;
}

const POLL_MILLISECONDS = 50;

/** A holder without a name is one that looks, or that is about to write its name: worth a moment. */
const NAMELESS_MILLISECONDS = 500;

/**
 * Locks the document whose real path is given, waiting at most `wait` seconds.
 *
 * The lock is the system's own on an open file, not the existence of the file: it cannot outlive its holder,
 * whatever namespace the holder's process number belongs to. The text inside only names the holder; finding some
 * after the lock was granted means the holder died without saying goodbye. Fails with `document-locked`, or with
 * `cancelled` when the signal ends the waiting.
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

/** One file that is locked. */
interface LockedFile {
  /** The run that died while it held the lock; null when none did. */
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
      `An earlier run (process ${pid} on ${host}) ended without finishing. Going on from what it wrote.`,
  };
}

/** The lock file of a document, and what to do where it cannot be made. */
interface LockFile {
  readonly folder: string;
  readonly path: string;
  readonly remedy: string;
}

/** All files whose locks one run must hold, in the order in which every run takes them. */
async function lockFiles(
  realPath: string,
  { environment, place }: Pick<LockOptions, "environment" | "place">,
): Promise<readonly LockFile[]> {
  const folder = `${stateFolder(environment)}/locks`;
  const remedy = "Make that folder writable, or name another one with XDG_STATE_HOME.";
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

/** Most bytes of a name. */
const LONGEST_NAME = 255;

/**
 * The lock beside a document. Named by the document's name alone: other machines may have its folder elsewhere. A name
 * that has no room for more stands in it as its hash.
 */
export function lockBeside(realPath: string): string {
  const folder = parentOf(realPath);
  const name = realPath.slice(folder === "/" ? 1 : folder.length + 1);
  const fits = new TextEncoder().encode(`.${name}.lock`).length <= LONGEST_NAME;
  return `${folder === "/" ? "" : folder}/.${fits ? name : quickHash(name)}.lock`;
}

/** Names the file itself where it has several names (hard links): all of them share one more lock. */
async function sharedKey(realPath: string): Promise<string | null> {
  try {
    const { dev, ino, nlink } = Deno.statSync(realPath);
    return (nlink ?? 1) > 1 ? await documentKey(`file ${dev}:${ino}`) : null;
  } catch (thrown) {
    // Whoever opens it next says that it is gone.
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
          `Wait for it to end, stop what it runs with flemma cancel ${
            operands(realPath)
          }, or let this command ` +
            "wait with --wait SECONDS.",
        );
      }
      if (options.signal?.aborted === true) {
        return failure("cancelled", `${realPath} is in use; waiting for it was stopped.`);
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
        "Install flock (it comes with the package util-linux), or run flemma with a newer Deno.",
      );
    }
    return failure(
      "state-unwritable",
      `The lock for ${realPath} cannot be made in ${folder}: ${thrownText(thrown)}.`,
      remedy,
    );
  }
}

/** The holder of a document's lock, without taking it; null if it is free. */
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
 * Who has the lock of a file alone, as runs have it; null where nobody does, or has not said its name. Whoever looks shares
 * the lock for a moment: that is no run, whatever name of a dead one still stands in the file.
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
        // Nameless from here on: should it have to stay, the next run must not take it for that of a dead one.
        file.truncateSync(0);
        // Removed while still held: whoever waits on this file finds that it is no longer the one at the path. Where
        // somebody removed it before, another run may have one of its own there.
        if (isStillAt(file, lockPath)) await Deno.remove(lockPath);
        return null;
      } catch (thrown) {
        return {
          code: "lock-left",
          message: `The lock file ${lockPath} cannot be removed: ${thrownText(thrown)}. It holds nobody up.`,
        };
      } finally {
        file.close();
      }
    },
  };
}

/** Which start of this machine this is; null where the system does not say. */
function bootId(): string | null {
  if (Deno.build.os !== "linux") return null;
  try {
    return Deno.readTextFileSync("/proc/sys/kernel/random/boot_id").trim();
  } catch {
    // No /proc in this place: the lock holds all the same.
    return null;
  }
}

/** A holder removes its file on release, so the file we locked may no longer be the one others would open. */
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

async function readHolder(file: Deno.FsFile): Promise<Holder | null> {
  const buffer = new Uint8Array(8192);
  file.seekSync(0, Deno.SeekMode.Start);
  const length = await file.read(buffer) ?? 0;
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(buffer.subarray(0, length)));
    return isHolder(value) ? value : null;
  } catch {
    // Empty, or its holder is writing it: if it is held, the holder has no name yet.
    return null;
  }
}

function isHolder(value: unknown): value is Holder {
  return typeof value === "object" && value !== null && "pid" in value && typeof value.pid === "number" &&
    "host" in value && typeof value.host === "string";
}
