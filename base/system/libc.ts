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
    faccessat: { parameters: ["i32", "buffer", "i32", "i32"], result: "i32" },
    tcflush: { parameters: ["i32", "i32"], result: "i32" },
    open: { parameters: ["buffer", "i32"], result: "i32" },
    close: { parameters: ["i32"], result: "i32" },
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

/** Arguments of `faccessat`: only existence matters (F_OK), and that of a link itself (AT_SYMLINK_NOFOLLOW). */
const EXISTS = 0;
const NO_FOLLOW = 0x100;

/**
 * True if nothing accessible is at a path. False also if that is unknown because no other function has loaded the C
 * library yet. It is ten times as fast as an exception of the runtime.
 */
export function isAbsent(path: string): boolean {
  return calls ? calls.faccessat(HERE, named(path), EXISTS, NO_FOLLOW) !== 0 : false;
}

/** Argument of `tcflush` (TCIFLUSH) for input that was typed but not read. */
const TYPED = 0;
const STANDARD_INPUT = 0;

/** Discards unread input of the terminal at standard input; false if that failed. */
export function forgetTyped(): boolean {
  return systemCalls()?.tcflush(STANDARD_INPUT, TYPED) === 0;
}

/** Flags of `open`: nothing is opened, read or started, and no child process inherits the handle. */
const O_PATH = 0o10000000;
const O_CLOEXEC = 0o2000000;

/** A file or folder that stays the same, whatever is at its path later. */
export interface Handle extends Disposable {
  /** A path that leads to it while the handle is open. */
  readonly path: string;
}

/** True once `prepareHandles` found that handles work here. */
let hasHandles = false;

/**
 * Lets `openHandle` work from now on, if this system and the permissions allow it. Loading the C library takes
 * milliseconds, so a process does it while it waits for something else.
 */
export function prepareHandles(): void {
  if (hasHandles || systemCalls() === null) return;
  try {
    using handle = newHandle("/");
    hasHandles = handle !== null && Deno.statSync(handle.path).isDirectory;
  } catch {
    // The permissions do not include /proc.
  }
}

/** Opens a handle; null if nothing accessible is at the path, undefined if handles are not prepared. */
export function openHandle(path: string): Handle | null | undefined {
  return hasHandles ? newHandle(path) : undefined;
}

function newHandle(path: string): Handle | null {
  const { open, close } = systemCalls()!;
  const descriptor = open(named(path), O_PATH | O_CLOEXEC);
  if (descriptor < 0) return null;
  return { path: `/proc/self/fd/${descriptor}`, [Symbol.dispose]: () => void close(descriptor) };
}

function named(path: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${path}\0`);
}
