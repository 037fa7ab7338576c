// Stores the conversations of an agent: each is a document, identified to clients by an id made from its real path.

import { newChat } from "../../agent/conversation/new_chat.ts";
import { isMissing } from "../../base/files.ts";
import type { Environment } from "../../base/environment.ts";
import { baseName, CHATS, isInside, parentOf } from "../../base/paths.ts";
import { failure, type Outcome, success, thrownText } from "../../base/problem.ts";

/** The protocol's entry for a conversation in a list. */
export interface ListedConversation {
  readonly sessionId: string;
  readonly cwd: string;
  readonly title: string;
  readonly updatedAt: string;
}

/** Returns the id of a conversation. The id is the same after every start, and opaque to clients. */
export function idOf(path: string): string {
  const bytes = new TextEncoder().encode(path);
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** Returns the real path of an id; null for any other text. */
function pathOfId(id: string): string | null {
  try {
    const text = atob(id.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
    const path = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return path.startsWith("/") && path.endsWith(".chat") ? path : null;
  } catch {
    // The text was not made by `idOf`.
    return null;
  }
}

/** Creates a conversation in `.flemma/chats` of a folder; returns its real path. */
export async function begin(environment: Environment, cwd: string, now: Date): Promise<Outcome<string>> {
  const folder = `${cwd}/${CHATS}`;
  try {
    await Deno.mkdir(folder, { recursive: true });
  } catch (thrown) {
    return failure("document-unwritable", `${folder} cannot be created: ${thrownText(thrown)}.`);
  }
  const [day, time] = now.toISOString().split("T");
  const name = `${day}-${time!.slice(0, 8).replaceAll(":", "")}-${crypto.randomUUID().slice(0, 4)}.chat`;
  const made = await newChat(`${folder}/${name}`, {}, { environment });
  return made.ok ? success(made.value.path) : made;
}

/** Finds the document of an id, if it is below a folder; otherwise returns why not. */
export async function findConversation(id: string, cwd: string): Promise<Outcome<string>> {
  const unknown = failure(
    "unknown-session",
    "There is no such conversation.",
    "Create one, or list them.",
  );
  const path = pathOfId(id);
  if (path === null) return unknown;
  try {
    const [real, folder] = await Promise.all([Deno.realPath(path), Deno.realPath(cwd)]);
    if (real !== path || !isInside(real, folder)) {
      return failure(
        "unknown-session",
        `The conversation is not in ${cwd}.`,
        "Open it from its own folder.",
      );
    }
    return success(real);
  } catch {
    return unknown;
  }
}

/** Lists the documents of a folder and of its `.flemma/chats`, newest first. */
export async function listConversations(cwd: string): Promise<ListedConversation[]> {
  const found: ListedConversation[] = [];
  for (const folder of [cwd, `${cwd}/${CHATS}`]) {
    try {
      const real = await Deno.realPath(folder);
      for await (const { name, isFile } of Deno.readDir(real)) {
        if (!isFile || !name.endsWith(".chat")) continue;
        const path = `${real}/${name}`;
        const { mtime } = await Deno.stat(path);
        found.push({
          sessionId: idOf(path),
          cwd,
          title: name,
          updatedAt: (mtime ?? new Date(0)).toISOString(),
        });
      }
    } catch (thrown) {
      if (!isMissing(thrown)) throw thrown;
    }
  }
  return found.sort((a, b) => a.updatedAt < b.updatedAt ? 1 : -1);
}

/**
 * Moves a conversation of an agent to the trash next to it. Refuses documents outside of the agent's folder, which
 * only the person deletes.
 */
export async function discard(id: string): Promise<Outcome<null>> {
  const path = pathOfId(id);
  const folder = path === null ? "" : parentOf(path);
  if (path === null || !folder.endsWith(`/${CHATS}`)) {
    return failure(
      "not-ours",
      "Only conversations in .flemma/chats can be deleted.",
      "Delete the file yourself.",
    );
  }
  try {
    await Deno.mkdir(`${folder}/trash`, { recursive: true });
    await Deno.link(path, `${folder}/trash/${baseName(path)}`);
    await Deno.remove(path);
    return success(null);
  } catch (thrown) {
    return failure("document-unwritable", `It cannot be moved to the trash: ${thrownText(thrown)}.`);
  }
}
