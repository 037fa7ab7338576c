// What a document needs to ask helpers, and what a helper knows of those that asked it.

import type { Outcome } from "../../../base/problem.ts";
import type { RunPurse } from "../../../cycle/usage/purse.ts";
import type { ChatSession, OpenOptions } from "../../types.ts";

/** The documents that are being advanced above a helper. */
export interface Above {
  /** What the run has used of its limits. */
  readonly purse: RunPurse;
  /** Real paths, the outermost first. */
  readonly documents: readonly string[];
}

/** Opens a document, like `openChat`. */
export type OpenHelper = (
  path: string,
  options: OpenOptions & { readonly above?: Above },
) => Promise<Outcome<ChatSession>>;

/** Options by which a document can ask helpers. A filter has none of them. */
export interface AskingOptions {
  /** Opens the documents of helpers. @default the document cannot ask helpers */
  readonly openHelper?: OpenHelper;
  /** Those that asked this document. @default none */
  readonly above?: Above;
}
