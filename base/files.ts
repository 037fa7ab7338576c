// What every room does with files: looking whether one is there, reading one that somebody else writes, writing one
// whole, taking one away.

import { sameBytes } from "./bytes.ts";

/** Whether anything stands at a path. */
export function isThere(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound || thrown instanceof Deno.errors.NotADirectory) return false;
    throw thrown;
  }
}

/** Removes a file; nothing happens when there is none. */
export async function removeIfThere(path: string): Promise<void> {
  try {
    await Deno.remove(path);
  } catch (thrown) {
    if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
  }
}

/** Writes all bytes to a file or a connection, which may take them in pieces. */
export async function writeAll(
  to: { write(bytes: Uint8Array): Promise<number> },
  bytes: Uint8Array,
): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await to.write(bytes.subarray(at));
}

/** Writes a new file durably; fails when one of that name exists, and leaves none when it cannot be written whole. */
export async function createFile(path: string, bytes: Uint8Array, mode = 0o600): Promise<void> {
  using file = await Deno.open(path, { createNew: true, write: true, mode });
  try {
    await writeAll(file, bytes);
    await file.sync();
  } catch (thrown) {
    await Deno.remove(path);
    throw thrown;
  }
}

/**
 * Puts a file of ours in place of what stands at `path`, for this person alone (mode 0600): written beside it under a name
 * of its own, then renamed, so that nobody reads a part of it. For what matters after a crash of the machine it is
 * `durable` before it is renamed. A document is replaced otherwise (cycle/storage/write.ts): it keeps mode and owner.
 */
export async function replaceSmallFile(
  path: string,
  bytes: Uint8Array,
  { durable }: { readonly durable: boolean },
): Promise<void> {
  const temporary = `${path}.${crypto.randomUUID().slice(0, 8)}.tmp`;
  try {
    if (durable) await createFile(temporary, bytes);
    else await Deno.writeFile(temporary, bytes, { createNew: true, mode: 0o600 });
    await Deno.rename(temporary, path);
  } catch (thrown) {
    // What forbids the writing may forbid this as well; the first reason is the one to tell.
    await removeIfThere(temporary).catch(() => {});
    throw thrown;
  }
}

/** All of an open file, from its beginning. Throws on failure. */
export function readAllSync(file: Deno.FsFile): Uint8Array {
  file.seekSync(0, Deno.SeekMode.Start);
  let buffer = new Uint8Array(file.statSync().size + 1);
  let length = 0;
  while (true) {
    const got = file.readSync(buffer.subarray(length));
    if (got === null) return buffer.subarray(0, length);
    length += got;
    if (length < buffer.length) continue;
    const larger = new Uint8Array(buffer.length * 2);
    larger.set(buffer);
    buffer = larger;
  }
}

/** Milliseconds for which a file must stay the same to count as whole. */
const STILL = 20;
/** Milliseconds where it looks as if more were to come: emptied, cut short, or renamed away. */
const STILL_UNFINISHED = 400;
/** Milliseconds where there is nothing at all: nobody saves nothing, and a busy machine lets a writer wait. */
const STILL_EMPTY = 4000;
/** Milliseconds after which a file that never rests is taken as it is. */
const LONGEST = 5000;

/**
 * What `read` gives once it no longer changes; null when there is nothing to read. A text that looks as if more were to
 * come, and a file that vanished, get a longer time: editors empty or rename a file before they write it. So does every
 * text with `patient`.
 */
export async function settled(
  read: () => Promise<Uint8Array | null>,
  before: Uint8Array,
  { patient = false }: { readonly patient?: boolean } = {},
): Promise<Uint8Array | null> {
  const begun = performance.now();
  let text = await read();
  let since = begun;
  for (;;) {
    const empty = text !== null && text.length === 0 && before.length > 0;
    const unfinished = patient || isUnfinished(text, before);
    const wanted = empty ? STILL_EMPTY : unfinished ? STILL_UNFINISHED : STILL;
    const now = performance.now();
    if (now - since >= wanted || now - begun >= LONGEST) return text;
    await new Promise((done) => setTimeout(done, STILL));
    const next = await read();
    const same = text === null ? next === null : next !== null && sameBytes(text, next);
    if (!same) since = performance.now();
    text = next;
  }
}

/** Gone, much shorter than before, or cut inside a line. */
function isUnfinished(text: Uint8Array | null, before: Uint8Array): boolean {
  if (text === null) return true;
  return text.length < before.length * 0.75 || (before.at(-1) === LF && text.at(-1) !== LF);
}

const LF = 0x0a;

/** The bytes at a path, or null when there is no file. */
export async function readOrNull(path: string): Promise<Uint8Array | null> {
  try {
    return await Deno.readFile(path);
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return null;
    throw thrown;
  }
}
