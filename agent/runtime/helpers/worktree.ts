// Makes the git worktree of a helper. Git runs in a sandbox, without hooks, filters and the network.

import { realPath } from "../../../base/disk/real_path.ts";
import { isThere } from "../../../base/files.ts";
import { worktreesFolder } from "../../../base/folders.ts";
import { quickHash } from "../../../base/hash.ts";
import { baseName, isInside, parentOf, workFolderOf } from "../../../base/paths.ts";
import { failure, type Outcome, success, thrownText } from "../../../base/problem.ts";
import { recordWorktree, type Worktree, worktreeAt } from "../../../config/document/worktrees.ts";
import type { RwPath } from "../../../config/values.ts";
import { expandPath } from "../../../sandbox/paths/expand.ts";
import { type AskingRepository, BRANCHES, nameOfWorktree, readPlaces, readWorktrees } from "./repository.ts";
import { WorktreeGit, type WorktreeSubject } from "./worktree_git.ts";

/** Milliseconds within which git must have written the files of a worktree. */
const LONG = 600_000;

/** The entry of `rw_paths` that means the working folder of a document. */
const OWN_FOLDER = "urn:flemma:buffer:path";

/** Folders for temporary files. A project inside of one does not take it from its helpers. */
const TEMPORARY: readonly string[] = ["/tmp", "${TMPDIR:-/tmp}"];

/** The folder and the rights of a helper in a worktree. */
export interface WorktreePlace {
  /** The folder in which the helper works. */
  readonly folder: string;
  /** Writable paths of the document that asks, which the helper does not get. */
  readonly lost: readonly RwPath[];
  /** Writable paths that the helper gets instead. */
  readonly granted: readonly RwPath[];
}

