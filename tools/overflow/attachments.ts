// Images and files that tools give back: kept in the state folder under the SHA-256 of their bytes, so that a document names
// them by that and holds one line about each (tools 7.4).

import type { Environment } from "../../base/environment.ts";
import { isMissing, readOrNull, removeIfThere, replaceSmallFile } from "../../base/files.ts";
import { attachmentsFolder } from "../../base/folders.ts";
import { sha256 } from "../../base/hash.ts";
import { isTextual, typeOfSignature } from "../../base/media.ts";
import { thrownText } from "../../base/problem.ts";
import { fromBase64, sameBytes } from "../../base/bytes.ts";
import { formatSize } from "../truncate.ts";

/** A file as a tool hands it over: what it says of it, and what should be Base64. */
export interface GivenFile {
  readonly type: unknown;
  readonly data: unknown;
}

/** What became of a file: what the result says, and the name of what is kept; null where nothing is. */
export interface TakenFile {
  readonly text: string;
  readonly attachment: string | null;
}

/**
 * Takes a file over. A text becomes the text itself; of everything else one line says type and size, and it is kept. An image
 * is what its bytes say, since providers compare the two; of what no model takes the line tells where it is. Never rejects:
 * what goes wrong stands in the line.
 */
export async function takeFile({ type, data }: GivenFile, environment: Environment): Promise<TakenFile> {
  const stated = typeof type === "string" && /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(type)
    ? type.toLowerCase()
    : "application/octet-stream";
  const bytes = bytesOf(data);
  if (bytes === null) return { text: `[${stated}, broken: it is not Base64]`, attachment: null };
  if (bytes.length === 0) return { text: `[${stated}, empty]`, attachment: null };
  const seen = typeOfSignature(bytes);
  const text = seen === null && isTextual(stated) ? textOf(bytes) : null;
  if (text !== null) return { text, attachment: null };
  const about = `${seen ?? stated}, ${formatSize(bytes.length)}`;
  try {
    const { name, path } = await keep(bytes, environment);
    return { text: seen === null ? `[${about}; kept in ${path}]` : `[${about}]`, attachment: name };
  } catch (thrown) {
    return { text: `[${about}; it could not be kept: ${thrownText(thrown)}]`, attachment: null };
  }
}

function bytesOf(data: unknown): Uint8Array<ArrayBuffer> | null {
  if (typeof data !== "string") return null;
  try {
    return fromBase64(data);
  } catch {
    // That is the answer.
    return null;
  }
}

/** The text that bytes are; null for what is none. */
function textOf(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    // Not UTF-8: that is the answer.
    return null;
  }
}

/** Puts bytes into the folder unless they are there already. Throws as the system does. */
async function keep(
  bytes: Uint8Array<ArrayBuffer>,
  environment: Environment,
): Promise<{ readonly name: string; readonly path: string }> {
  const name = await sha256(bytes);
  const folder = attachmentsFolder(environment);
  const path = `${folder}/${name}`;
  const there = await readOrNull(path);
  if (there !== null && sameBytes(there, bytes)) return { name, path };
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  await removeHalves(folder);
  // A document will name it: it has to be there after a crash as the document is.
  await replaceSmallFile(path, bytes, { durable: true });
  return { name, path };
}

/** Milliseconds after which nobody writes at a file any more. */
const ABANDONED = 3_600_000;

/** Folders that were looked through: once in a process is enough. */
const swept: Set<string> = new Set();

/** Removes what runs that were killed while they wrote left behind. */
async function removeHalves(folder: string): Promise<void> {
  if (swept.has(folder)) return;
  swept.add(folder);
  for await (const { name } of Deno.readDir(folder)) {
    if (!/^[0-9a-f]{64}\.[0-9a-f]{8}\.tmp$/.test(name)) continue;
    const path = `${folder}/${name}`;
    if (Date.now() - await changedAt(path) > ABANDONED) await removeIfThere(path);
  }
}

/** When a file was changed last; now for one that has got its own name meanwhile. */
async function changedAt(path: string): Promise<number> {
  try {
    return (await Deno.lstat(path)).mtime?.getTime() ?? Date.now();
  } catch (thrown) {
    if (isMissing(thrown)) return Date.now();
    throw thrown;
  }
}
