// An open file as in Deno, over Node.

import { converted, errors } from "./errors.ts";
import { fileInfo } from "./file_info.ts";
import type { NodeModules } from "./modules.ts";

/** The members of `Deno.FsFile` that the library uses. */
export class NodeFile implements Disposable {
  readonly #node: NodeModules;
  readonly #descriptor: number;
  readonly #appends: boolean;
  /** Position of the next read or write; null for files without positions, such as pipes. Node has no call for it. */
  #at: number | null;
  #isOpen = true;

  constructor(node: NodeModules, descriptor: number, appends: boolean) {
    this.#node = node;
    this.#descriptor = descriptor;
    this.#appends = appends;
    this.#at = node.fs.fstatSync(descriptor).isFile() ? 0 : null;
  }

  readSync(bytes: Uint8Array): number | null {
    return this.#try(() => {
      const count = this.#node.fs.readSync(this.#descriptor, bytes, 0, bytes.length, this.#at);
      return this.#moved(count, bytes.length);
    });
  }

  async read(bytes: Uint8Array): Promise<number | null> {
    const at = this.#at;
    const count = await this.#call<number>((done) =>
      this.#node.fs.read(this.#descriptor, bytes, 0, bytes.length, at, done)
    );
    return this.#moved(count, bytes.length);
  }

  writeSync(bytes: Uint8Array): number {
    return this.#try(() => {
      const at = this.#appends ? null : this.#at;
      const count = this.#node.fs.writeSync(this.#descriptor, bytes, 0, bytes.length, at);
      if (this.#at !== null) this.#at += count;
      return count;
    });
  }

  async write(bytes: Uint8Array): Promise<number> {
    const at = this.#appends ? null : this.#at;
    const count = await this.#call<number>((done) =>
      this.#node.fs.write(this.#descriptor, bytes, 0, bytes.length, at, done)
    );
    if (this.#at !== null) this.#at += count;
    return count;
  }

  seekSync(offset: number | bigint, whence: number): number {
    const base = whence === 0 ? 0 : whence === 1 ? this.#at ?? 0 : this.statSync().size;
    return this.#at = base + Number(offset);
  }

  // deno-lint-ignore require-await -- errors of the call are rejections
  async seek(offset: number | bigint, whence: number): Promise<number> {
    return this.seekSync(offset, whence);
  }

  statSync(): Deno.FileInfo {
    return this.#try(() => fileInfo(this.#node.fs.fstatSync(this.#descriptor)));
  }

  // deno-lint-ignore require-await -- errors of the call are rejections
  async stat(): Promise<Deno.FileInfo> {
    return this.statSync();
  }

  truncateSync(length = 0): void {
    this.#try(() => this.#node.fs.ftruncateSync(this.#descriptor, length));
  }

  // deno-lint-ignore require-await -- errors of the call are rejections
  async truncate(length?: number): Promise<void> {
    this.truncateSync(length);
  }

  syncSync(): void {
    this.#try(() => this.#node.fs.fsyncSync(this.#descriptor));
  }

  async sync(): Promise<void> {
    await this.#call<void>((done) => this.#node.fs.fsync(this.#descriptor, done));
  }

  syncDataSync(): void {
    this.#try(() => this.#node.fs.fdatasyncSync(this.#descriptor));
  }

  async syncData(): Promise<void> {
    await this.#call<void>((done) => this.#node.fs.fdatasync(this.#descriptor, done));
  }

  utimeSync(atime: number | Date, mtime: number | Date): void {
    this.#try(() => this.#node.fs.futimesSync(this.#descriptor, atime, mtime));
  }

  tryLockSync(exclusive = false): boolean {
    return this.#flock(exclusive ? "-x" : "-s", "-n");
  }

  // deno-lint-ignore require-await -- errors of the call are rejections
  async tryLock(exclusive = false): Promise<boolean> {
    return this.tryLockSync(exclusive);
  }

  lockSync(exclusive = false): void {
    this.#flock(exclusive ? "-x" : "-s");
  }

  async lock(exclusive = false): Promise<void> {
    while (!this.tryLockSync(exclusive)) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  unlockSync(): void {
    this.#flock("-u");
  }

  // deno-lint-ignore require-await -- errors of the call are rejections
  async unlock(): Promise<void> {
    this.unlockSync();
  }

  close(): void {
    if (!this.#isOpen) throw new errors.BadResource("The file is closed.");
    this.#isOpen = false;
    this.#node.fs.closeSync(this.#descriptor);
  }

  [Symbol.dispose](): void {
    if (this.#isOpen) this.close();
  }

  /**
   * Takes or releases the system's lock on the open file. Node has no call for it. The program `flock` gets the same
   * open file, and the lock belongs to the file as long as this process has it open.
   */
  #flock(...options: readonly string[]): boolean {
    const { status, error } = this.#node.processes.spawnSync("flock", [...options, "3"], {
      stdio: ["ignore", "ignore", "ignore", this.#descriptor],
    });
    if (status === 0) return true;
    if (status === 1 && options.includes("-n")) return false;
    throw new errors.NotSupported(
      error === undefined
        ? `flock failed with code ${status}`
        : "Node cannot lock files without the program flock",
    );
  }

  #moved(count: number, wanted: number): number | null {
    if (this.#at !== null) this.#at += count;
    return count === 0 && wanted > 0 ? null : count;
  }

  #try<T>(work: () => T): T {
    if (!this.#isOpen) throw new errors.BadResource("The file is closed.");
    return converted(work)();
  }

  #call<T>(start: (done: (error: Error | null, result?: unknown) => void) => void): Promise<T> {
    return this.#try(() =>
      new Promise<T>((resolve, reject) =>
        start((error, result) => error === null ? resolve(result as T) : reject(error))
      )
    );
  }
}
