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
    statx: { parameters: ["i32", "buffer", "i32", "u32", "buffer"], result: "i32" },
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

/** The part of a file's status that `lstat` and `linkStatus` report alike. */
export type FileStatus = Pick<
  Deno.FileInfo,
  | "isFile"
  | "isDirectory"
  | "isSymlink"
  | "isSocket"
  | "size"
  | "mode"
  | "nlink"
  | "uid"
  | "gid"
  | "dev"
  | "ino"
  | "mtime"
  | "ctime"
>;

/** Arguments of `statx`: the link itself (AT_SYMLINK_NOFOLLOW), and all basic fields (STATX_BASIC_STATS). */
const NO_FOLLOW = 0x100;
const BASIC_FIELDS = 0x7ff;

/** The kernel's structure, which holds one result until it is read. */
const STATUS = new DataView(new ArrayBuffer(256));
const STATUS_BYTES = new Uint8Array(STATUS.buffer);

/**
 * Returns the status of a path without following links; null if nothing accessible is there; undefined if that is
 * unknown because no other function has loaded the C library yet. It takes half as long as `Deno.lstatSync`, and a
 * fortieth for a missing path, because the runtime throws an exception.
 */
export function linkStatus(path: string): FileStatus | null | undefined {
  if (!calls) return undefined;
  // To the C library, the path would end there.
  if (path.includes("\0")) return null;
  if (calls.statx(HERE, named(path), NO_FOLLOW, BASIC_FIELDS, STATUS_BYTES) !== 0) return null;
  const [changed, modified] = [long(96), long(112)];
  // The runtime reports no times before 1970.
  return changed < 0 || modified < 0 ? undefined : new LinkStatus(changed, modified);
}

const long = (offset: number): number => Number(STATUS.getBigInt64(offset, true));
const number = (offset: number): number => STATUS.getUint32(offset, true);

const KIND = 0o170000;

/** Reads the structure. All fields are as `Deno.lstatSync` reports them, so the change time is in whole seconds. */
class LinkStatus implements FileStatus {
  readonly mode = STATUS.getUint16(28, true);
  readonly nlink: number = number(16);
  readonly uid: number = number(20);
  readonly gid: number = number(24);
  readonly ino: number = long(32);
  readonly size: number = long(40);
  readonly dev: number = deviceNumber(number(136), number(140));
  readonly #modified: number;
  readonly #changed: number;

  constructor(changed: number, modified: number) {
    this.#changed = changed * 1000;
    this.#modified = modified * 1000 + Math.floor(number(120) / 1e6);
  }

  get mtime(): Date {
    return new Date(this.#modified);
  }

  get ctime(): Date {
    return new Date(this.#changed);
  }

  get isFile(): boolean {
    return (this.mode & KIND) === 0o100000;
  }

  get isDirectory(): boolean {
    return (this.mode & KIND) === 0o040000;
  }

  get isSymlink(): boolean {
    return (this.mode & KIND) === 0o120000;
  }

  get isSocket(): boolean {
    return (this.mode & KIND) === 0o140000;
  }
}

/** The number that the C library makes of the two parts of a device number. */
function deviceNumber(major: number, minor: number): number {
  const [low, lowest] = [major % 2 ** 12, minor % 2 ** 8];
  return (major - low) * 2 ** 32 + (minor - lowest) * 2 ** 12 + low * 2 ** 8 + lowest;
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
