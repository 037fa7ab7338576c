// Messages about documents that other programs changed or removed, and about failed writes.

import { type Problem, thrownText } from "../../../base/problem.ts";

/** Reason why a document can no longer be written, with the message for the user. */
export interface Lost {
  readonly code: string;
  readonly message: string;
  /** Returns the sentence that says where our text was saved. */
  readonly saved: (aside: string) => string;
  /** Returns the sentence that says what to do, given the command that compares the two texts. */
  readonly next: (compare: string) => string;
}

export function describeConflict(path: string): Lost {
  return {
    code: "document-changed",
    message: `Another program changed ${path} in a way that flemma cannot merge.`,
    saved: (aside) => `The file keeps the other changes; the text of this run is in ${aside}.`,
    next: (compare) => `Compare the two (${compare}), then run the command again.`,
  };
}

export function describeRemoved(path: string): Lost {
  return {
    code: "document-changed",
    message: `Another program removed or moved ${path}.`,
    saved: (aside) => `The text of this run is in ${aside}.`,
    next: () => "Move that file to where you want the document, then run the command again.",
  };
}

export function describeFailedWrite(path: string, thrown: unknown): Lost {
  return {
    code: "write-failed",
    message: `${path} cannot be written: ${thrownText(thrown)}.`,
    saved: (aside) => `The complete text is in ${aside}.`,
    next: (compare) => `See what the file lacks (${compare}), and fix the cause.`,
  };
}

/** Another program changed what decides about tools while a reply arrived. */
export function describeDisobeyed(path: string): Problem {
  return {
    code: "document-changed",
    message: `Another program changed a status or the frontmatter of ${path} while the reply arrived. ` +
      "The file contains both.",
    next: "Check the file, then run the command again.",
  };
}

/** The document was removed while this run had released it. */
export function describeRemovedMeanwhile(path: string): Problem {
  return {
    code: "document-changed",
    message: `${path} was removed or moved while flemma waited. Nothing was sent.`,
    next: "If you moved the file, run the command again with its new path.",
  };
}

/** The document was changed while this run had released it, so an edit no longer fits. */
export function describeChangedMeanwhile(path: string): Problem {
  return {
    code: "document-changed",
    message: `Another program changed ${path} while flemma waited. This change was not made.`,
    next: "Check the file, then try again.",
  };
}