/** Makes worktrees of the repository in which one document works. */
export class HelperWorktrees {
  readonly #asking: WorktreeSubject;
  readonly #git: WorktreeGit;
  /** Worktrees are made one after the other, because git locks its files. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(asking: WorktreeSubject) {
    this.#asking = asking;
    this.#git = new WorktreeGit(asking);
  }

  /** Finds the repository. Fails with `helper-worktree` if no worktree is possible; the message is for the model. */
  async find(signal?: AbortSignal): Promise<Outcome<AskingRepository>> {
    const cwd = this.#folder;
    const ask = (...args: string[]) => this.#git.ask({ cwd, args, signal });
    const places = await ask(
      "rev-parse",
      "--path-format=absolute",
      "--show-toplevel",
      "--git-common-dir",
      "--show-prefix",
    );
    if (!places.ok) return refusal(`${cwd} is not in the working tree of a git repository: ${places.why}.`);
    const found = readPlaces(places.value);
    if (found === null) return refusal("The path of the repository contains a line break.");
    const { home } = this.#asking.environment;
    if (isInside(realPath(home, "/") ?? home, found.top)) {
      return refusal(`The repository ${found.top} contains the home folder.`);
    }
    const head = await ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}");
    if (!head.ok) return refusal("The repository has no commit yet.");
    const tree = await ask("cat-file", "-t", "HEAD:./");
    if (!tree.ok || tree.value.trim() !== "tree") return refusal(`The last commit has no folder ${cwd}.`);
    const status = await this.#git.status(cwd, [
      ...["--", ":/", ":(exclude,top,glob)**/*.chat", ":(exclude,top,glob)**/*.chat.d/**"],
    ]);
    if (!status.ok) return refusal(`The state of the repository is not known: ${status.why}.`);
    return success({ ...found, head: head.value.trim(), dirty: status.value !== "" });
  }

  /**
   * Chooses branch and folder of a new worktree, and records it before git makes it. The folder is empty. Fails with
   * `helper-worktree`.
   */
  async choose(name: string, document: string, repository: AskingRepository): Promise<Outcome<Worktree>> {
    return await this.#inTurn(async () => {
      const { environment } = this.#asking;
      const { top, common, prefix, head, dirty } = repository;
      try {
        const place = `${worktreesFolder(environment)}/${nameOfRepository(top, common)}`;
        await Deno.mkdir(place, { recursive: true, mode: 0o700 });
        const above = await Deno.realPath(place);
        const branches = await this.#branches(top);
        if (!branches.ok) return branches;
        const own = claimFolder(above, name, branches.value);
        const folder = `${above}/${own}`;
        const worktree: Worktree = {
          folder,
          branch: `${BRANCHES}${own}`,
          base: head,
          repository: common,
          project: this.#folder,
          prefix,
          document,
          dirty,
        };
        await recordWorktree(environment, worktree);
        return success(worktree);
      } catch (thrown) {
        return refusal(`The folder of the worktree cannot be created: ${thrownText(thrown)}.`);
      }
    });
  }

  /**
   * Lets git write the files of a chosen worktree, also after an earlier run was killed while it did so. Fails with
   * `helper-worktree`; then nothing is lost, because no helper has worked there.
   */
  async fill(worktree: Worktree, signal?: AbortSignal): Promise<Outcome<WorktreePlace>> {
    return await this.#inTurn(async () => {
      const { folder, branch, base, repository, prefix } = worktree;
      const cwd = this.#folder;
      const list = await this.#git.ask({ cwd, args: ["worktree", "list", "--porcelain"] });
      if (!list.ok) return refusal(`Git does not list its worktrees: ${list.why}.`);
      const listed = readWorktrees(list.value).find((each) => each.folder === folder);
      if (listed === undefined || listed.unfinished) {
        const config = await this.#git.withoutFilters(cwd);
        if (!config.ok) return refusal(`The settings of the repository cannot be read: ${config.why}.`);
        const git = (place: string, ...args: string[]) =>
          this.#git.change([repository, place], {
            cwd,
            args: ["worktree", ...args],
            config: config.value,
            patience: LONG,
            signal,
          });
        if (listed?.unfinished) {
          const removed = await git(parentOf(folder), "remove", "--force", "--force", folder);
          if (!removed.ok) {
            return refusal(`The unfinished worktree ${folder} cannot be removed: ${removed.why}.`);
          }
          await Deno.mkdir(folder, { mode: 0o700 });
        }
        const branches = await this.#branches(cwd);
        if (!branches.ok) return branches;
        const isMade = branches.value.includes(branch);
        const added = await git(
          folder,
          ...["add", "--quiet"],
          ...isMade ? [folder, branch] : ["--no-track", "-b", branch, folder, base],
        );
        if (!added.ok) return refusal(`Git cannot make the worktree: ${added.why}.`);
      }
      const work = `${folder}/${prefix}`.replace(/\/$/, "");
      if (realPath(work, "/") !== work || worktreeAt(this.#asking.environment, work) === null) {
        return refusal(`The worktree has no folder ${prefix}.`);
      }
      return success({ folder: work, ...this.#rights() });
    });
  }

  /** Returns whether a worktree has changes that are not in a commit. */
  async isChanged({ folder }: Worktree): Promise<boolean> {
    const status = await this.#git.status(folder, []);
    return status.ok && status.value !== "";
  }

  get #folder(): string {
    return workFolderOf(this.#asking.environment, this.#asking.path);
  }

  /** The project of the document that asks is not writable, except by its folder for temporary files. */
  #rights(): Pick<WorktreePlace, "lost" | "granted"> {
    const { environment, path, subject } = this.#asking;
    const entries = subject.settings.sandbox.policy.rw_paths;
    const own = this.#folder;
    const found = entries.map((entry) => {
      const text = typeof entry === "string" ? entry : entry.path;
      const expanded = expandPath(text, { environment, document: path });
      const real = expanded.kind === "path" ? realPath(expanded.path, environment.cwd) : null;
      return { entry, text, real };
    });
    const project = topOf(own);
    const lost = found.filter(({ text, real }) =>
      text !== OWN_FOLDER && real !== null &&
      (isInside(real, project) || (isInside(project, real) && !TEMPORARY.includes(text)))
    );
    const mayWrite = found.some(({ real }) => real !== null && isInside(own, real));
    const hasOwn = found.some(({ text }) => text === OWN_FOLDER);
    return {
      lost: lost.map(({ entry }) => entry),
      granted: mayWrite && !hasOwn ? [OWN_FOLDER] : [],
    };
  }

  async #branches(cwd: string): Promise<Outcome<readonly string[]>> {
    const args = ["for-each-ref", "--format=%(refname:strip=2)", `refs/heads/${BRANCHES}`];
    const answer = await this.#git.ask({ cwd, args });
    return answer.ok
      ? success(answer.value.split("\n"))
      : refusal(`The branches of the repository cannot be read: ${answer.why}.`);
  }

  async #inTurn<T>(work: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => {});
    return await turn;
  }
}

/** Returns the lines of a result that name the worktree of the helper. */
export function worktreeNotes(worktree: Worktree, changed: boolean): string[] {
  const { branch, folder, dirty } = worktree;
  return [
    ...(dirty ? ["Changes of the project that are not in a commit were not in it."] : []),
    ...(changed ? [`The worktree ${folder} has changes that are not in a commit.`] : []),
    `Branch: ${branch}`,
  ];
}

/** A readable name, and a digest that tells repositories of the same name apart. */
function nameOfRepository(top: string, common: string): string {
  const word = baseName(top).replace(/[^\w.-]+/g, "-").replace(/^\.+/, "").slice(0, 40);
  return `${word}-${quickHash(common)}`;
}

/** Makes the folder of a worktree, which no other run can have made too. Returns its name. */
function claimFolder(above: string, name: string, branches: readonly string[]): string {
  for (;;) {
    const own = nameOfWorktree(name, branches, (each) => isThere(`${above}/${each}`));
    try {
      Deno.mkdirSync(`${above}/${own}`, { mode: 0o700 });
      return own;
    } catch (thrown) {
      if (!(thrown instanceof Deno.errors.AlreadyExists)) throw thrown;
    }
  }
}

/** The folder with `.git` at or above a folder in a repository. */
function topOf(folder: string): string {
  for (let at = folder; at !== "/"; at = parentOf(at)) if (isThere(`${at}/.git`)) return at;
  return folder;
}

function refusal(message: string): Outcome<never> {
  return failure("helper-worktree", `This preset gives its helpers git worktrees. ${message}`);
}
