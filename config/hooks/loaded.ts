// The hooks of a run, as the settings provide them.

import type { Problem } from "../../base/problem.ts";
import type { Hook, UnsupportedHook } from "./definition.ts";

/** All hooks of a run, in configured order. */
export interface LoadedHooks {
  readonly hooks: readonly Hook[];
  readonly unsupported: readonly UnsupportedHook[];
  /** Files of hooks, and every file that their commands name. Commands must not change them. */
  readonly files: readonly string[];
  /** SHA-256 of the files that commands name, when the settings were read. */
  readonly seals: ReadonlyMap<string, string>;
  /** Folder of the project: the value of `CLAUDE_PROJECT_DIR`. */
  readonly project: string;
  readonly notices: readonly Problem[];
}
