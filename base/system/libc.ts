// Calls of the system that this runtime has no function for. Where foreign functions are not allowed nobody is asked for them,
// and where the system has no such call it is as if nobody had asked.

/** Renames in a way that plain `rename` has not; false where it could not, for whatever reason. */
export type RenameWith = (from: string, to: string, flags: number) => boolean;

/** Flags of the system call `renameat2`. */
export const NO_REPLACE = 1;
export const EXCHANGE = 2;
/** The working folder, which absolute paths do not ask for. */
const HERE = -100;

type Calls = ReturnType<typeof open>;

/** Undefined before they are asked for, null where there are none. */
let calls: Calls | null | undefined;

function open() {
  return Deno.dlopen("libc.so.6", {
    renameat2: { parameters: ["i32", "buffer", "i32", "buffer", "u32"], result: "i32" },
    listxattr: { parameters: ["buffer", "pointer", "usize"], result: "isize" },
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
    // Another C library, or an older one.
    return calls = null;
  }
}

/** The system's own call; false also where the file system does not know it. */
export const renameBy: RenameWith = (from, to, flags) =>
  systemCalls()?.renameat2(HERE, named(from), HERE, named(to), flags) === 0;

/** Whether a file has extended attributes; true where that cannot be told. */
export function mayHaveAttributes(path: string): boolean {
  const length = systemCalls()?.listxattr(named(path), null, 0n);
  return length !== 0n;
}

/** What `tcflush` throws away: what was typed and not read. */
const TYPED = 0;
const STANDARD_INPUT = 0;

/** Throws away what was typed at the terminal of standard input and not read yet; false where it could not. */
export function forgetTyped(): boolean {
  return systemCalls()?.tcflush(STANDARD_INPUT, TYPED) === 0;
}

function named(path: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${path}\0`);
}
