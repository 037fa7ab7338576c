// Settings that commands removed from git configurations, in the state folder: a later command may add them again only
// with the same values.

import type { Environment } from "../../base/environment.ts";
import { isMissing } from "../../base/files.ts";
import { stateFolder } from "../../base/folders.ts";
import { type Problem, thrownText } from "../../base/problem.ts";

/** Values by key. */
export type SettingValues = ReadonlyMap<string, readonly string[]>;

/** The list: one removed setting per line, as JSON. A later line replaces an earlier one for the same setting. */
export class RemovedSettings {
  readonly #file: string | null;
  readonly #values = new Map<string, Map<string, readonly string[]>>();
  #problem: Problem | null = null;

  /** @param environment without it, nothing is remembered across runs */
  constructor(environment: Environment | null) {
    this.#file = environment === null ? null : `${stateFolder(environment)}/removed-settings`;
    if (this.#file === null) return;
    try {
      for (const line of Deno.readTextFileSync(this.#file).split("\n")) this.#read(line);
    } catch (thrown) {
      if (!isMissing(thrown)) this.#problem = unusable(this.#file, thrown);
    }
  }

  /** Why the list could not be read or written; null if it could. */
  get problem(): Problem | null {
    return this.#problem;
  }

  /** The settings that commands removed from the configuration at a path. */
  of(path: string): SettingValues {
    return this.#values.get(path) ?? new Map();
  }

  /** Adds settings. A failure is recorded in `problem` and not thrown, because it affects only later runs. */
  add(path: string, removed: SettingValues): void {
    const known = this.of(path);
    const lines = [...removed].filter(([key, values]) => known.get(key)?.join("\n") !== values.join("\n"))
      .map((setting) => JSON.stringify([path, ...setting]));
    if (lines.length === 0) return;
    this.#values.set(path, new Map([...known, ...removed]));
    if (this.#file === null) return;
    try {
      Deno.mkdirSync(this.#file.slice(0, this.#file.lastIndexOf("/")), { recursive: true, mode: 0o700 });
      // One write of whole lines, so that several runs can append at the same time.
      Deno.writeTextFileSync(this.#file, `${lines.join("\n")}\n`, { append: true, mode: 0o600 });
    } catch (thrown) {
      this.#problem = unusable(this.#file, thrown);
    }
  }

  #read(line: string): void {
    const [path, key, values] = parsed(line);
    if (typeof path !== "string" || typeof key !== "string" || !Array.isArray(values)) return;
    this.#values.set(path, new Map([...this.of(path), [key, values.map(String)]]));
  }
}

/** The parts of a line; none for an empty or incomplete line, which another run may be writing. */
function parsed(line: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(line);
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}

function unusable(file: string, thrown: unknown): Problem {
  return {
    code: "repositories-not-remembered",
    message: `The list of removed git settings, ${file}, cannot be used: ${thrownText(thrown)}`,
    next: "Check the state folder. Until then, flemma compares settings only with those of this run.",
  };
}
