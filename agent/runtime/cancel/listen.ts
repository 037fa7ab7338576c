// Lets other processes ask a run to cancel something: announces the run in the state folder and checks that folder for
// requests. Sandboxed commands cannot write to that folder, so no tool can cancel another.

import type { Environment } from "../../../base/environment.ts";
import { removeIfThere, replaceSmallFile, writeAll } from "../../../base/files.ts";
import { parentOf } from "../../../base/paths.ts";
import { after } from "../../../base/system/timer.ts";
import {
  ANSWERED,
  ASKED,
  type AskedBy,
  type CancelAnswer,
  decodeRequest,
  encode,
  RUN_FILE,
  runsFolder,
} from "./request.ts";

/** Milliseconds between two checks. */
const CHECK_EVERY = 100;

/** Description of a run, as stored in its file. */
export interface RunInfo {
  /** Real path of the document. */
  readonly path: string;
  readonly pid: number;
  readonly host: string;
  /** Start of the run, ISO 8601. */
  readonly since: string;
}

export interface ListenParts {
  readonly environment: Environment;
  /** Real path of the document. */
  readonly path: string;
  /** Carries out a request. */
  answer(asked: AskedBy): CancelAnswer;
  /** Called once, with the reason why requests can no longer be received. */
  reportFailure(thrown: unknown): void;
}

/** Starts listening; returns a function that stops it. */
export async function listen(parts: ListenParts): Promise<() => Promise<void>> {
  let place: Awaited<ReturnType<typeof tell>> | null = await tell(parts);
  let checking = Promise.resolve();
  let rest: () => void;
  const checkOnce = async () => {
    if (place === null || await check(place.folder, parts)) return;
    // The person may remove the state folder at any time, so the run is announced again for later requests.
    place.file.close();
    place = null;
    place = await tell(parts);
  };
  // Only one check runs at a time, because parallel checks would pile up under load.
  const later = () => {
    rest = after(CHECK_EVERY, () => checking = checkOnce().then(later, parts.reportFailure));
  };
  later();
  return async () => {
    rest();
    await checking;
    rest();
    if (place === null) return;
    await removeRunFolder(place.folder);
    place.file.close();
  };
}

/** Announces this run in the state folder. */
async function tell({ environment, path }: ListenParts) {
  const folder = `${runsFolder(environment)}/${crypto.randomUUID()}`;
  Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = Deno.openSync(`${folder}/${RUN_FILE}`, { createNew: true, write: true, mode: 0o600 });
  // The file is locked before it has content. For another process, a locked empty file means that the run is about to
  // begin.
  await file.lock(true);
  const info: RunInfo = { path, pid: Deno.pid, host: Deno.hostname(), since: new Date().toISOString() };
  await writeAll(file, new TextEncoder().encode(JSON.stringify(info)));
  return { folder, file };
}

/**
 * Answers each request once: the process that removes the request file first, the sender or the run, owns the request.
 * Returns false if the folder is gone. Answers are stored outside this folder, because it is removed with the run, and
 * the last request often ends the run.
 */
async function check(folder: string, { answer }: ListenParts): Promise<boolean> {
  const names = await namesIn(folder);
  if (names === null) return false;
  for (const name of names) {
    if (!name.endsWith(ASKED)) continue;
    const path = `${folder}/${name}`;
    try {
      const text = await Deno.readTextFile(path);
      Deno.removeSync(path);
      const asked = decodeRequest(text);
      if (asked === null) continue;
      await replaceSmallFile(answerPath(folder, name.slice(0, -ASKED.length)), encode(answer(asked)), {
        durable: false,
      });
    } catch (thrown) {
      // The sender has withdrawn the request.
      if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
    }
  }
  return true;
}

async function namesIn(folder: string): Promise<readonly string[] | null> {
  try {
    return (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return null;
    throw thrown;
  }
}

/** Returns the path for the answer to a request in a run's folder. */
export function answerPath(folder: string, question: string): string {
  return `${parentOf(folder)}/${question}${ANSWERED}`;
}

/** Suffix of a folder that is being removed. */
export const GONE = ".gone";

/** Removes the folder of a run: renames it first, so that nobody adds a file meanwhile. */
export async function removeRunFolder(folder: string): Promise<void> {
  const gone = `${folder}${GONE}`;
  try {
    Deno.renameSync(folder, gone);
    for await (const { name } of Deno.readDir(gone)) await removeIfThere(`${gone}/${name}`);
    Deno.removeSync(gone);
  } catch (thrown) {
    // Another process already removed the folder, because the run had ended.
    if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
  }
}
