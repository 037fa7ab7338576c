// A file with the complete output of a job, or with its beginning and its end if it is too long.

import { parentOf } from "../../base/paths.ts";
import { type Problem, thrownText } from "../../base/problem.ts";

/** Bytes copied at a time. */
const PIECE = 1 << 20;

/**
 * A new private file that takes output. Once it is full, its second half is overwritten in a circle; `close` brings the
 * end into order. Writing may fail; `problem` says why, and the partial file is removed.
 */
export class BothEndsFile {
  readonly bothEnds = true;
  readonly #path: string;
  /** Bytes of the beginning, and of the end. */
  readonly #half: number;
  #file: Deno.FsFile | null = null;
  #written = 0;
  problem: Problem | null = null;

  constructor(path: string, limit: number) {
    this.#path = path;
    this.#half = Math.floor(limit / 2);
  }

  /** Path of the file if it has the output, else null. */
  get usablePath(): string | null {
    return this.problem === null && this.#written > 0 ? this.#path : null;
  }

  /** True if bytes between beginning and end were left out. */
  get capped(): boolean {
    return this.#written > 2 * this.#half;
  }

  /** Appends bytes; the first call creates the file. Never rejects. */
  async write(bytes: Uint8Array): Promise<void> {
    if (this.problem !== null) return;
    try {
      this.#file ??= await create(this.#path);
      for (let rest = bytes; rest.length > 0;) {
        const at = this.#placeOf(this.#written);
        const room = (at < this.#half ? this.#half : 2 * this.#half) - at;
        await this.#file.seek(at, Deno.SeekMode.Start);
        const count = await this.#file.write(rest.subarray(0, room));
        this.#written += count;
        rest = rest.subarray(count);
      }
    } catch (thrown) {
      const reason = thrownText(thrown).replace(/ \(os error \d+\).*$/s, "").replace(/\.$/, "");
      this.problem = {
        code: "overflow-unwritable",
        message: `The complete output could not be saved to ${this.#path}: ${reason}.`,
      };
      await this.discard();
    }
  }

  /** Returns where in the file the byte with this number belongs. */
  #placeOf(number: number): number {
    return number < this.#half ? number : this.#half + (number - this.#half) % this.#half;
  }

  /** Brings the end of the output into order, and closes the file. Never rejects. */
  async close(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    if (file === null) return;
    try {
      if (this.capped) await this.#unroll(file);
    } catch (thrown) {
      this.problem = {
        code: "overflow-unwritable",
        message: `The complete output could not be saved to ${this.#path}: ${thrownText(thrown)}.`,
      };
    } finally {
      file.close();
    }
  }

  /** Writes the file again, with the end of the output in order. */
  async #unroll(file: Deno.FsFile): Promise<void> {
    const temporary = `${this.#path}.new`;
    using to = await Deno.open(temporary, { write: true, create: true, truncate: true, mode: 0o600 });
    const copy = async (from: number, end: number) => {
      await file.seek(from, Deno.SeekMode.Start);
      for (let left = end - from; left > 0;) {
        const piece = new Uint8Array(Math.min(left, PIECE));
        const count = await file.read(piece) ?? 0;
        if (count === 0) return;
        for (let rest = piece.subarray(0, count); rest.length > 0;) {
          rest = rest.subarray(await to.write(rest));
        }
        left -= count;
      }
    };
    const half = this.#half;
    await copy(0, half);
    const gap = `\n[… ${this.#written - 2 * half} bytes left out …]\n`;
    await to.write(new TextEncoder().encode(gap));
    const oldest = this.#placeOf(this.#written);
    await copy(oldest, 2 * half);
    await copy(half, oldest);
    await Deno.rename(temporary, this.#path);
  }

  /** Closes and removes the file. */
  async discard(): Promise<void> {
    if (this.#file === null && this.#written === 0) return;
    this.#file?.close();
    this.#file = null;
    this.#written = 0;
    try {
      await Deno.remove(this.#path);
    } catch (thrown) {
      if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
    }
  }
}

async function create(path: string): Promise<Deno.FsFile> {
  await Deno.mkdir(parentOf(path), { recursive: true, mode: 0o700 });
  return await Deno.open(path, { read: true, write: true, create: true, truncate: true, mode: 0o600 });
}
