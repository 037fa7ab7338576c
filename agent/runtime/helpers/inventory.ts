// Lists the helpers and worktrees that this machine made, and removes those that are no longer needed.

import type { Environment } from "../../../base/environment.ts";
import { isThere } from "../../../base/files.ts";
import { parentOf } from "../../../base/paths.ts";
import { forgetWorktree, recordedWorktrees, type Worktree } from "../../../config/document/worktrees.ts";
import { holderOf } from "../../../cycle/storage/lock.ts";
import { parse } from "../../../parser/mod.ts";
import { type CleanChoice, decideCleaning, type HelperState, type WorktreeState } from "./cleaning.ts";
import { nameOfHelper } from "./names.ts";
import { waitsForPerson } from "./question.ts";
import { HelperRecords } from "./record.ts";
import { BRANCHES } from "./repository.ts";
import { WorktreeGit, type WorktreeSubject } from "./worktree_git.ts";

/** A worktree of a helper, as it is now. */
export interface ListedTree {
  readonly folder: string;
  readonly branch: string;
  readonly state: WorktreeState;
}

/** A helper that this machine made. */
export interface ListedHelper {
  readonly name: string;
  /** Path of its document. */
  readonly document: string;
  /** The document that asked it. */
  readonly caller: string;
  readonly state: HelperState;
  readonly worktree: ListedTree | null;
}

/** Something that was removed, or would be. */
export interface RemovedPart {
  readonly what: "document" | "worktree";
  readonly path: string;
  /** The branch that goes with a worktree; null if there is none. */
  readonly branch: string | null;
}

/** Something that stays, and why, as the end of a sentence. */
export interface RetainedPart {
  readonly path: string;
  readonly why: string;
}

/** What `clean` did, or would do. */
export interface CleanReport {
  readonly removed: readonly RemovedPart[];
  readonly kept: readonly RetainedPart[];
}

/** Helpers whose worktrees git reads in parallel. */
const PARALLEL = 4;

export class HelperInventory {
  readonly #environment: Environment;
  readonly #lock: "state" | "beside";
  readonly #git: WorktreeGit;

  constructor(subject: WorktreeSubject) {
    this.#environment = subject.environment;
    this.#lock = subject.subject.settings.lock.place;
    this.#git = new WorktreeGit(subject);
  }

