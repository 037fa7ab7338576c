// Documents that a person may look for: in the folder, of `flemma ask`, and those that flemma made or knows.

import type { Environment } from "../../base/environment.ts";
import { stateFolder } from "../../base/folders.ts";
import { CHATS } from "../../base/paths.ts";
import { type Outcome, success } from "../../base/problem.ts";
import { readRegular } from "../../base/system/regular_file.ts";
import { trustedEntries } from "../../config/sources/trust.ts";
import { waitingDocuments } from "../../cycle/storage/waiting_documents.ts";
import { parse } from "../../parser/mod.ts";
import { MOST_TEXT_BYTES } from "../../base/bytes.ts";

export interface KnownDocument {
  /** Real path. */
  readonly path: string;
  /** Time of the last change, ISO 8601. */
  readonly changed: string;
  /** The first line of the person's first message; empty if there is none. */
  readonly question: string;
}

/**
 * Finds documents whose text contains all of the words, in any case, the last changed one first. Files that cannot be
 * read are left out.
 *
 * @param asks the folder of `flemma ask`
 */
export async function findDocuments(
  environment: Environment,
  { asks, words }: { readonly asks: string; readonly words: readonly string[] },
): Promise<Outcome<readonly KnownDocument[]>> {
  const trusted = trustedEntries(environment);
  if (!trusted.ok) return trusted;
  const paths = [
    ...[environment.cwd, `${environment.cwd}/chats`, `${environment.cwd}/${CHATS}`].flatMap(chatsIn),
    ...[asks, `${stateFolder(environment)}/asks`].flatMap(chatsIn),
    ...trusted.value.map(({ path }) => path).filter((path) => path.endsWith(".chat")),
    ...waitingDocuments(environment),
  ];
  const wanted = words.map((word) => word.toLowerCase());
  const found = new Map<string, KnownDocument>();
  for (const named of paths) {
    try {
      const path = await Deno.realPath(named);
      if (found.has(path)) continue;
      const { mtime } = await Deno.stat(path);
      const bytes = await readRegular(path, MOST_TEXT_BYTES);
      const text = new TextDecoder().decode(bytes);
      const lower = text.toLowerCase();
      if (!wanted.every((word) => lower.includes(word))) continue;
      found.set(path, {
        path,
        changed: (mtime ?? new Date(0)).toISOString(),
        question: firstQuestion(bytes),
      });
    } catch {
      // It is gone or unreadable, so it cannot be continued either.
    }
  }
  return success([...found.values()].sort((a, b) => (a.changed < b.changed ? 1 : -1)));
}

function chatsIn(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].filter(({ name }) => name.endsWith(".chat"))
      .map(({ name }) => `${folder}/${name}`);
  } catch {
    return []; // There is no such folder.
  }
}

function firstQuestion(bytes: Uint8Array<ArrayBuffer>): string {
  const chat = parse(bytes);
  const turn = chat.turns.find(({ role }) => role === "You");
  if (turn === undefined) return "";
  const lines = chat.text(turn.place.from, turn.place.to).split("\n").slice(1);
  return lines.find((line) => line.trim() !== "")?.trim() ?? "";
}
