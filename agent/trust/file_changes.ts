// Saves in the state folder which watched files a document's last run changed, for `flemma status`.

import type { Environment } from "../../base/environment.ts";
import { isMissing, replaceSmallFile } from "../../base/files.ts";
import { stateFolder, stateNotice } from "../../base/folders.ts";
import { parentOf } from "../../base/paths.ts";
import { problemLine } from "../../base/problem.ts";
import { documentKey } from "../../cycle/storage/state_files.ts";
import type { Emit } from "../../cycle/types.ts";
import type { FileChange } from "../../sandbox/mod.ts";

/** Saves the changes of one run, and replaces those of the previous run. */
export class FileChanges {
  readonly #environment: Environment;
  readonly #path: string | null;
  readonly #emit: Emit;
  #all: readonly FileChange[] = [];
  #writing: Promise<void> = Promise.resolve();

  /** @param path of the document; null when it is unsaved, and then nothing is saved */
  constructor(environment: Environment, path: string | null, emit: Emit) {
    this.#environment = environment;
    this.#path = path;
    this.#emit = emit;
  }

  /** Adds changes; `done` waits until they are saved. */
  add(changes: readonly FileChange[]): void {
    this.#all = [...this.#all, ...changes];
    const all = this.#all;
    this.#writing = this.#writing.then(() => this.#write(all));
  }

  done(): Promise<void> {
    return this.#writing;
  }

  async #write(changes: readonly FileChange[]): Promise<void> {
    if (this.#path === null) return;
    try {
      const file = await fileOf(this.#environment, this.#path);
      await Deno.mkdir(parentOf(file), { recursive: true, mode: 0o700 });
      await replaceSmallFile(file, new TextEncoder().encode(JSON.stringify(changes)), { durable: false });
    } catch (thrown) {
      const effect = "flemma status cannot show which files commands changed.";
      const problem = stateNotice(this.#environment, thrown, effect);
      this.#emit({ event: "notice", code: problem.code, message: problemLine(problem) });
    }
  }
}

/** Returns the changes of the last run that changed watched files. */
export async function fileChangesOf(environment: Environment, path: string): Promise<FileChange[]> {
  let text: string;
  try {
    text = Deno.readTextFileSync(await fileOf(environment, path));
  } catch (thrown) {
    if (isMissing(thrown)) return [];
    throw thrown;
  }
  const value: unknown = JSON.parse(text);
  return Array.isArray(value) ? value.filter(isFileChange) : [];
}

function isFileChange(value: unknown): value is FileChange {
  const { path, change, obeyedBy } = (value ?? {}) as Partial<Record<string, unknown>>;
  return typeof path === "string" && typeof obeyedBy === "string" &&
    ["made", "changed", "removed"].includes(String(change));
}

async function fileOf(environment: Environment, path: string): Promise<string> {
  return `${stateFolder(environment)}/changes/${await documentKey(path)}.json`;
}
