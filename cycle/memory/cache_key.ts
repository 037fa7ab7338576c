// The key under which a provider caches a conversation: a random id, which says nothing about the document or this
// machine.

import type { Environment } from "../../base/environment.ts";
import { createFile } from "../../base/files.ts";
import { stateFolder } from "../../base/folders.ts";
import { sha256 } from "../../base/hash.ts";
import { callerOf } from "../../base/paths.ts";
import type { Chat, Turn } from "../../parser/types.ts";

/** Ids of this process that could not be stored, by the name of their file. */
const unstored = new Map<string, string>();

/**
 * Returns the id of a conversation, and creates it if there is none; null if the document has no message. It is stored
 * by the digest of the first message and its reply, which a document keeps when it is moved, renamed or continued, and
 * which another conversation with the same question does not have. Before the first reply, the path tells them apart.
 * All helpers of a document have the same id.
 */
export async function cacheKey(
  chat: Chat,
  document: string,
  environment: Environment,
): Promise<string | null> {
  const at = chat.turns.findIndex(({ role }) => role === "You");
  if (at < 0) return null;
  const reply = chat.turns.slice(at).find(({ role }) => role === "Assistant");
  const folder = `${stateFolder(environment)}/cache_keys`;
  const caller = callerOf(document);
  if (caller !== null) {
    // Helpers of one document begin with the same tools and instructions, which the provider then caches once.
    const shared = `${folder}/helpers-${await digest([caller])}`;
    return findId(shared) ?? await storeId(folder, shared, newId());
  }
  const question = textOf(chat, chat.turns[at]!);
  const first = `${folder}/first-${await digest([document, question])}`;
  if (reply === undefined) return findId(first) ?? await storeId(folder, first, newId());
  const begun = `${folder}/${await digest([question, textOf(chat, reply)])}`;
  const known = findId(begun);
  if (known !== null) return known;
  const id = await storeId(folder, begun, findId(first) ?? newId());
  // Another conversation at this path may begin with the same message, and gets an id of its own.
  forget(first);
  return id;
}

/** Returns the text of a turn without the blank lines at its end, whose number depends on what follows. */
function textOf(chat: Chat, { place }: Turn): string {
  return new TextDecoder().decode(chat.slice(place.from, place.to)).trim();
}

async function digest(texts: readonly string[]): Promise<string> {
  return (await sha256(JSON.stringify(texts))).slice(0, 32);
}

function newId(): string {
  return crypto.randomUUID().replaceAll("-", "");
}

/** Stores an id in a file, and returns the id that the file contains. */
async function storeId(folder: string, path: string, id: string): Promise<string> {
  try {
    Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
    await createFile(path, new TextEncoder().encode(`${id}\n`));
    return id;
  } catch {
    // Another process may have created the id meanwhile. If the folder cannot be written, which the journal reports,
    // only the cache of later processes suffers.
    const other = findId(path) ?? id;
    unstored.set(path, other);
    return other;
  }
}

/** Returns a stored id; null if there is none or it is unreadable. */
function findId(path: string): string | null {
  const own = unstored.get(path);
  if (own !== undefined) return own;
  try {
    const id = Deno.readTextFileSync(path).trim();
    return /^[0-9a-f]{32}$/.test(id) ? id : null;
  } catch {
    // Without a stored id, this process uses one of its own.
    return null;
  }
}

function forget(path: string): void {
  unstored.delete(path);
  try {
    Deno.removeSync(path);
  } catch {
    // The id was never stored, or the folder cannot be written, which the journal reports.
  }
}
