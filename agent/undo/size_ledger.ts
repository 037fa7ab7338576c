// The total size of all saved changes, so that saving another one need not look at all of them.

import { isMissing } from "../../base/files.ts";

/** Length of the ledger, in bytes, from which it is written again as one number. */
const LONGEST = 64 * 1024;

/**
 * A file of lines, each the change of the total in bytes. Processes append to it, so that their sums agree. A kill
 * between a line and its change leaves a wrong total; the next full count corrects it.
 */
export class SizeLedger {
  readonly #path: string;
  /** Inode and length of what was read, and its sum. */
  #read = { ino: 0, length: 0, sum: 0 };

  constructor(path: string) {
    this.#path = path;
  }

  /** Adds a change and returns the total after it; null if the total must be counted again. */
  add(bytes: number): number | null {
    let file: Deno.FsFile;
    try {
      file = Deno.openSync(this.#path, { read: true, append: true });
    } catch (thrown) {
      if (isMissing(thrown)) return null;
      throw thrown;
    }
    using open = file;
    open.writeSync(new TextEncoder().encode(`${bytes}\n`));
    const { ino, size } = open.statSync();
    if (size > LONGEST) return null;
    if (ino !== this.#read.ino || size < this.#read.length) this.#read = { ino: ino ?? 0, length: 0, sum: 0 };
    open.seekSync(this.#read.length, Deno.SeekMode.Start);
    const tail = new Uint8Array(size - this.#read.length);
    let filled = 0;
    for (let count: number | null = 1; filled < tail.length && count !== null; filled += count ?? 0) {
      count = open.readSync(tail.subarray(filled));
    }
    const lines = new TextDecoder().decode(tail.subarray(0, filled)).split("\n").slice(0, -1).map(Number);
    if (lines.some((line) => !Number.isSafeInteger(line))) return null;
    const sum = lines.reduce((all, each) => all + each, this.#read.sum);
    this.#read = { ino: ino ?? 0, length: this.#read.length + filled, sum };
    return sum;
  }

  /** Begins again with a total that was counted. */
  begin(total: number): void {
    const temporary = `${this.#path}.${crypto.randomUUID().slice(0, 8)}`;
    Deno.writeTextFileSync(temporary, `${total}\n`, { mode: 0o600 });
    Deno.renameSync(temporary, this.#path);
    this.#read = { ino: 0, length: 0, sum: 0 };
  }
}
