// What whoever works on a document gives along: the command line, an editor, another program.

import type { Environment } from "../base/environment.ts";
import type { Outcome } from "../base/problem.ts";
import type { Loaded } from "../config/sources/find.ts";
import type { Lifecycle } from "../parser/types.ts";
import type { Verdict } from "../tools/approval/types.ts";

export interface Host {
  readonly environment: Environment;
  /** The settings of a document (null: unsaved) with what this host says on top. */
  load(document: string | null): Promise<Outcome<Loaded>>;
  /** Takes what `print` in a first block writes. */
  print(line: string): void;
  /** Whether a reply is written while it arrives. */
  readonly stream: boolean;
}

/** A call that waits for something. */
export interface OpenCall {
  readonly id: string;
  /** The tool it asks for. */
  readonly name: string;
  /** What its block says; `open` has none yet, `running` runs now. */
  readonly status: "open" | "running" | Lifecycle;
  /** The line of its block, or of the call where there is none; 1-based. */
  readonly line: number;
  /** The call in one line that is safe to show. */
  readonly preview: string;
  /** Whether the preview leaves something out: then the call can be approved by its id only (S5). */
  readonly previewIsCut: boolean;
  /** What the approval chain says today, and who says it. */
  readonly verdict: Verdict;
}

/** What a new document begins with, as document text. */
export interface NewChatContent {
  /** Instructions to the model. @default no such message */
  readonly system?: string;
  /** The first question. @default empty, to be written by the person */
  readonly question?: string;
}
