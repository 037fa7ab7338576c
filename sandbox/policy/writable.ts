// Resolves the writable paths of a policy. Expands the entries, and drops those behind untrusted links or inside
// another entry.

import { isInside } from "../../base/paths.ts";
import { type Outcome, type Problem, success } from "../../base/problem.ts";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import type { RwPath } from "../../config/values.ts";
import { expandPath, type PathContext } from "../paths/expand.ts";
import type { FsSnapshot, Trace } from "../../base/disk/fs_snapshot.ts";
import { realPath, traceLinks } from "../../base/disk/real_path.ts";
import { linkInside } from "../paths/stray_link.ts";
import { mistakenEntry, unknownUrn } from "./entries.ts";
import { CACHES } from "./private_caches.ts";

/** One writable path and its origin. */
export interface WritablePath {
  /** Absolute real path, which need not exist. */
  readonly path: string;
  /** The first entry that led to the path, as written. */
  readonly entry: string;
  /** True if the path comes from an entry of the default policy. If such a path is missing, there is no notice. */
  readonly byDefault: boolean;
}

/** An entry that adds no writable path. */
export interface DroppedEntry {
  /** The entry as written. */
  readonly entry: string;
  /** Reason why the entry was left out, as the end of the sentence "it was left out because …". */
  readonly reason: string;
}

/** The result of resolving the entries for writable paths. */
export interface WritablePaths {
  /** The writable paths and the entries they come from, sorted by their bytes. */
  readonly writable: readonly WritablePath[];
  /** Entries without effect. */
  readonly dropped: readonly DroppedEntry[];
  /** Real paths of entries that are not in `writable`, because another writable path contains them. */
  readonly covered: readonly string[];
  /** Real paths to create as folders before a command runs (`create: true`). */
  readonly create: readonly string[];
  /** Notices for the person. */
  readonly notices: readonly Problem[];
}

/**
 * Expands, resolves, sorts and de-duplicates the entries. Fails with `unknown-urn`.
 *
 * @param caches the paths that `urn:flemma:caches` stands for
 * @param snapshot where paths lead; each path is looked up only once
 */
export function writablePaths(
  entries: readonly RwPath[],
  caches: readonly string[],
  context: PathContext,
  snapshot: FsSnapshot,
): Outcome<WritablePaths> {
  const traced: TracedPath[] = [];
  const dropped: DroppedEntry[] = [];
  const notices: Problem[] = [];
  const leaveOut = (entry: string, reason: string, mistake = true) => {
    dropped.push({ entry, reason });
    if (mistake) notices.push(mistakenEntry(entry, reason));
  };
  for (const item of entries) {
    const { path: entry, create: wanted } = entryOf(item);
    const expansion = entry === CACHES
      ? { kind: "paths", paths: caches } as const
      : expandPath(entry, context);
    if (expansion.kind === "unknown-urn") return unknownUrn(entry);
    if (expansion.kind === "dropped") {
      leaveOut(entry, expansion.reason, expansion.mistake);
      continue;
    }
    for (const path of expansion.kind === "path" ? [expansion.path] : expansion.paths) {
      const trace = traceLinks(path, context.environment.cwd, snapshot);
      if (trace === null) {
        leaveOut(entry, "it has too many symbolic links, or contains a NUL character");
        continue;
      }
      const writable = {
        path: trace.path,
        entry,
        byDefault: DEFAULT_SETTINGS.sandbox.policy.rw_paths.includes(entry),
      };
      traced.push({ writable, wanted, trace });
    }
  }
  const { kept, astray } = withoutAstray(traced);
  for (const { writable: { entry }, reason } of astray) leaveOut(entry, reason);
  const found = kept.map(({ writable }) => writable);
  const writable = withoutCovered(found, dropped);
  return success({
    writable,
    dropped,
    covered: [...new Set(found.map(({ path }) => path))].filter((path) =>
      !writable.some((kept) => kept.path === path)
    ),
    create: kept.filter(({ wanted }) => wanted).map(({ trace }) => trace.path),
    notices,
  });
}

/** Notices about writable paths that contain more than was probably intended. */
export function broadPaths(
  writable: readonly WritablePath[],
  { environment: { home, cwd } }: PathContext,
  snapshot: FsSnapshot,
): Problem[] {
  const realHome = realPath(home, cwd, snapshot);
  return writable.flatMap(({ path, entry }) => {
    if (path === "/") return [broadPath(entry, "the whole file system")];
    if (path === realHome) return [broadPath(entry, "your whole home folder")];
    return realHome !== null && isInside(realHome, path)
      ? [broadPath(entry, `${path}, which contains your home folder,`)]
      : [];
  });
}

function broadPath(entry: string, what: string): Problem {
  return {
    code: "broad-writable-path",
    message: `The entry "${entry}" makes ${what} writable inside the sandbox.`,
    next: "Start in the project's folder, or list narrower paths in sandbox.policy.rw_paths.",
  };
}

function entryOf(item: RwPath): { path: string; create: boolean } {
  return typeof item === "string"
    ? { path: item, create: false }
    : { path: item.path, create: item.create === true };
}

/** Sorts paths by their bytes and drops each path that is inside another one. Adds the dropped paths to `dropped`. */
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

interface TracedPath {
  readonly writable: WritablePath;
  readonly wanted: boolean;
  readonly trace: Trace;
}

/**
 * Leaves out entries that lead through a link inside a writable path to a target that no other entry names directly. A
 * command of an earlier run could have made that link. The next command would then write where nobody intended it to.
 */
function withoutAstray(
  traced: readonly TracedPath[],
): { kept: TracedPath[]; astray: { writable: WritablePath; reason: string }[] } {
  const roots = traced.map(({ trace }) => trace.path);
  const direct = traced.filter(({ trace }) => linkInside(trace, roots) === null)
    .map(({ trace }) => trace.path);
  const kept: TracedPath[] = [];
  const astray: { writable: WritablePath; reason: string }[] = [];
  for (const each of traced) {
    const link = linkInside(each.trace, roots);
    if (link === null || direct.some((path) => isInside(each.trace.path, path))) kept.push(each);
    else {
      const { writable, trace } = each;
      const reason =
        `it leads to ${trace.path} through the symbolic link ${link}, which commands could have created; ` +
        "use the target path instead";
      astray.push({ writable, reason });
    }
  }
  return { kept, astray };
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let at = 0; at < shared; at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
