// What every room does with files: looking whether one is there, writing one whole, taking one away.

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
