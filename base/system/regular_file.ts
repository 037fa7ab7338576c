// Opens and reads regular files only. A pipe, device or socket in place of a file could block this process forever.

import { openHandle } from "./libc.ts";
import { isPseudoFile } from "./system_files.ts";

/** Thrown if something other than a regular file is at a path. */
export class NotRegularFile extends Error {
  constructor() {
    super("it is not a regular file");
  }
}

/** An open regular file, and its attributes when it was opened. */
export interface OpenFile {
  readonly file: Deno.FsFile;
  readonly info: Deno.FileInfo;
}

/**
 * Opens the regular file to which a path leads, for reading. Throws `NotRegularFile`, and the system's errors.
 *
 * Opening a pipe waits for a writer, and takes text from its other readers, so flemma checks before it opens. A command
 * may replace the file between check and open. Once handles are prepared, both use the same handle, so that the
 * replacement is never opened. A process prepares handles while its first command runs.
 * @param between for tests: called between check and open
 */
export function openRegularSync(path: string, between = () => {}): OpenFile {
  using handle = openHandle(path);
  const at = handle?.path ?? path;
  const info = Deno.statSync(at);
  // Nothing was at the path a moment ago.
  if (handle === null) throw new Deno.errors.NotFound("it was replaced while flemma opened it");
  if (!isReadable(info)) throw new NotRegularFile();
  between();
  return verify(Deno.openSync(at));
}

/** Asynchronous version of `openRegularSync`. If a pipe replaces the file after the check, only this operation waits. */
export async function openRegular(path: string): Promise<OpenFile> {
  if (!isReadable(await Deno.stat(path))) throw new NotRegularFile();
  return verify(await Deno.open(path));
}

/** True for a regular file that ends. Pseudo-files look empty, and reading one may block or never end. */
function isReadable(info: Deno.FileInfo): boolean {
  return info.isFile && (info.size > 0 || !isPseudoFile(info));
}

function verify(file: Deno.FsFile): OpenFile {
  const info = file.statSync();
  if (info.isFile) return { file, info };
  file.close();
  throw new NotRegularFile();
}

/** The bytes of a regular file, and its attributes before they were read. */
export interface FileContent {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly info: Deno.FileInfo;
}

/**
 * Reads the regular file to which a path leads. Throws `NotRegularFile`, and the system's errors. Also throws if the
 * file has more than `most` bytes, even if it only grows beyond that meanwhile.
 */
export function readRegularSync(path: string, most = Infinity): FileContent {
  const { file, info } = openRegularSync(path);
  try {
    const bytes = info.size > most ? null : readToEnd(file, info.size, most);
    if (bytes === null || bytes.length > most) throw new Error(`it is larger than ${most / 1024} KiB`);
    return { bytes, info };
  } finally {
    file.close();
  }
}

/** Like `readRegularSync`, but returns the text. */
export function readRegularTextSync(path: string, most = Infinity): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(readRegularSync(path, most).bytes);
}

/** Asynchronous version of `readRegularSync`. */
export async function readRegular(path: string, most = Infinity): Promise<Uint8Array<ArrayBuffer>> {
  const { file, info } = await openRegular(path);
  try {
    if (info.size > most) throw new Error(`it is larger than ${most / 1024 / 1024} MiB`);
    return await readAll(file, info.size);
  } finally {
    file.close();
  }
}

/** Maximum number of bytes of a file of code or settings. */
export const MOST_OF_CODE = 64 * 1024 * 1024;

/** Returns the whole content of an open file. Throws on failure. */
export function readAllSync(file: Deno.FsFile): Uint8Array<ArrayBuffer> {
  file.seekSync(0, Deno.SeekMode.Start);
  return readToEnd(file, file.statSync().size, Infinity);
}

/** Reads until the end, or until more than `most` bytes are read. */
function readToEnd(file: Deno.FsFile, sizeHint: number, most: number): Uint8Array<ArrayBuffer> {
  let buffer = new Uint8Array(sizeHint + 1);
  let length = 0;
  while (length <= most) {
    const got = file.readSync(buffer.subarray(length));
    if (got === null) break;
    length += got;
    if (length === buffer.length) buffer = doubled(buffer);
  }
  return buffer.subarray(0, length);
}

/**
 * Maximum number of bytes that are read synchronously. Handing a small read to another thread takes longer than the
 * read; a read of many megabytes would block everything else this process serves.
 */
const READ_AT_ONCE = 1024 * 1024;

/**
 * Reads to the end of the file, or until at least `most` bytes are read. The size is only a hint, because the file may
 * grow meanwhile.
 */
export async function readAll(
  file: Deno.FsFile,
  sizeHint: number,
  most = Infinity,
): Promise<Uint8Array<ArrayBuffer>> {
  let buffer = new Uint8Array(sizeHint + 1);
  let length = 0;
  while (true) {
    const free = buffer.subarray(length);
    const got = free.length > READ_AT_ONCE ? await file.read(free) : file.readSync(free);
    if (got === null) return buffer.subarray(0, length);
    length += got;
    if (length > most) return buffer.subarray(0, length);
    if (length === buffer.length) buffer = doubled(buffer);
  }
}

function doubled(buffer: Uint8Array): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(buffer.length * 2);
  larger.set(buffer);
  return larger;
}
