// Decides whether an approval in the text of a document was given on this machine. Pure.

import type { Settings } from "../../config/settings.generated.ts";
import type { AskedAlthough } from "../../cycle/types.ts";

/** What the records of this machine say about one call, by its text and its conversation. */
export interface JournalFacts {
  /** A command, an editor host, the library or the policy approved it here. */
  readonly approved: boolean;
  /** It waited here, in this document or in one with the same earlier turns. */
  readonly waited: boolean;
  /** It ran here, in this document or a copy of it. */
  readonly ran: boolean;
  /** Why a command could have written the approval, as the end of a sentence; null if none could. */
  readonly written: string | null;
  /** The document was used by a version that did not record which calls wait. */
  readonly predates: boolean;
  /** Why the person was asked last although the text said `approved`. */
  readonly asked: AskedAlthough;
}

/** What git says about the document. */
export type GitFacts =
  /** It is not tracked. */
  | { readonly is: "untracked" }
  /** Whether one of the committed texts contains the approval. */
  | { readonly is: "tracked"; readonly approves: boolean }
  /** Git did not answer. */
  | { readonly is: "unknown"; readonly why: string };

/** Why an approval in the text does not count, or `null` if it does. */
export type Doubt =
  | { readonly code: "elsewhere" | "commands" | "ran" | "committed" }
  | { readonly code: "git" | "written" | "state"; readonly why: string };

/** The question to git is asked only if the answer matters. */
export async function doubtOf(
  setting: Settings["trust"]["approvals"],
  facts: JournalFacts,
  git: () => Promise<GitFacts>,
): Promise<Doubt | null> {
  if (setting === "anywhere") return null;
  if (facts.ran && facts.asked.ran !== true) return { code: "ran" };
  if (facts.approved) return null;
  if (facts.written !== null) return { code: "written", why: facts.written };
  if (setting === "commands") return { code: "commands" };
  if (facts.predates) return null;
  if (!facts.waited) return { code: "elsewhere" };
  const answer = await git();
  if (answer.is === "unknown") return { code: "git", why: answer.why };
  // `git restore` writes the same word as a person, also after the person was asked.
  return answer.is === "tracked" && answer.approves ? { code: "committed" } : null;
}

/** A doubt about one or several calls as the end of a sentence. */
export function doubtText(doubt: Doubt, calls: "one" | "several" = "one"): string {
  const [approval, was, has] = calls === "one"
    ? ["its approval", "was", "it has"]
    : ["their approvals", "were", "they have"];
  switch (doubt.code) {
    case "elsewhere":
      return `${approval} ${was} not given here`;
    case "commands":
      return "only approvals by commands and editors count (trust.approvals)";
    case "ran":
      return `${has} already run in this document or a copy of it`;
    case "committed":
      return `a commit contains ${approval}, so the word in the text does not count`;
    case "written":
      return `a command could have written ${approval}, because ${doubt.why}`;
    case "state":
      return `${approval} cannot be recorded, because ${doubt.why}`;
    case "git":
      return `git does not say whether a commit contains ${approval}: ${doubt.why}`;
  }
}
