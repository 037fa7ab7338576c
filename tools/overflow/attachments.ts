// Keeps images and files that tools return in the state folder, named by the SHA-256 of their bytes. A document names
// each file by this hash, in a line of its own.

import type { Environment } from "../../base/environment.ts";
import { isMissing, readOrNull, removeIfThere, replaceSmallFile } from "../../base/files.ts";
import { attachmentsFolder } from "../../base/folders.ts";
import { sha256 } from "../../base/hash.ts";
import { isTextual, typeOfSignature } from "../../base/media.ts";
import { thrownText } from "../../base/problem.ts";
import { fromBase64, sameBytes } from "../../base/bytes.ts";
import { formatSize } from "../truncate.ts";

/** A file as a tool returns it: the type it states, and data that should be Base64. */
export interface GivenFile {
  readonly type: unknown;
  readonly data: unknown;
}

/** Result of keeping a file: the text for the result, and the name of the kept file; null if none is kept. */
export interface TakenFile {
  readonly text: string;
  readonly attachment: string | null;
}

/**
 * Keeps a file. A text is returned as text. Any other file is kept, and one line states its type and size. The type of
 * an image is taken from its bytes, since providers compare the two. For a file that no model accepts, the line says
 * where it is. Never rejects: the line also reports failures.
 */
export async function takeFile({ type, data }: GivenFile, environment: Environment): Promise<TakenFile> {
  const declaredType = typeof type === "string" && /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(type)
    ? type.toLowerCase()
    : "application/octet-stream";
  const bytes = bytesOf(data);
  if (bytes === null) return { text: `[${declaredType}, damaged: not valid Base64]`, attachment: null };
  if (bytes.length === 0) return { text: `[${declaredType}, empty]`, attachment: null };
  const seen = typeOfSignature(bytes);
  const text = seen === null && isTextual(declaredType) ? textOf(bytes) : null;
  if (text !== null) return { text, attachment: null };
  const about = `${seen ?? declaredType}, ${formatSize(bytes.length)}`;
  try {
    const { name, path } = await keep(bytes, environment);
    return { text: seen === null ? `[${about}; saved as ${path}]` : `[${about}]`, attachment: name };
  } catch (thrown) {
    return { text: `[${about}; could not be saved: ${thrownText(thrown)}]`, attachment: null };
  }
}

function bytesOf(data: unknown): Uint8Array<ArrayBuffer> | null {
  if (typeof data !== "string") return null;
  try {
    return fromBase64(data);
  } catch {
    // The data is not Base64.
    return null;
  }
}

/** Decodes bytes as text; null if they are not text. */
function textOf(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    // The bytes are not UTF-8, so they are not text.
    return null;
  }
}

/** Writes bytes into the folder unless they are already there. Throws the system's errors. */
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
  // A document will name the file, so it must be as durable as the document.
  await replaceSmallFile(path, bytes, { durable: true });
  return { name, path };
}

/** Milliseconds after which an unfinished file counts as abandoned. */
const ABANDONED = 3_600_000;

/** Folders already searched for abandoned files; once in a process is enough. */
const swept: Set<string> = new Set();

/** Removes unfinished files of runs that were killed while writing. */
async function removeHalves(folder: string): Promise<void> {
  if (swept.has(folder)) return;
  swept.add(folder);
  for await (const { name } of Deno.readDir(folder)) {
    if (!/^[0-9a-f]{64}\.[0-9a-f]{8}\.tmp$/.test(name)) continue;
    const path = `${folder}/${name}`;
    if (Date.now() - await changedAt(path) > ABANDONED) await removeIfThere(path);
  }
}

/**
 * Returns the modification time of a file. If the file is gone, because its writer renamed it, returns the current
 * time.
 */
async function changedAt(path: string): Promise<number> {
  try {
    return (await Deno.lstat(path)).mtime?.getTime() ?? Date.now();
  } catch (thrown) {
    if (isMissing(thrown)) return Date.now();
    throw thrown;
  }
}
