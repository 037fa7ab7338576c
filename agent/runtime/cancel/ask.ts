// Finds the runs of other processes and sends them cancel requests.

import type { Environment } from "../../../base/environment.ts";
import { removeIfThere, replaceSmallFile } from "../../../base/files.ts";
import { isObject } from "../../../base/is_object.ts";
import { answerPath, GONE, removeRunFolder, type RunInfo } from "./listen.ts";
import {
  ANSWERED,
  ASKED,
  type CancelAnswer,
  type CancelRequest,
  decodeAnswer,
  encode,
  RUN_FILE,
  runsFolder,
} from "./request.ts";

/** A live run of this or another process. */
export interface LiveRun extends RunInfo {
  /** Folder in which the run receives requests. */
  readonly folder: string;
}

/** Milliseconds to wait for an answer. A run checks for requests every 100 milliseconds. */
const PATIENCE = 10_000;
const CHECK_EVERY = 20;

/**
 * Milliseconds after which leftovers are removed. Leftovers are empty files of runs that were killed before they wrote
 * the file, and answers whose receivers were killed.
 */
const NAMELESS_MILLISECONDS = 60_000;

/** Lists the live runs, oldest first. Removes the leftovers of killed runs. */
export async function liveRuns(environment: Environment): Promise<readonly LiveRun[]> {
  const root = runsFolder(environment);
  const runs: LiveRun[] = [];
  try {
    for await (const { name } of Deno.readDir(root)) {
      const folder = `${root}/${name}`;
      if (name.endsWith(ANSWERED)) {
        await removeOld(folder);
        continue;
      }
      const info = await runIn(folder);
      if (info === "over") await removeRunFolder(folder);
      else if (info !== "unknown" && !name.endsWith(GONE)) runs.push({ ...info, folder });
    }
  } catch (thrown) {
    if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
  }
  return runs.sort((a, b) => (a.since < b.since ? -1 : 1));
}

/** Removes an answer that nobody has fetched. */
async function removeOld(path: string): Promise<void> {
  const { mtime } = await Deno.lstat(path);
  if (Date.now() - (mtime?.getTime() ?? 0) > NAMELESS_MILLISECONDS) await removeIfThere(path);
}

/**
 * Returns the run that a folder belongs to; `unknown` if the folder is still being created or does not belong to a
 * run.
 */
async function runIn(folder: string): Promise<RunInfo | "over" | "unknown"> {
  try {
    using file = await Deno.open(`${folder}/${RUN_FILE}`, { read: true, write: true });
    const alive = !await file.tryLock(true);
    if (alive) return infoIn(await Deno.readTextFile(`${folder}/${RUN_FILE}`)) ?? "unknown";
    // For a moment after its creation, the file of a run is empty and not locked.
    const { size, mtime } = await file.stat();
    return size > 0 || Date.now() - (mtime?.getTime() ?? 0) > NAMELESS_MILLISECONDS ? "over" : "unknown";
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound || thrown instanceof Deno.errors.NotADirectory) {
      return "unknown";
    }
    throw thrown;
  }
}

function infoIn(text: string): RunInfo | null {
  try {
    const value: unknown = JSON.parse(text);
    return isInfo(value) ? value : null;
  } catch {
    // The file is still being written.
    return null;
  }
}

function isInfo(value: unknown): value is RunInfo {
  return isObject(value) && typeof value.path === "string" && typeof value.pid === "number" &&
    typeof value.host === "string" && typeof value.since === "string";
}

/**
 * Sends a request to a run. `over` means that the run ended before it answered. `silent` means that the run is alive
 * but does not answer, for instance because its process is suspended. The request is then withdrawn, so that it does
 * not take effect later.
 */
export async function sendCancelRequest(
  { folder }: LiveRun,
  request: CancelRequest,
  { patience = PATIENCE }: { readonly patience?: number } = {},
): Promise<CancelAnswer | "over" | "silent"> {
  const question = crypto.randomUUID();
  const asked = `${folder}/${question}${ASKED}`;
  const answered = answerPath(folder, question);
  const until = performance.now() + patience;
  try {
    await replaceSmallFile(asked, encode({ request, pid: Deno.pid }), { durable: false });
    while (true) {
      const answer = await answerAt(answered);
      if (answer !== null) return answer;
      if (await isOver(folder)) return await answerAt(answered) ?? "over";
      if (performance.now() > until) return await takeBack(asked, answered) ?? "silent";
      await new Promise((done) => setTimeout(done, CHECK_EVERY));
    }
  } catch (thrown) {
    // The folder was removed before the request was written.
    if (thrown instanceof Deno.errors.NotFound) return "over";
    throw thrown;
  }
}

/** Waits for the end of a run; false if it has not ended after `patience` milliseconds. */
export async function waitForEnd({ folder }: LiveRun, patience: number): Promise<boolean> {
  const until = performance.now() + patience;
  while (!await isOver(folder)) {
    if (performance.now() > until) return false;
    await new Promise((done) => setTimeout(done, CHECK_EVERY));
  }
  return true;
}

async function isOver(folder: string): Promise<boolean> {
  try {
    using file = await Deno.open(`${folder}/${RUN_FILE}`, { read: true, write: true });
    return await file.tryLock(true);
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return true;
    throw thrown;
  }
}

async function answerAt(path: string): Promise<CancelAnswer | null> {
  try {
    const answer = decodeAnswer(await Deno.readTextFile(path));
    await removeIfThere(path);
    return answer;
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return null;
    throw thrown;
  }
}

/** Withdraws a request and returns null. If the run has just taken the request, returns the run's answer instead. */
async function takeBack(asked: string, answered: string): Promise<CancelAnswer | null> {
  try {
    await Deno.remove(asked);
    return null;
  } catch (thrown) {
    if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
    await new Promise((done) => setTimeout(done, CHECK_EVERY));
    return await answerAt(answered);
  }
}
