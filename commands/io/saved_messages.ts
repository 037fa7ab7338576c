// Saves the messages of filter runs per document; `flemma status --last` shows them.

import { isMissing } from "../../base/files.ts";
import type { Environment } from "../../base/environment.ts";
import { sha256 } from "../../base/hash.ts";
import type { Chat } from "../../parser/types.ts";
import { documentKey, stateFolder } from "../../cycle/storage/state_files.ts";

/** Number of documents whose messages are saved. The least recently written messages are removed. */
const MAX_SAVED = 50;

/** The key for runs that end before a document is read, and for documents without a turn. */
const NO_DOCUMENT = "none";

function messagesFolder(environment: Environment): string {
  return `${stateFolder(environment)}/messages`;
}

/** Returns the key for saved messages: derived from the document's path, else from its first turn. */
export async function messagesKey(chat: Chat, path: string | null): Promise<string> {
  if (path !== null) return await documentKey(path);
  const first = chat.turns[0];
  if (first === undefined) return NO_DOCUMENT;
  return (await sha256(chat.slice(first.place.from, first.place.to).slice())).slice(0, 32);
}

/** Replaces the saved messages of a document's last run. Throws file system errors. */
export function keepMessages(
  environment: Environment,
  key: string | null,
  messages: readonly string[],
): void {
  const folder = messagesFolder(environment);
  Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const text = messages.map((message) => message + "\n").join("");
  Deno.writeTextFileSync(`${folder}/${key ?? NO_DOCUMENT}.txt`, text, { mode: 0o600 });
  for (const { path } of newestFirst(folder).slice(MAX_SAVED)) removeQuietly(path);
}

/** Returns the saved messages of a document, or of the latest run if `key` is null; null if there are none. */
export async function lastMessages(environment: Environment, key: string | null): Promise<string | null> {
  const folder = messagesFolder(environment);
  try {
    const path = key === null ? newestFirst(folder)[0]?.path : `${folder}/${key}.txt`;
    return path === undefined ? null : await Deno.readTextFile(path);
  } catch (thrown) {
    if (isMissing(thrown)) return null;
    throw thrown;
  }
}

function newestFirst(folder: string): { readonly path: string; readonly time: number }[] {
  return [...Deno.readDirSync(folder)]
    .map(({ name }) => `${folder}/${name}`)
    .map((path) => ({ path, time: timeOf(path) }))
    .sort((a, b) => b.time - a.time);
}

/** Returns the time at which a file was written; 0 for a file that another run has just removed. */
function timeOf(path: string): number {
  try {
    return Deno.statSync(path).mtime?.getTime() ?? 0;
  } catch (thrown) {
    if (isMissing(thrown)) return 0;
    throw thrown;
  }
}

function removeQuietly(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (thrown) {
    if (!isMissing(thrown)) throw thrown;
  }
}
