// Holds the bodies of many requests in a file without a name, so that memory holds one batch at a time.

import type { Environment } from "../base/environment.ts";
import { writeAllSync } from "../base/files.ts";
import { StateUnwritable } from "../base/folders.ts";
import { batchFolder } from "./journal.ts";

/** Where a body is in the spool. */
export interface SpooledBody {
  readonly at: number;
  readonly size: number;
}

export class Spool {
  readonly #environment: Environment;
  readonly #file: Deno.FsFile;
  #end = 0;

  private constructor(environment: Environment, file: Deno.FsFile) {
    this.#environment = environment;
    this.#file = file;
  }

  static async open(environment: Environment): Promise<Spool> {
    const folder = batchFolder(environment);
    try {
      await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
      const path = `${folder}/spool-${crypto.randomUUID()}`;
      const file = await Deno.open(path, { createNew: true, read: true, write: true, mode: 0o600 });
      // Without a name, nothing is left if the program is killed.
      await Deno.remove(path);
      return new Spool(environment, file);
    } catch (thrown) {
      throw new StateUnwritable(environment, thrown);
    }
  }

  /** Adds a body. Synchronous, because several documents add bodies at the same time. */
  add(bytes: Uint8Array): SpooledBody {
    const at = this.#end;
    try {
      this.#file.seekSync(at, Deno.SeekMode.Start);
      writeAllSync(this.#file, bytes);
    } catch (thrown) {
      throw new StateUnwritable(this.#environment, thrown);
    }
    this.#end += bytes.length;
    return { at, size: bytes.length };
  }

  read({ at, size }: SpooledBody): string {
    const bytes = new Uint8Array(size);
    this.#file.seekSync(at, Deno.SeekMode.Start);
    for (let done = 0; done < size;) {
      const count = this.#file.readSync(bytes.subarray(done));
      if (count === null) throw new Error("the spool of a batch ended early");
      done += count;
    }
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }
}
