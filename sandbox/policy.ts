// From the settings of a person to a finished policy: which paths are writable, and which entry said so.

import { failure, type Outcome, type Problem, success } from "../config/problem.ts";
import { DEFAULT_RW_PATHS, type RwPath, type SandboxSettings } from "../config/settings.ts";
import { expandPath, type PathContext } from "./expand.ts";
import { isInside, realPath } from "./realpath.ts";
import type { Policy } from "./types.ts";

/** One writable path and where it came from. */
export interface WritablePath {
  /** Absolute and real; need not exist. */
  readonly path: string;
  /** The first entry that led to it, as it was written. */
  readonly entry: string;
  /** Whether that entry belongs to the default policy; such a path may be missing without a word. */
  readonly byDefault: boolean;
}

/** An entry that gave no writable path of its own. */
export interface DroppedEntry {
  readonly entry: string;
  /** Completes the sentence "it was left out because …". */
  readonly reason: string;
}

/** A policy that remembers its origins. `rw_paths` holds the paths of `writable`, in the same order. */
export interface ResolvedPolicy extends Policy {
  readonly writable: readonly WritablePath[];
  readonly dropped: readonly DroppedEntry[];
  /** Real paths that are to be made as folders before a command runs (`create: true`). */
  readonly create: readonly string[];
  readonly notices: readonly Problem[];
}

/**
 * Expands, resolves, sorts and de-duplicates the writable paths (sandbox section 4). Nothing has to exist.
 * `protect` is empty: who makes the sandbox knows what to protect.
 *
 * Fails with `unknown-urn`; then nothing may be wrapped and nothing is writable.
 */
export function resolvePolicy(
  settings: Pick<SandboxSettings, "policy">,
  context: PathContext,
): Outcome<ResolvedPolicy> {
  const { rw_paths, network, allow_privileged } = settings.policy;
  const { cwd, home } = context.environment;
  const found: WritablePath[] = [];
  const dropped: DroppedEntry[] = [];
  const create: string[] = [];
  const notices: Problem[] = [];

  for (const item of rw_paths) {
    const { path: entry, create: wanted } = entryOf(item);
    const expansion = expandPath(entry, context);
    if (expansion.kind === "unknown-urn") return unknownUrn(entry);
    if (expansion.kind === "dropped") {
      dropped.push({ entry, reason: expansion.reason });
      if (expansion.mistake) notices.push(mistakenEntry(entry, expansion.reason));
      continue;
    }
    const path = realPath(expansion.path, cwd);
    if (path === null) {
      const reason = "it leads through too many links, or holds a NUL character";
      dropped.push({ entry, reason });
      notices.push(mistakenEntry(entry, reason));
      continue;
    }
    if (wanted) create.push(path);
    found.push({ path, entry, byDefault: DEFAULT_RW_PATHS.includes(entry) });
  }

  const writable = withoutCovered(found, dropped);
  const realHome = realPath(home, cwd);
  for (const { path, entry } of writable) {
    if (path === "/") notices.push(broadPath(entry, "the whole file system"));
    else if (path === realHome) notices.push(broadPath(entry, "your whole home folder"));
    else if (realHome !== null && isInside(realHome, path)) {
      notices.push(broadPath(entry, `${path}, which holds your home folder,`));
    }
  }
  return success({
    rw_paths: writable.map(({ path }) => path),
    network,
    allow_privileged,
    protect: [],
    writable,
    dropped,
    create,
    notices,
  });
}

function entryOf(item: RwPath): { path: string; create: boolean } {
  return typeof item === "string"
    ? { path: item, create: false }
    : { path: item.path, create: item.create === true };
}

/** Sorts by bytes and keeps only what no kept path covers; what falls out is added to `dropped`. */
function withoutCovered(found: readonly WritablePath[], dropped: DroppedEntry[]): WritablePath[] {
  const encoder = new TextEncoder();
  const kept: WritablePath[] = [];
  const sorted = found
    .map((writable, index) => ({ writable, index, bytes: encoder.encode(writable.path) }))
    .sort((a, b) => compareBytes(a.bytes, b.bytes) || a.index - b.index);
  for (const { writable } of sorted) {
    const cover = kept.find((other) => isInside(writable.path, other.path));
    if (cover === undefined) kept.push(writable);
    else dropped.push({ entry: writable.entry, reason: `${cover.entry} already covers ${writable.path}` });
  }
  return kept;
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let at = 0; at < shared; at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

function unknownUrn(entry: string): Outcome<never> {
  return failure(
    "unknown-urn",
    `The sandbox policy names ${entry}, which this program does not know; nothing is writable until that is mended.`,
    "Use urn:flemma:cwd or urn:flemma:buffer:path in sandbox.policy.rw_paths.",
  );
}

function mistakenEntry(entry: string, reason: string): Problem {
  return {
    code: "writable-path-dropped",
    message: `The writable path "${entry}" was left out because ${reason}.`,
    next: "Correct it in sandbox.policy.rw_paths.",
  };
}

function broadPath(entry: string, what: string): Problem {
  return {
    code: "broad-writable-path",
    message: `The entry "${entry}" makes ${what} writable inside the sandbox.`,
    next: "Start in the folder of the project, or list narrower paths in sandbox.policy.rw_paths.",
  };
}
