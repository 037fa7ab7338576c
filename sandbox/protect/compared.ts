// What would be too many mounts, such as the configuration of each of a hundred repositories: it is compared after a
// command instead, and put back.

import { parentOf } from "../../base/paths.ts";
import type { Problem } from "../../base/problem.ts";
import { FsSnapshot } from "../../base/disk/fs_snapshot.ts";
import { isHarmlessGit } from "./repository.ts";

/** Files longer than this are told when they changed, but cannot be put back. */
const MOST_BYTES = 256 * 1024;

/** How deep folders are looked into, and how many things of one are remembered. */
const MOST_DEPTH = 3;
const MOST_THINGS = 200;

/** A protected path that exists and is not mounted, as it was before a command. */
export interface Compared {
  readonly path: string;
  /** Of a folder: the names in it that other programs may run or read; null for everything else. */
  readonly names: readonly string[] | null;
  /** Of a file: its bytes as Latin-1; null when it is too long to keep, or no file. */
  readonly text: string | null;
  readonly mode: number | null;
  /** Tells one file from the next where the bytes cannot. */
  readonly stamp: string;
}

/** How something is moved away and how a step that may fail is told; `repair.ts` has them. */
export interface Repairs {
  /** Answers with where it lies now. */
  moveAway(path: string): Promise<string>;
  /** Writes a file where nothing stands. */
  putBack(path: string, bytes: Uint8Array, mode: number): Promise<void>;
  attempt(path: string, act: () => Promise<Problem>): Promise<Problem>;
}

/** Notes what stands at these paths now. The snapshot remembers enough to say later that nothing changed. */
export function remember(paths: readonly string[], snapshot: FsSnapshot): Compared[] {
  const found: Compared[] = [];
  for (const path of paths) {
    const most = found.length + MOST_THINGS;
    inspect(path, 0, snapshot, (compared) => found.length < most && found.push(compared) > 0);
  }
  return found;
}

function inspect(
  path: string,
  depth: number,
  snapshot: FsSnapshot,
  add: (compared: Compared) => boolean,
): void {
  const info = snapshot.lstat(path);
  if (info === null) return;
  const stamp = `${info.dev} ${info.ino} ${info.size} ${info.mtime?.getTime()}`;
  const { mode } = info;
  if (!info.isDirectory) {
    add({ path, names: null, text: bytesOf(path, snapshot), mode, stamp });
    return;
  }
  const names = live(snapshot.names(path));
  if (!add({ path, names, text: null, mode, stamp: "" }) || depth === MOST_DEPTH) return;
  for (const name of names) inspect(`${path}/${name}`, depth + 1, snapshot, add);
}

/** Puts back what a command changed; answers with what was done, for the person. Nothing is deleted. */
export async function putBack(compared: readonly Compared[], repairs: Repairs): Promise<Problem[]> {
  const reported: Problem[] = [];
  for (const before of compared) {
    if (before.names !== null) {
      for (const path of appeared(before)) {
        reported.push(await repairs.attempt(path, () => away(path, repairs)));
      }
    } else if (!isUnchanged(before)) {
      const { path } = before;
      reported.push(await repairs.attempt(path, () => restore(before, repairs)));
    }
  }
  return reported;
}

async function away(path: string, { moveAway }: Repairs): Promise<Problem> {
  const kept = await moveAway(path);
  return {
    code: "protected-path-appeared",
    message: `A command made ${path}, which other programs would run or obey. It was moved away.`,
    next: `Look at ${kept}; if you want it, move it back yourself.`,
  };
}

async function restore({ path, text, mode }: Compared, { moveAway, putBack }: Repairs): Promise<Problem> {
  if (text === null) throw new Error("it is too long to be kept");
  const kept = new FsSnapshot().has(path) ? await moveAway(path) : null;
  await putBack(path, bytes(text), mode ?? 0o644);
  return {
    code: "protected-path-restored",
    message: `A command changed ${path}, which other programs run or obey. It was put back as it was.`,
    ...(kept === null ? {} : { next: `What stood there is kept as ${kept}.` }),
  };
}

/** Whether nothing came of a command that matters: the same text, settings that run nothing, or none left. */
function isUnchanged({ path, text, mode, stamp }: Compared): boolean {
  const snapshot = new FsSnapshot();
  const info = snapshot.lstat(path);
  // Programs do without; only the common folder of a worktree must not be guessed by git.
  if (info === null) return !path.endsWith("/commondir") || !snapshot.has(parentOf(path));
  if (text === null) return stamp === `${info.dev} ${info.ino} ${info.size} ${info.mtime?.getTime()}`;
  // A file that was none to run must not become one.
  if (bytesOf(path, snapshot) === text) return ((info.mode ?? 0) & ~(mode ?? 0) & 0o111) === 0;
  return /\/config(\.worktree)?$/.test(path) && isHarmlessGit(path);
}

/** What stands in a folder now and did not before; the folder itself where something else has its place. */
function appeared({ path, names }: Compared): string[] {
  const snapshot = new FsSnapshot();
  const info = snapshot.lstat(path);
  if (info === null) return [];
  if (!info.isDirectory) return [path];
  return live(snapshot.names(path)).filter((name) => !names!.includes(name)).map((name) => `${path}/${name}`);
}

/** Names without the samples of hooks, which git does not run. */
function live(names: readonly string[]): string[] {
  return names.filter((name) => !name.endsWith(".sample"));
}

function bytesOf(path: string, snapshot: FsSnapshot): string | null {
  return snapshot.lstat(path)?.isFile ? snapshot.readBytes(path, MOST_BYTES) : null;
}

function bytes(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}
