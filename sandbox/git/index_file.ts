// Reader for git's index: repositories inside another one, and tracked files. flemma does not ask git, which would obey
// settings that a command may have planted (format: gitformat-index(5), versions 2 to 4).

import { readRegularSync } from "../../base/system/regular_file.ts";

/** A larger index is not read; this size holds some 100,000 files. */
const MOST_BYTES = 32 * 1024 * 1024;

const MODE_LINK = 0o160000;

export interface IndexEntry {
  /** Relative to the working folder. */
  readonly path: string;
  /** Object id of the content, in hexadecimal. */
  readonly hash: string;
  /** True if the entry is another repository. */
  readonly link: boolean;
  /** Size and modification time, in whole seconds, of the file that git last compared with the entry. */
  readonly size: number;
  readonly seconds: number;
}

/** The entries of an index; empty if it is not an index or cannot be read completely. */
export function indexEntries(bytes: Uint8Array): IndexEntry[] {
  // The file does not state the length of its hashes.
  return parse(bytes, 20) ?? parse(bytes, 32) ?? [];
}

/** The entries of the index at a path; empty if there is none that can be read. */
export function readIndex(path: string): IndexEntry[] {
  try {
    return Deno.lstatSync(path).isFile ? indexEntries(readRegularSync(path, MOST_BYTES).bytes) : [];
  } catch {
    return []; // A repository without an index tracks nothing yet.
  }
}

function parse(bytes: Uint8Array, hashBytes: number): IndexEntry[] | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 12 || view.getUint32(0) !== 0x44495243) return null;
  const version = view.getUint32(4);
  if (version < 2 || version > 4) return null;
  const entries: IndexEntry[] = [];
  const decoder = new TextDecoder();
  let at = 12;
  let before = new Uint8Array();
  for (let left = view.getUint32(8); left > 0; left--) {
    const start = at;
    if (at + 42 + hashBytes > bytes.length) return null;
    const mode = view.getUint32(at + 24);
    const hash = bytes.subarray(at + 40, at + 40 + hashBytes);
    const flags = view.getUint16(at + 40 + hashBytes);
    at += 42 + hashBytes + (version > 2 && flags & 0x4000 ? 2 : 0);
    if (![0o100000, 0o120000, 0o160000, 0o040000].includes(mode & 0o170000)) return null;
    let kept = new Uint8Array();
    if (version === 4) {
      const strip = offset(bytes, at);
      if (strip === null || strip.value > before.length) return null;
      kept = before.slice(0, before.length - strip.value);
      at = strip.end;
    }
    const end = bytes.indexOf(0, at);
    if (end < 0) return null;
    const name = new Uint8Array(kept.length + end - at);
    name.set(kept);
    name.set(bytes.subarray(at, end), kept.length);
    before = name;
    entries.push({
      path: decoder.decode(name),
      hash: Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join(""),
      link: (mode & 0o170000) === MODE_LINK,
      size: view.getUint32(start + 36),
      seconds: view.getUint32(start + 8),
    });
    at = version === 4 ? end + 1 : start + Math.ceil((end + 1 - start) / 8) * 8;
  }
  return endsThere(view, at, bytes.length - hashBytes) ? entries : null;
}

/**
 * True if only complete extensions follow the entries, up to the checksum. If not, the entries were split at the wrong
 * offsets.
 */
function endsThere(view: DataView, from: number, end: number): boolean {
  let at = from;
  while (at + 8 <= end) at += 8 + view.getUint32(at + 4);
  return at === end;
}

/** A number in the encoding of version 4: seven bits per byte, one added for each continuation. */
function offset(bytes: Uint8Array, at: number): { value: number; end: number } | null {
  let value = -1;
  for (let end = at; end < bytes.length && end < at + 5; end++) {
    const byte = bytes[end]!;
    value = ((value + 1) << 7) | (byte & 0x7f);
    if ((byte & 0x80) === 0) return { value, end: end + 1 };
  }
  return null;
}