  /** Lists all helpers, or those of one document by its real path, also of helpers that it asked. */
  async list(caller: string | null): Promise<readonly ListedHelper[]> {
    const trees = new Map(recordedWorktrees(this.#environment).map((tree) => [tree.document, tree]));
    const found = new Map<string, string>();
    for (const { folder, caller, helpers } of new HelperRecords(this.#environment).all()) {
      for (const name of Object.keys(helpers)) found.set(`${folder}/${name}.chat`, caller);
    }
    for (const document of trees.keys()) {
      if (!found.has(document)) found.set(document, parentOf(document).slice(0, -2));
    }
    const wanted = [...found].filter(([document]) => caller === null || document.startsWith(`${caller}.d/`))
      .sort(([a], [b]) => (a < b ? -1 : 1));
    const listed: ListedHelper[] = [];
    for (let at = 0; at < wanted.length; at += PARALLEL) {
      const some = wanted.slice(at, at + PARALLEL);
      const found = some.map(([document, of]) => this.#listed(document, of, trees.get(document)));
      listed.push(...(await Promise.all(found)).filter((each) => each !== null));
    }
    return listed;
  }

  async #listed(document: string, caller: string, tree: Worktree | undefined): Promise<ListedHelper | null> {
    const state = await this.#stateOf(document);
    if (state === "missing" && tree === undefined) return null;
    const worktree = tree === undefined
      ? null
      : { folder: tree.folder, branch: tree.branch, state: await this.#treeState(tree) };
    return { name: nameOfHelper(document), document, caller, state, worktree };
  }

  /** Removes what the choice allows, or only reports it. */
  async clean(
    helpers: readonly ListedHelper[],
    choice: CleanChoice,
    { preview }: { readonly preview: boolean },
  ): Promise<CleanReport> {
    const removed: RemovedPart[] = [];
    const kept: RetainedPart[] = [];
    const recorded = new Map(recordedWorktrees(this.#environment).map((tree) => [tree.folder, tree]));
    for (const helper of helpers) {
      const { document, worktree } = helper;
      const decided = decideCleaning({ state: helper.state, worktree: worktree?.state ?? null }, choice);
      const tree = worktree === null ? undefined : recorded.get(worktree.folder);
      if (tree !== undefined && decided.worktree !== null) {
        const why = decided.worktree.keep ??
          (preview ? null : await this.#removeTree(tree, worktree!.state, choice.unmerged));
        if (why !== null) kept.push({ path: tree.folder, why });
        else removed.push({ what: "worktree", path: tree.folder, branch: tree.branch });
      }
      if (decided.document === null) continue;
      if (decided.document.keep !== null) kept.push({ path: document, why: decided.document.keep });
      else {
        if (!preview) await Deno.remove(document);
        removed.push({ what: "document", path: document, branch: null });
      }
    }
    return { removed, kept };
  }

  async #stateOf(document: string): Promise<HelperState> {
    if (!isThere(document)) return "missing";
    if (await holderOf(document, this.#environment, this.#lock) !== null) return "running";
    return waitsForPerson(parse(await Deno.readFile(document))) ? "waits" : "idle";
  }

  async #treeState({ folder, branch, base }: Worktree): Promise<WorktreeState> {
    if (!isThere(folder)) return "gone";
    if (!isThere(`${folder}/.git`)) return [...Deno.readDirSync(folder)].length === 0 ? "empty" : "unknown";
    const status = await this.#git.status(folder, []);
    if (!status.ok) return "unknown";
    if (status.value !== "") return "changed";
    const isSaved = async (commit: string) => commit === base || await this.#isElsewhere(folder, commit);
    const head = await this.#commit(folder, "HEAD");
    if (head === null || !await isSaved(head)) return "unmerged";
    const tip = await this.#commit(folder, `refs/heads/${branch}`);
    if (tip === null) return "unknown";
    return tip === head || await isSaved(tip) ? "merged" : "unmerged";
  }

  async #commit(cwd: string, name: string): Promise<string | null> {
    const found = await this.#git.ask({
      cwd,
      args: ["rev-parse", "--verify", "--quiet", `${name}^{commit}`],
    });
    return found.ok ? found.value.trim() : null;
  }

  /** True if a branch that flemma did not make contains a commit. */
  async #isElsewhere(cwd: string, commit: string): Promise<boolean> {
    const args = ["for-each-ref", "--format=%(refname)", "--contains", commit, "refs/heads"];
    const branches = await this.#git.ask({ cwd, args });
    return branches.ok &&
      branches.value.split("\n").some((name) => name !== "" && !name.startsWith(`refs/heads/${BRANCHES}`));
  }

  /** Removes a worktree and its branch; returns why it stays, or null. */
  async #removeTree(tree: Worktree, state: WorktreeState, force: boolean): Promise<string | null> {
    const { folder, branch, repository } = tree;
    if (state === "empty") await Deno.remove(folder);
    if (state !== "empty" && state !== "gone") {
      const tip = await this.#commit(folder, `refs/heads/${branch}`);
      const config = await this.#git.withoutFilters(folder);
      if (!config.ok) return `git does not answer: ${config.why}`;
      const git = (...args: string[]) =>
        this.#git.change([repository, parentOf(folder)], { cwd: repository, args, config: config.value });
      const removed = await git("worktree", "remove", ...(force ? ["--force"] : []), folder);
      if (!removed.ok) return `git does not remove it: ${removed.why}`;
      // Git compares the commit, so that a commit of this moment is not lost.
      if (tip !== null) {
        const deleted = await git("update-ref", "-d", `refs/heads/${branch}`, tip);
        if (!deleted.ok) return `its branch ${branch} cannot be removed: ${deleted.why}`;
      }
    }
    await forgetWorktree(this.#environment, tree);
    return null;
  }
}
