// System calls for which this runtime has no function. If foreign functions are not permitted or a call is missing,
// the functions report that they did nothing.

/** Renames with flags that plain `rename` lacks; false if it failed, for whatever reason. */
export type RenameWith = (from: string, to: string, flags: number) => boolean;

/** Flags of the system call `renameat2`. */
export const NO_REPLACE = 1;
export const EXCHANGE = 2;
/** AT_FDCWD, the working folder, which absolute paths ignore. */
const HERE = -100;

type Calls = ReturnType<typeof open>;

/** The system calls; undefined before the first use, null if not available. */
let calls: Calls | null | undefined;

function open() {
  return Deno.dlopen("libc.so.6", {
    renameat2: { parameters: ["i32", "buffer", "i32", "buffer", "u32"], result: "i32" },
    listxattr: { parameters: ["buffer", "pointer", "usize"], result: "isize" },
    access: { parameters: ["buffer", "i32"], result: "i32" },
    tcflush: { parameters: ["i32", "i32"], result: "i32" },
  }).symbols;
}

function systemCalls(): Calls | null {
  if (calls !== undefined) return calls;
  if (Deno.build.os !== "linux" || Deno.permissions.querySync({ name: "ffi" }).state !== "granted") {
    return calls = null;
  }
  try {
    return calls = open();
  } catch {
    // The system has another C library, or an older version.
    return calls = null;
  }
}

/** Calls the system; returns false also if the file system does not support the call. */
export const renameBy: RenameWith = (from, to, flags) =>
  systemCalls()?.renameat2(HERE, named(from), HERE, named(to), flags) === 0;

/** True if a file has extended attributes, or if that is unknown. */
export function mayHaveAttributes(path: string): boolean {
  const length = systemCalls()?.listxattr(named(path), null, 0n);
  return length !== 0n;
}

/** Argument of `access` (W_OK). */
const WRITE = 2;

/** Whether this process may write to a file, or create files in a folder; null if that is unknown. */
export function mayWrite(path: string): boolean | null {
  const result = systemCalls()?.access(named(path), WRITE);
  return result === undefined ? null : result === 0;
}

/** Argument of `tcflush` (TCIFLUSH) for input that was typed but not read. */
const TYPED = 0;
const STANDARD_INPUT = 0;

/** Discards unread input of the terminal at standard input; false if that failed. */
export function forgetTyped(): boolean {
  return systemCalls()?.tcflush(STANDARD_INPUT, TYPED) === 0;
}

function named(path: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${path}\0`);
}
