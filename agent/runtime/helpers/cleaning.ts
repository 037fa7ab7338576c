// Decides which documents and worktrees of helpers may be removed. Pure.

/** What a helper's document is doing: a call or a question in it waits for a person, or nothing does. */
export type HelperState = "missing" | "running" | "waits" | "idle";

/**
 * What a worktree contains: nothing any more, nothing yet, changes that are not in a commit, commits that are in no other
 * branch, only what other branches have too; or git does not say.
 */
export type WorktreeState = "gone" | "empty" | "changed" | "unmerged" | "merged" | "unknown";

/** What the person allows to remove. */
export interface CleanChoice {
  /** Worktrees with work that is in no other branch. */
  readonly unmerged: boolean;
  /** Documents. */
  readonly documents: boolean;
  /** Documents that wait, and their worktrees. */
  readonly waiting: boolean;
}

/** Why a part stays, as the end of a sentence; null if it is removed. */
export interface Cleaned {
  readonly keep: string | null;
}

/** Decides about the parts of one helper; null for a part that it does not have, or that is not meant. */
export function decideCleaning(
  { state, worktree }: { readonly state: HelperState; readonly worktree: WorktreeState | null },
  { unmerged, documents, waiting }: CleanChoice,
): { readonly document: Cleaned | null; readonly worktree: Cleaned | null } {
  const busy = state === "running"
    ? "a run uses the helper"
    : state === "waits" && !waiting
    ? "the helper waits for you (to remove it all the same: --waiting)"
    : null;
  const tree = worktree === null ? null : { keep: busy ?? workIn(worktree, unmerged) };
  if (state === "missing" || !documents) return { document: null, worktree: tree };
  const needed = tree !== null && tree.keep !== null ? "its worktree stays" : null;
  return { document: { keep: busy ?? needed }, worktree: tree };
}

function workIn(state: WorktreeState, unmerged: boolean): string | null {
  switch (state) {
    case "gone":
    case "empty":
    case "merged":
      return null;
    case "unknown":
      return "git does not say what is in it";
    case "changed":
      return unmerged ? null : "it has changes that are not in a commit (to lose them: --unmerged)";
    case "unmerged":
      return unmerged ? null : "its commits are in no other branch (to lose them: --unmerged)";
  }
}
