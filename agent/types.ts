// What whoever works on a document gives along: the command line, an editor, another program.

import type { Environment } from "../base/environment.ts";
import type { Outcome } from "../base/problem.ts";
import type { Loaded } from "../config/sources/find.ts";

export interface Host {
  readonly environment: Environment;
  /** The settings of a document (null: unsaved) with what this host says on top. */
  load(document: string | null): Promise<Outcome<Loaded>>;
  /** Takes what `print` in a first block writes. */
  print(line: string): void;
  /** Whether a reply is written while it arrives. */
  readonly stream: boolean;
}
