// Puts placeholders into documents, and takes them out again. Each document is locked meanwhile.

import type { Environment } from "../base/environment.ts";
import { sha256 } from "../base/hash.ts";
import type { Problem } from "../base/problem.ts";
import { openFile } from "../cycle/storage/file_store.ts";
import type { FileStore } from "../cycle/storage/file_store.ts";
import { placePlaceholder } from "../parser/edits/placeholder.ts";
import type { Chat } from "../parser/types.ts";
import { replyPlaceholder } from "../parser/view/placeholder.ts";
import { ReplyStore } from "./reply_store.ts";
import type { BatchItem } from "./types.ts";

/** True if a document begins with the text that was sent. */
export async function isAsSent(
  chat: Chat,
  { bytes, text }: Pick<BatchItem, "bytes" | "text">,
): Promise<boolean> {
  if (chat.byteLength < bytes) return false;
  return await sha256(chat.slice(0, bytes) as Uint8Array<ArrayBuffer>) === text;
}

/** Puts the placeholder of a request into its document, if the document is still the text that is sent. */
export function placeIn(environment: Environment, item: BatchItem, batch: string): Promise<Problem | null> {
  return withStore(environment, item, item.path, async (store) => {
    const { chat } = store;
    if (chat.byteLength !== item.bytes || !await isAsSent(chat, item)) {
      return { code: "document-changed", message: "It was changed while the batch was made." };
    }
    return await store.commit([placePlaceholder(chat, batch, item.item)]);
  });
}

/**
 * Takes the placeholder of a request out of a document. Without changes by others, the document is then what it was
 * before the batch.
 *
 * @param path the document
 * @returns null if the document does not have the placeholder any more
 */
export function takeOut(
  environment: Environment,
  item: BatchItem,
  path = item.path,
): Promise<Problem | null> {
  return withStore(environment, item, path, async (store) => {
    const placeholder = replyPlaceholder(store.chat);
    if (placeholder?.item !== item.item) return null;
    if (await isAsSent(store.chat, item)) {
      return await new ReplyStore(store, item.item, item.bytes).takeBack();
    }
    const { from, to } = placeholder.place;
    return await store.commit([{ from, to, insert: "" }]);
  });
}

async function withStore(
  environment: Environment,
  { lock }: Pick<BatchItem, "lock">,
  path: string,
  work: (store: FileStore) => Promise<Problem | null>,
): Promise<Problem | null> {
  const opened = await openFile(path, { environment, wait: 5, place: lock });
  if (!opened.ok) return opened.problem;
  try {
    return await work(opened.value);
  } finally {
    await opened.value.close();
  }
}
