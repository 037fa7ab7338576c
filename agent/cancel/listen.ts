// Lets other processes ask a run to cancel something, while it goes on: it tells of itself in the state folder, and looks
// there for what is asked. Commands in the sandbox cannot write there, so that no tool can end another.

import type { Environment } from "../../base/environment.ts";
import { removeIfThere, replaceSmallFile, writeAll } from "../../base/files.ts";
import { stateFolder } from "../../base/folders.ts";
import { parentOf } from "../../base/paths.ts";
import { after } from "../../base/system/timer.ts";
import {
  ANSWERED,
  ASKED,
  type AskedBy,
  type CancelAnswer,
  decodeRequest,
  encode,
  RUN_FILE,
} from "./request.ts";

/** Milliseconds between two looks. */
const CHECK_EVERY = 100;

/** The folder with a folder for each run. */
export function runsFolder(environment: Environment): string {
  return `${stateFolder(environment)}/running`;
}

/** Which run a folder belongs to, as its file has it. */
export interface RunInfo {
  /** Real path of the document. */
  readonly path: string;
  readonly pid: number;
  readonly host: string;
  /** When the run began, ISO 8601. */
  readonly since: string;
}

export interface ListenParts {
  readonly environment: Environment;
  /** Real path of the document. */
  readonly path: string;
  /** Does what is asked. */
  answer(asked: AskedBy): CancelAnswer;
  /** Told once why nobody can be heard any more. */
  deaf(thrown: unknown): void;
}

/** Begins to listen; gives a function that ends it. */
export async function listen(parts: ListenParts): Promise<() => Promise<void>> {
  let place: Awaited<ReturnType<typeof tell>> | null = await tell(parts);
  let checking = Promise.resolve();
  let rest: () => void;
  const checkOnce = async () => {
    if (place === null || await check(place.folder, parts)) return;
    // Somebody removed the state, as one may; who asks later finds this run again.
    place.file.close();
    place = null;
    place = await tell(parts);
  };
  // One look after the other: under load they would pile up.
  const later = () => {
    rest = after(CHECK_EVERY, () => checking = checkOnce().then(later, parts.deaf));
  };
  later();
  return async () => {
    rest();
    await checking;
    rest();
    if (place === null) return;
    await forget(place.folder);
    place.file.close();
  };
}

/** Says in the state folder that this run goes on. */
async function tell({ environment, path }: ListenParts) {
  const folder = `${runsFolder(environment)}/${crypto.randomUUID()}`;
  Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = Deno.openSync(`${folder}/${RUN_FILE}`, { createNew: true, write: true, mode: 0o600 });
  // Locked before it says anything: whoever finds it silent knows that the run is about to begin.
  await file.lock(true);
  const info: RunInfo = { path, pid: Deno.pid, host: Deno.hostname(), since: new Date().toISOString() };
  await writeAll(file, new TextEncoder().encode(JSON.stringify(info)));
  return { folder, file };
}

/**
 * Answers each question once: whoever takes it away first has it, its asker or its run. False where the folder is gone.
 * Answers do not lie in the folder, which goes with the run: the last one is often what ends it.
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
      // The asker gave up.
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

/** Where the answer to a question is put that lies in the folder of a run. */
export function answerPath(folder: string, question: string): string {
  return `${parentOf(folder)}/${question}${ANSWERED}`;
}

/** Ends the name of a folder that is being taken away. */
export const GONE = ".gone";

/** Takes the folder of a run away: out of sight first, so that nobody puts anything into it meanwhile. */
export async function forget(folder: string): Promise<void> {
  const gone = `${folder}${GONE}`;
  try {
    Deno.renameSync(folder, gone);
    for await (const { name } of Deno.readDir(gone)) await removeIfThere(`${gone}/${name}`);
    Deno.removeSync(gone);
  } catch (thrown) {
    // Somebody else did, who found that the run had ended.
    if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
  }
}
