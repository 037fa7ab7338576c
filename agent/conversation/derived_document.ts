// Makes a document from another one: chooses its name, adapts relative paths in its text, and creates the file.

import type { Environment } from "../../base/environment.ts";
import { isThere, makeFile } from "../../base/files.ts";
import { absolutePath, folderOfDocument, parentOf } from "../../base/paths.ts";
import { failure, type Outcome, success, thrownText } from "../../base/problem.ts";
import { operands } from "../../base/shell_word.ts";
import { applyEdits, type Edit } from "../../parser/edits/edit.ts";
import { parse } from "../../parser/mod.ts";
import { referencesFrom } from "./question.ts";

/** Returns the first unused name in the series `notes.chat`, `notes.2.chat`, `notes.3.chat` and so on. */
export function nextCompacted(environment: Environment, path: string): string {
  // A number of four or more digits is a year or a date, not our counter.
  const [, stem = "", number = "1", end = ""] = /^(.*?)(?:\.(\d{1,3}))?(\.[^.]+)?$/s.exec(lastName(path)) ??
    [];
  return firstFree(environment, path, Number(number) + 1, (at) => `${stem}.${at}${end}`);
}

/** Returns the first unused name in the series `notes.fork-1.chat`, `notes.fork-2.chat` and so on. */
export function nextForked(environment: Environment, path: string): string {
  const [, stem = "", end = ""] = /^(.*?)(\.[^.]+)?$/s.exec(lastName(path)) ?? [];
  return firstFree(environment, path, 1, (at) => `${stem.replace(/\.fork-\d+$/, "")}.fork-${at}${end}`);
}

function firstFree(
  environment: Environment,
  path: string,
  first: number,
  name: (at: number) => string,
): string {
  const folder = path.slice(0, path.length - lastName(path).length);
  for (let at = first;; at++) {
    const found = `${folder}${name(at)}`;
    if (!isThere(absolutePath(environment, found))) return found;
  }
}

function lastName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/**
 * Adapts a document's text to another folder: relative references to files keep their targets.
 *
 * @param from real path of the old document
 * @param to absolute path of the new one
 */
export function movedText(bytes: Uint8Array, from: string, to: string): Uint8Array {
  const folder = folderOfDocument(from);
  if (folder === folderOfDocument(to)) return bytes;
  const chat = parse(bytes);
  const edits = chat.turns.filter(({ role }) => role === "You" || role === "System")
    .flatMap((turn) => turn.segments).flatMap((segment): Edit[] => {
      if (segment.kind !== "text" || segment.raw || segment.place === undefined) return [];
      const text = chat.text(segment.place.from, segment.place.to);
      const moved = referencesFrom(folder, text);
      return moved === text ? [] : [{ from: segment.place.from, to: segment.place.to, insert: moved }];
    });
  return applyEdits(bytes, edits);
}

/**
 * Creates the document completely or not at all; never replaces an existing file.
 *
 * @param label the new document's name in messages
 * @param path its absolute path
 * @returns nothing. Fails with `usage` if the file exists, with `folder-missing`, or with `document-unwritable`.
 */
export async function makeDocument(label: string, path: string, bytes: Uint8Array): Promise<Outcome<void>> {
  try {
    await makeFile(path, bytes, 0o666);
    return success(undefined);
  } catch (thrown) {
    if (thrown instanceof Deno.errors.AlreadyExists) return exists(label);
    if (thrown instanceof Deno.errors.NotFound) {
      const folder = parentOf(path);
      return failure(
        "folder-missing",
        `There is no folder ${folder}.`,
        `Create it: mkdir -p ${operands(folder)}`,
      );
    }
    return failure(
      "document-unwritable",
      `${label} cannot be created: ${thrownText(thrown)}.`,
      "Choose another path.",
    );
  }
}

function exists(label: string): Outcome<void> {
  return failure("usage", `${label} already exists, and was not changed.`, "Choose another name.");
}
