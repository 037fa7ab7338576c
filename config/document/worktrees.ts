// What this machine knows of the git worktrees of helpers, in the state folder, where no command can write.

import type { Environment } from "../../base/environment.ts";
import { isThere, readJsonOrNull, replaceSmallFile } from "../../base/files.ts";
import { stateFolder, worktreesFolder } from "../../base/folders.ts";
import { quickHash } from "../../base/hash.ts";
import { hasTexts, isObject } from "../../base/is_object.ts";
import { isInside } from "../../base/paths.ts";

/** A git worktree that flemma made for a helper. All paths are real. */
export interface Worktree {
  readonly folder: string;
  readonly branch: string;
  /** The commit from which the branch starts. */
  readonly base: string;
  /** The git folder that all worktrees of the repository share. */
  readonly repository: string;
  /** The folder of the document that asked, below which the project's settings are found. */
  readonly project: string;
  /** The path of `project` in the repository; empty, or with a slash at its end. */
  readonly prefix: string;
  /** The document of the helper. */
  readonly document: string;
  /** True if the folder of the document that asked had changes that are not in a commit. */
  readonly dirty: boolean;
}

/** Records a worktree, durably. */
export async function recordWorktree(environment: Environment, worktree: Worktree): Promise<void> {
  const folder = recordsFolder(environment);
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  const bytes = new TextEncoder().encode(JSON.stringify(worktree));
  await replaceSmallFile(recordPath(environment, worktree.folder), bytes, { durable: true });
}

/** Removes the record of a worktree that no longer exists. */
export async function forgetWorktree(environment: Environment, { folder }: Worktree): Promise<void> {
  await Deno.remove(recordPath(environment, folder));
}

/** Returns all recorded worktrees, whether or not they still exist. */
export function recordedWorktrees(environment: Environment): Worktree[] {
  const folder = recordsFolder(environment);
  if (!isThere(folder)) return [];
  return [...Deno.readDirSync(folder)].filter(({ name }) => name.endsWith(".json"))
    .flatMap(({ name }) => readRecord(`${folder}/${name}`) ?? [])
    .sort((a, b) => (a.folder < b.folder ? -1 : 1));
}

/** Returns the recorded worktree that contains a real path; null if there is none. */
export function worktreeAt(environment: Environment, path: string): Worktree | null {
  // Almost all documents work elsewhere.
  const base = realOrSame(worktreesFolder(environment));
  if (!isInside(path, base) || path === base) return null;
  const [repository, name] = path.slice(base.length + 1).split("/");
  const folder = `${base}/${repository}/${name}`;
  const found = readRecord(recordPath(environment, folder));
  return found?.folder === folder ? found : null;
}

function recordsFolder(environment: Environment): string {
  return `${stateFolder(environment)}/worktrees`;
}

function recordPath(environment: Environment, folder: string): string {
  return `${recordsFolder(environment)}/${quickHash(folder)}${quickHash(`${folder} again`)}.json`;
}

const TEXTS = ["folder", "branch", "base", "repository", "project", "prefix", "document"];

function readRecord(path: string): Worktree | null {
  const value = readJsonOrNull(path);
  return isObject(value) && hasTexts(value, TEXTS) && typeof value.dirty === "boolean"
    ? value as unknown as Worktree
    : null;
}

function realOrSame(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return path;
    throw thrown;
  }
}
