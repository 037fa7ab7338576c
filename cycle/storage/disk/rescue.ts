// In-place writes that can be completed after a crash, and texts that could not be written to their file.

import { createFile, isMissing, removeIfThere, replaceSmallFile } from "../../../base/files.ts";
import { commonPrefix, sameBytes } from "../../../base/bytes.ts";
import type { Environment } from "../../../base/environment.ts";
import { baseName, cutName, parentOf } from "../../../base/paths.ts";
import { type Problem, thrownText } from "../../../base/problem.ts";
import { documentKey, stateFolder, timestamp } from "../state_files.ts";
import { stampOf } from "../read.ts";
import { contentFromBytes } from "./content.ts";
import { overwriteFile } from "./write.ts";

/** Keeps the old and the new text of a document while it is overwritten. */
export class OverwriteGuard {
  readonly #folder: string;
  readonly #old: string;
  readonly #new: string;

  private constructor(folder: string, key: string) {
    this.#folder = folder;
    this.#old = `${folder}/${key}.old`;
    this.#new = `${folder}/${key}.new`;
  }

  static async for(realPath: string, environment: Environment): Promise<OverwriteGuard> {
    return new OverwriteGuard(`${stateFolder(environment)}/overwrite`, await documentKey(realPath));
  }

  /** Makes both texts durable. The new one is written last, so that its presence means that both are complete. */
  async before(old: Uint8Array, text: Uint8Array): Promise<void> {
    await Deno.mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await this.after();
    await createFile(this.#old, old);
    const temporary = `${this.#new}.tmp`;
    await removeIfThere(temporary);
    await createFile(temporary, text);
    await Deno.rename(temporary, this.#new);
  }

  async after(): Promise<void> {
    await removeIfThere(this.#new);
    await removeIfThere(this.#old);
  }

  /**
   * Looks for a write that a crash interrupted. If the document is torn, completes it. If the document has changed
   * since the crash, leaves it and names the file that contains the intended text. Returns null if there was nothing to
   * do.
   */
  async recover(realPath: string, current: Uint8Array): Promise<Problem | null> {
    let old: Uint8Array;
    let text: Uint8Array;
    try {
      text = await Deno.readFile(this.#new);
      old = await Deno.readFile(this.#old);
    } catch (thrown) {
      if (isMissing(thrown)) return null;
      throw thrown;
    }
    if (sameBytes(current, old) || sameBytes(current, text)) {
      await this.after();
      return null;
    }
    const known = { content: contentFromBytes(current), stamp: stampOf(await Deno.stat(realPath)) };
    if (isTorn(current, old, text) && await overwriteFile(realPath, known, text) !== null) {
      await this.after();
      return {
        code: "write-completed",
        message: `An earlier run was interrupted while writing ${realPath}; flemma completed the write.`,
      };
    }
    const kept = `${this.#new}-${timestamp(new Date())}`;
    await Deno.rename(this.#new, kept);
    await removeIfThere(this.#old);
    return {
      code: "write-not-completed",
      message: `An earlier run was interrupted while writing ${realPath}, and the file has changed since. ` +
        `The text of that run is in ${kept}.`,
    };
  }
}

/** True if `current` is the new text up to some byte and the old one from that byte on. */
export function isTorn(current: Uint8Array, old: Uint8Array, text: Uint8Array): boolean {
  const reached = commonPrefix(current, text);
  return sameBytes(current.subarray(reached), old.subarray(reached));
}

/**
 * Maximum number of bytes of a document's name in the name of a text that is saved aside. It leaves room for the
 * suffix of its temporary file.
 */
export const ASIDE_NAME_BYTES = 160;

/**
 * Saves a text next to its document as `FILE.flemma-<time>`, else in the state folder; returns the path. Replaces the
 * copy that this run saved `earlier`.
 */
export async function saveAside(
  realPath: string,
  bytes: Uint8Array,
  environment: Environment,
  earlier: string | null,
): Promise<{ readonly path: string } | { readonly error: string }> {
  // The random part separates two runs in the same millisecond.
  const suffix = `.flemma-${timestamp(new Date())}-${crypto.randomUUID().slice(0, 4)}`;
  const folder = `${stateFolder(environment)}/saved`;
  const name = cutName(baseName(realPath), ASIDE_NAME_BYTES) + suffix;
  const places = [`${parentOf(realPath)}/${name}`, `${folder}/${name}`];
  let error = "";
  for (const path of earlier === null ? places : [earlier, ...places]) {
    try {
      if (path.startsWith(folder)) await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
      await replaceSmallFile(path, bytes, { durable: true });
      return { path };
    } catch (thrown) {
      error = thrownText(thrown);
    }
  }
  return { error };
}
