// Small files for one command or one process, in a folder that only this user can write to and no command can reach.

import type { Environment } from "../../base/environment.ts";
import { failure, type Outcome, success, thrownText } from "../../base/problem.ts";
import { ownedName, sweep } from "./owned_names.ts";
import { makeFleetingFolder } from "./runtime_folders.ts";

export class PrivateFiles {
  readonly #folder: string;
  readonly #lasting: boolean;
  readonly #made: string[] = [];

  private constructor(folder: string, lasting: boolean) {
    this.#folder = folder;
    this.#lasting = lasting;
  }

  /** Opens the folder. Fails with `no-private-folder`. */
  static open(environment: Environment): Outcome<PrivateFiles> {
    const lasting = makeFleetingFolder(environment);
    try {
      const folder = lasting ?? Deno.makeTempDirSync({ prefix: "flemma-" });
      if (lasting !== null) sweep(lasting);
      return success(new PrivateFiles(folder, lasting !== null));
    } catch (thrown) {
      return failure(
        "no-private-folder",
        `The folder for the sandbox status could not be created: ${thrownText(thrown)}`,
        "Set XDG_RUNTIME_DIR or XDG_STATE_HOME to a writable folder.",
      );
    }
  }

  /**
   * Returns an unused path. A file created at this path is removed at the end, or by a later run if this one is
   * killed.
   */
  fresh(kind: string, digits = 32): string {
    const path = `${this.#folder}/${ownedName(kind, digits)}`;
    this.#made.push(path);
    return path;
  }

  /** Returns the path of a file with these bytes. The file stays for other commands, also for those of other runs. */
  constant(kind: string, bytes: Uint8Array): string {
    const path = `${this.#folder}/${kind}-${bytes.length}-${checksum(bytes)}`;
    if (written.has(path) && isFile(path)) return path;
    // The file may exist but be incomplete, so each process writes it once.
    const draft = this.fresh(kind);
    Deno.writeFileSync(draft, bytes, { createNew: true, mode: 0o600 });
    Deno.renameSync(draft, path);
    written.add(path);
    return path;
  }

  /**
   * Returns the path of a folder with these files. As a file of `constant`, the folder stays for other commands and
   * runs.
   */
  constantFolder(kind: string, entries: Entries): string {
    const path = `${this.#folder}/${kind}-${identityOf(entries)}`;
    if (written.has(path) && isFolder(path)) return path;
    const draft = this.fresh(kind);
    Deno.mkdirSync(draft, { mode: 0o700 });
    for (const [name, bytes] of entries) Deno.writeFileSync(`${draft}/${name}`, bytes, { mode: 0o600 });
    try {
      Deno.renameSync(draft, path);
    } catch (thrown) {
      // A folder of this name exists: another process made the same one, or it is an old one with other files. It is
      // moved out of the way.
      if (!isFolder(path)) throw thrown;
      Deno.renameSync(path, this.fresh(kind));
      Deno.renameSync(draft, path);
    }
    written.add(path);
    return path;
  }

  /**
   * Removes the files that are for one command or process only. If the folder was created only for them, removes the
   * folder too.
   */
  remove(): void {
    for (const path of this.#lasting ? this.#made : [this.#folder]) {
      try {
        Deno.removeSync(path, { recursive: true });
      } catch (thrown) {
        if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
      }
    }
  }
}

/** Constant files this process wrote. */
const written = new Set<string>();

type Entries = readonly (readonly [name: string, bytes: Uint8Array])[];

/** Identities of files that a caller keeps for further commands. */
const identities = new WeakMap<Entries, string>();

/** Length and checksum of files with their names. */
function identityOf(entries: Entries): string {
  let identity = identities.get(entries);
  if (identity === undefined) {
    const all = entries.flatMap(([name, bytes]) => [...new TextEncoder().encode(name), 0, ...bytes, 0]);
    identities.set(entries, identity = `${all.length}-${checksum(Uint8Array.from(all))}`);
  }
  return identity;
}

/** Distinguishes contents of one kind. The folder is private, so nobody can plant a collision. */
function checksum(bytes: Uint8Array): string {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, "0");
}

function isFolder(path: string): boolean {
  try {
    return Deno.lstatSync(path).isDirectory;
  } catch {
    return false;
  }
}

function isFile(path: string): boolean {
  try {
    return Deno.lstatSync(path).isFile;
  } catch {
    return false;
  }
}
