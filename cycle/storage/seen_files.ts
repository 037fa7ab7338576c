// A record of the file states that the calls of one document last read, kept between runs.

import type { Environment } from "../../base/environment.ts";
import { isMissing, replaceSmallFile } from "../../base/files.ts";
import { stateNotice } from "../../base/folders.ts";
import { isObject } from "../../base/is_object.ts";
import type { Problem } from "../../base/problem.ts";
import type { SeenFile, SeenFiles } from "../../tools/definition.ts";
import { documentKey, stateFolder } from "./state_files.ts";

/** Maximum number of remembered files per document; the least recently seen are dropped first. */
const MAX_FILES = 1000;

/**
 * Opens the record of the document at `path`; if the path is null (unsaved), the record stays in this process.
 *
 * @param report receives the problem if the record cannot be written; the calls keep their results
 */
export async function openSeenFiles(
  environment: Environment,
  path: string | null,
  report: (problem: Problem) => void = () => {},
): Promise<SeenFiles> {
  const failed = (thrown: unknown) => report(stateNotice(environment, thrown, UNREMEMBERED));
  if (path === null) return new Memory(null, new Map(), failed);
  const file = `${stateFolder(environment)}/seen/${await documentKey(path)}.json`;
  return new Memory(file, await readMemory(file), failed);
}

const UNREMEMBERED = "Could not record which files the model has seen; the results are complete.";

class Memory implements SeenFiles {
  readonly #file: string | null;
  readonly #seen: Map<string, SeenFile>;
  readonly #failed: (thrown: unknown) => void;
  #writing: Promise<void> = Promise.resolve();

  constructor(file: string | null, seen: Map<string, SeenFile>, failed: (thrown: unknown) => void) {
    this.#file = file;
    this.#seen = seen;
    this.#failed = failed;
  }

  get paths(): readonly string[] {
    return [...this.#seen.keys()];
  }

  get(path: string): SeenFile | null {
    return this.#seen.get(path) ?? null;
  }

  record(files: readonly (readonly [string, SeenFile])[]): Promise<void> {
    if (files.length === 0) return this.#writing;
    for (const [path, seen] of files) {
      this.#seen.delete(path);
      this.#seen.set(path, seen);
    }
    for (const path of this.paths.slice(0, -MAX_FILES)) this.#seen.delete(path);
    // The result of the call is already known, so a failed record must not look like a failure of the call.
    this.#writing = this.#writing.then(() => this.#write()).catch(this.#failed);
    return this.#writing;
  }

  async #write(): Promise<void> {
    if (this.#file === null) return;
    await Deno.mkdir(this.#file.slice(0, this.#file.lastIndexOf("/")), { recursive: true, mode: 0o700 });
    const text = JSON.stringify([...this.#seen]);
    await replaceSmallFile(this.#file, new TextEncoder().encode(text), { durable: false });
  }
}

/** Returns the stored record; empty if a crash of the machine left a partial file. */
async function readMemory(file: string): Promise<Map<string, SeenFile>> {
  try {
    const value: unknown = JSON.parse(await Deno.readTextFile(file));
    return new Map(Array.isArray(value) ? value.filter(isEntry) : []);
  } catch (thrown) {
    if (isMissing(thrown) || thrown instanceof SyntaxError) return new Map();
    throw thrown;
  }
}

function isEntry(value: unknown): value is [string, SeenFile] {
  if (!Array.isArray(value) || typeof value[0] !== "string") return false;
  const seen: unknown = value[1];
  return isObject(seen) && typeof seen.hash === "string" && typeof seen.size === "number" &&
    typeof seen.mtime === "number";
}
