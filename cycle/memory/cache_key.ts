// The key under which a provider caches a document: a random id, which says nothing about the document or this machine.

import type { Environment } from "../../base/environment.ts";
import { createFile } from "../../base/files.ts";
import { stateFolder } from "../../base/folders.ts";
import { sha256 } from "../../base/hash.ts";
import type { Chat } from "../../parser/types.ts";

/** Ids of this process that could not be stored, by the digest of the document's beginning. */
const unstored = new Map<string, string>();

/**
 * Returns the id of a document, and creates it if there is none. It is stored by the digest of the first message, which
 * a document keeps when it is moved, renamed or continued. Without that message, a cached prompt is useless anyway.
 */
export async function cacheKey(chat: Chat, environment: Environment): Promise<string | null> {
  const first = chat.turns.find(({ role }) => role === "You");
  if (first === undefined) return null;
  // What follows a message decides how many blank lines end it.
  const text = new TextDecoder().decode(chat.slice(first.place.from, first.place.to)).trim();
  const digest = (await sha256(text)).slice(0, 32);
  const path = `${stateFolder(environment)}/cache_keys/${digest}`;
  const known = unstored.get(digest) ?? readId(path);
  if (known !== null) return known;
  const id = crypto.randomUUID().replaceAll("-", "");
  try {
    Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true, mode: 0o700 });
    await createFile(path, new TextEncoder().encode(`${id}\n`));
    return id;
  } catch {
    // Another process may have created the id meanwhile. If the folder cannot be written, which the journal reports,
    // only the cache of later processes suffers.
    const other = readId(path) ?? id;
    unstored.set(digest, other);
    return other;
  }
}

/** Returns a stored id; null if there is none or it is unreadable. */
function readId(path: string): string | null {
  try {
    const id = Deno.readTextFileSync(path).trim();
    return /^[0-9a-f]{32}$/.test(id) ? id : null;
  } catch {
    // Without a stored id, this process uses one of its own.
    return null;
  }
}
