// Asks git, inside the sandbox, for the committed text of a document.

import type { Environment } from "../../base/environment.ts";
import { isThere } from "../../base/files.ts";
import { baseName, parentOf } from "../../base/paths.ts";
import { runGit, type RunSandbox } from "../../sandbox/mod.ts";

/** The texts of a document in the repository: of its branches, tags and stashes, the index, a merge, a fetch and before a reset. */
export type Committed =
  | { readonly is: "untracked" }
  | { readonly is: "tracked"; readonly texts: readonly Uint8Array[] }
  | { readonly is: "unknown"; readonly why: string };

/**
 * Revisions from which git may have written the document, besides branches, tags and stashes. Stages 2 and 3 of the index
 * are both sides of a conflict.
 */
const REVISIONS = ["HEAD:", ":", ":2:", ":3:", "MERGE_HEAD:", "FETCH_HEAD:", "ORIG_HEAD:"];

/** The beginnings of texts that a filter of git replaced. */
const FILTERED = ["version https://git-lfs.github.com/spec/", "\0GITCRYPT\0"];

/** Whether a path lies in a folder that git may manage. Reads no repository. */
export function mayBeTracked(path: string): boolean {
  for (let folder = parentOf(path);; folder = parentOf(folder)) {
    if (isThere(`${folder === "/" ? "" : folder}/.git`)) return true;
    if (folder === "/") return false;
  }
}

/**
 * Asks for the text of a document in the last commit, in the index, and in every branch, tag and stash.
 *
 * @param sandbox in which commands can write nothing
 */
export async function committedText(
  path: string,
  sandbox: RunSandbox,
  environment: Environment,
): Promise<Committed> {
  if (!mayBeTracked(path)) return { is: "untracked" };
  const name = baseName(path);
  if (/[\n\r]/.test(name)) return { is: "unknown", why: "the file name contains a line break" };
  const ask = askerIn(parentOf(path), sandbox, environment);
  const inputs = REVISIONS.map((revision) => `${revision}./${name}`);
  const [answer, refs] = await Promise.all([
    ask(["cat-file", "--batch"], inputs),
    ask(["for-each-ref", "--format=%(objectname)%(HEAD)"], []),
  ]);
  if (!answer.ok) return answer.problem;
  if (!refs.ok) return refs.problem;
  const known = blobsIn(answer.value, inputs);
  const tips = tipsIn(refs.value).map((id) => `${id}:./${name}`);
  if (tips.length === 0) return committedAs(known);
  // A text may be the same in thousands of branches, so its id is asked for first.
  const checked = await ask(["cat-file", "--batch-check=%(objectname) %(objecttype)"], tips);
  if (!checked.ok) return checked.problem;
  const ids = blobIdsIn(checked.value).filter((id) => known?.has(id) !== true);
  if (ids.length === 0) return committedAs(known);
  const further = await ask(["cat-file", "--batch"], ids);
  if (!further.ok) return further.problem;
  const more = blobsIn(further.value, ids);
  return committedAs(known === null || more === null ? null : new Map([...known, ...more]));
}

type Answer =
  | { readonly ok: true; readonly value: Uint8Array }
  | { readonly ok: false; readonly problem: Committed };

/** Returns a function that runs a git command on lines of input in a folder, inside the sandbox. */
function askerIn(cwd: string, sandbox: RunSandbox, environment: Environment) {
  return async (args: readonly string[], input: readonly string[]): Promise<Answer> => {
    // The repository may belong to another user, as in containers: git runs nothing outside the sandbox.
    const config = { "safe.directory": "*" };
    const answer = await runGit(sandbox, environment, { cwd, args, input, config });
    if (answer.ok) return answer;
    // A folder of that name that git does not accept as a repository brought nothing.
    const isRepository = !/not a git repository/.test(answer.why);
    const problem: Committed = isRepository ? { is: "unknown", why: answer.why } : { is: "untracked" };
    return { ok: false, problem };
  };
}

/** The objects that branches, tags and stashes name, except that of the current branch. */
function tipsIn(answer: Uint8Array): string[] {
  const lines = new TextDecoder().decode(answer).split("\n").filter((line) => line !== "");
  const current = lines.find((line) => line.endsWith("*"))?.slice(0, -1);
  return [...new Set(lines.map((line) => line.slice(0, -1)))].filter((id) => id !== current);
}

/** Reads the answer of `git cat-file --batch-check` with `ID KIND` for each object. */
function blobIdsIn(answer: Uint8Array): string[] {
  const lines = new TextDecoder().decode(answer).split("\n");
  return [...new Set(lines.flatMap((line) => /^([0-9a-f]+) blob$/.exec(line)?.[1] ?? []))];
}

/** Reads the answer of `git cat-file --batch` to each input. */
export function readBatch(answer: Uint8Array, inputs: readonly string[]): Committed {
  return committedAs(blobsIn(answer, inputs));
}

/**
 * Reads `ID KIND SIZE`, the bytes and a line end for each input; or one line. Returns the blobs by id; null if the answer
 * is incomplete.
 */
function blobsIn(answer: Uint8Array, inputs: readonly string[]): ReadonlyMap<string, Uint8Array> | null {
  const blobs = new Map<string, Uint8Array>();
  let at = 0;
  for (const input of inputs) {
    const end = answer.indexOf(0x0a, at);
    if (end < 0) return null;
    const line = new TextDecoder().decode(answer.subarray(at, end));
    at = end + 1;
    // The line repeats the input, which may look like any answer.
    if (line === `${input} missing`) continue;
    const [, id, kind, size] = /^([0-9a-f]+) (\w+) (\d+)$/.exec(line) ?? [];
    const length = Number(size);
    if (id === undefined || !(at + length < answer.length)) return null;
    if (kind === "blob") blobs.set(id, answer.subarray(at, at + length));
    at += length + 1;
  }
  return blobs;
}

function committedAs(blobs: ReadonlyMap<string, Uint8Array> | null): Committed {
  if (blobs === null) return { is: "unknown", why: "git's answer is incomplete" };
  if (blobs.size === 0) return { is: "untracked" };
  if ([...blobs.values()].some(isFiltered)) {
    return {
      is: "unknown",
      why: "the repository holds another text than the file (a filter such as Git LFS)",
    };
  }
  return { is: "tracked", texts: [...blobs.values()] };
}

function isFiltered(text: Uint8Array): boolean {
  const start = new TextDecoder().decode(text.subarray(0, 64));
  return FILTERED.some((beginning) => start.startsWith(beginning));
}
