// Reads one file for a call: determines its kind, and selects a range of its lines.

import { isTextual, typeOfName, typeOfSignature } from "../../base/media.ts";
import { sha256 } from "../../base/hash.ts";
import { readAllSync } from "../../base/system/regular_file.ts";
import { baseName, parentOf } from "../../base/paths.ts";
import { wideEncoding } from "../../base/text/text_fault.ts";
import type { SeenFile } from "../definition.ts";
import { MOST_SEEN } from "./change.ts";
import { Exchanged } from "../../base/disk/failures.ts";
import type { Disk } from "../../base/disk/folder_access.ts";
import { type LineRange, type LineSelection, LineSelector } from "./text/line_selector.ts";

const CHUNK = 64 * 1024;

/** Number of bytes at the beginning of a file that decide its type if the name does not. */
const SNIFFED_BYTES = 8192;

export interface ReadRequest {
  /** Real path of a file that tools may read. */
  readonly real: string;
  /** Path whose name decides the type. */
  readonly named: string;
  readonly range: Omit<LineRange, "count"> & { /** Null for all. */ readonly count: number | null };
  /** True to return the file's state, to detect later changes. */
  readonly remember: boolean;
}

export type ReadFileResult =
  & {
    /** Bytes of the whole file. */
    readonly size: number;
    readonly now: SeenFile | null;
  }
  & (
    | { readonly kind: "text"; readonly selection: LineSelection }
    | { readonly kind: "empty" }
    | { readonly kind: "binary"; readonly type: string }
    /** Text in an unsupported encoding. */
    | { readonly kind: "encoded"; readonly encoding: string }
  );

/**
 * Reads a regular file; null for any other kind. Rejects with the system's error, `Exchanged`, or the signal's reason.
 */
export async function readFile(
  { real, named, range, remember }: ReadRequest,
  disk: Disk,
  signal: AbortSignal,
): Promise<ReadFileResult | null> {
  if (!disk.isReadable(real)) throw new Exchanged(real);
  const opened = await disk.folderAccess.open(parentOf(real), baseName(real));
  if (opened === null) return null;
  using file = opened.file;
  const { size } = opened.info;
  // The state is taken before reading. If the file changes meanwhile, the model has to read it again before it writes
  // to it.
  const now = remember ? await readSeen(file, opened.info) : null;
  file.seekSync(0, Deno.SeekMode.Start);
  const buffer = new Uint8Array(CHUNK);
  const first = buffer.slice(0, await fill(file, buffer.subarray(0, SNIFFED_BYTES)));
  const wide = wideEncoding(first);
  const unnamed = () => first.includes(0) && wide === null ? "application/octet-stream" : "text/plain";
  const type = typeOfName(named) ?? typeOfSignature(first) ?? unnamed();
  if (!isTextual(type)) return { kind: "binary", type, size, now };
  if (first.length === 0) return { kind: "empty", size, now };
  if (wide !== null) return { kind: "encoded", encoding: wide.name, size, now };
  const selector = new LineSelector({ ...range, count: range.count ?? Infinity });
  selector.push(first);
  for (let read = await file.read(buffer); read !== null; read = await file.read(buffer)) {
    signal.throwIfAborted();
    selector.push(buffer.subarray(0, read));
  }
  return { kind: "text", selection: selector.finish(), size, now };
}

/** State of an open file; null if it is too large to remember. */
async function readSeen(file: Deno.FsFile, { size, mtime }: Deno.FileInfo): Promise<SeenFile | null> {
  if (size > MOST_SEEN) return null;
  return { hash: await sha256(readAllSync(file)), size, mtime: mtime?.getTime() ?? 0 };
}

/** Reads until the buffer is full or the file ends; returns the number of bytes read. */
async function fill(file: Deno.FsFile, buffer: Uint8Array): Promise<number> {
  let filled = 0;
  while (filled < buffer.length) {
    const count = await file.read(buffer.subarray(filled));
    if (count === null) break;
    filled += count;
  }
  return filled;
}
