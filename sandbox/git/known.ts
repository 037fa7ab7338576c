// Repositories that earlier runs saw, in the state folder. A command can hide one from a scan, but not from this list.

import type { Environment } from "../../base/environment.ts";
import { isMissing } from "../../base/files.ts";
import { stateFolder } from "../../base/folders.ts";
import { isInside } from "../../base/paths.ts";
import { type Problem, thrownText } from "../../base/problem.ts";

/** If the list has more lines than this, repositories that no longer exist are dropped from it. */
const MANY = 5000;

/** The list: one real path of a working folder or bare repository per line, as JSON. */
export class KnownRepositories {
  readonly #file: string;
  readonly #paths = new Set<string>();
  #problem: Problem | null = null;

  constructor(environment: Environment) {
    this.#file = `${stateFolder(environment)}/repositories`;
    try {
      for (const line of Deno.readTextFileSync(this.#file).split("\n")) {
        const path = parsed(line);
        if (path !== null) this.#paths.add(path);
      }
    } catch (thrown) {
      if (!isMissing(thrown)) this.#problem = unreadable(this.#file, thrown);
    }
  }

  /** Why the list could not be read or written; null if it could. */
  get problem(): Problem | null {
    return this.#problem;
  }

  /** Known repositories in these folders. They need not exist any more. */
  below(folders: readonly string[]): string[] {
    return [...this.#paths].filter((path) => folders.some((folder) => isInside(path, folder)));
  }

  /**
   * Adds repositories to the list. A failure is recorded in `problem` and not thrown, because it affects only later
   * runs.
   */
  add(paths: readonly string[]): void {
    const added = [...new Set(paths)].filter((path) => !this.#paths.has(path));
    if (added.length === 0) return;
    for (const path of added) this.#paths.add(path);
    try {
      Deno.mkdirSync(this.#file.slice(0, this.#file.lastIndexOf("/")), { recursive: true, mode: 0o700 });
      if (this.#paths.size > MANY) this.#rewrite();
      // One write of whole lines, so that several runs can append at the same time.
      else Deno.writeTextFileSync(this.#file, lines(added), { append: true, mode: 0o600 });
    } catch (thrown) {
      this.#problem = unreadable(this.#file, thrown);
    }
  }

  #rewrite(): void {
    for (const path of this.#paths) if (!exists(path)) this.#paths.delete(path);
    const draft = `${this.#file}.${crypto.randomUUID().slice(0, 8)}`;
    Deno.writeTextFileSync(draft, lines(this.#paths), { createNew: true, mode: 0o600 });
    Deno.renameSync(draft, this.#file);
  }
}

function lines(paths: Iterable<string>): string {
  return [...paths].map((path) => `${JSON.stringify(path)}\n`).join("");
}

/** The path of a line; null for an empty or incomplete line, which another run may be writing. */
function parsed(line: string): string | null {
  try {
    const path: unknown = JSON.parse(line);
    return typeof path === "string" && path.startsWith("/") ? path : null;
  } catch {
    return null;
  }
}

function exists(path: string): boolean {
  try {
    return Deno.lstatSync(path).isDirectory;
  } catch {
    return false;
  }
}

function unreadable(file: string, thrown: unknown): Problem {
  return {
    code: "repositories-not-remembered",
    message: `The list of known repositories, ${file}, cannot be used: ${thrownText(thrown)}`,
    next:
      "Check the state folder. Until then, flemma protects only the repositories that it finds in each run.",
  };
}
