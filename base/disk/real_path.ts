// Resolves the real location of a path, even if the end of the path does not exist.

import { FsSnapshot, type Trace } from "./fs_snapshot.ts";

/** Maximum number of links that are followed, as in the kernel; a path with more links leads nowhere. */
const MAX_LINKS = 40;

/**
 * Returns the absolute path without links for `path`, relative to `cwd`. Links are followed component by component,
 * including the last one, and `..` is applied after the links before it. Components that do not exist, or cannot be
 * accessed, are kept as text, so a dangling link gives its target. `snapshot` caches what was already read at this
 * moment. Null if the path leads nowhere, because it has more than 40 links or contains a NUL character.
 */
export function realPath(path: string, cwd: string, snapshot = new FsSnapshot()): string | null {
  return traceLinks(path, cwd, snapshot)?.path ?? null;
}

/** Returns the result of `realPath` with the links on the way. */
export function traceLinks(path: string, cwd: string, snapshot = new FsSnapshot()): Trace | null {
  if (path.includes("\0")) return null;
  const absolute = path.startsWith("/") ? path : `${cwd}/${path}`;
  const known = snapshot.traces.get(absolute);
  if (known !== undefined) return known;
  const trace = traceBelowParent(absolute, snapshot) ?? traceWhole(absolute, snapshot);
  snapshot.traces.set(absolute, trace);
  return trace;
}

/**
 * Returns the trace of a path, derived from the trace of its parent folder. Null if the last component is a link or
 * not a plain name: such a path needs a full trace.
 */
function traceBelowParent(absolute: string, snapshot: FsSnapshot): Trace | null {
  const slash = absolute.lastIndexOf("/");
  const name = absolute.slice(slash + 1);
  if (slash <= 0 || name === "" || name === "." || name === "..") return null;
  const parent = traceLinks(absolute.slice(0, slash), "/", snapshot);
  if (parent === null) return null;
  const candidate = `${parent.path === "/" ? "" : parent.path}/${name}`;
  return snapshot.linkTarget(candidate) === null ? { path: candidate, links: parent.links } : null;
}

function traceWhole(absolute: string, snapshot: FsSnapshot): Trace | null {
  const pending = absolute.split("/").reverse();
  const real: string[] = [];
  const links: { path: string; target: string }[] = [];
  while (pending.length > 0) {
    const component = pending.pop();
    if (component === undefined || component === "" || component === ".") continue;
    if (component === "..") {
      real.pop();
      continue;
    }
    const candidate = `/${[...real, component].join("/")}`;
    const target = snapshot.linkTarget(candidate);
    if (target === null) {
      real.push(component);
      continue;
    }
    if (links.push({ path: candidate, target }) > MAX_LINKS) return null;
    if (target.startsWith("/")) real.length = 0;
    pending.push(...target.split("/").reverse());
  }
  return { path: `/${real.join("/")}`, links };
}
