// Snapshot of the files, folders and programs that rules look up.

import type { Environment } from "../../../base/environment.ts";
import { baseName, isInside, parentOf } from "../../../base/paths.ts";
import { parseMountTable } from "../../../sandbox/paths/mount_table.ts";
import { FsSnapshot } from "../../../base/disk/fs_snapshot.ts";
import { realPath } from "../../../base/disk/real_path.ts";
import type { FileStatus } from "../../../base/system/libc.ts";

/** The files and programs that rules are evaluated against. */
export interface RuleWorld {
  /** Returns the absolute path without symbolic links of a path relative to a folder; null if it leads nowhere. */
  real(path: string, from: string): string | null;
  /** Returns the kind of file at a path. Links are followed. */
  kind(path: string): "file" | "folder" | "other" | "missing";
  /** Returns the number of hard links of the file. */
  links(path: string): number;
  /**
   * True if a mount point lies between a folder and a path below it, so that the path leads to files of another mount.
   */
  crossesMount(folder: string, path: string): boolean;
  /** True if a path stays read-only for tools. */
  isProtected(path: string): boolean;
  /** True if names at this path that differ only in case are the same file. */
  ignoresCase(path: string): boolean;
  /**
   * If commands could have changed which program a name in `PATH` runs, returns the folder or file that they can
   * change; otherwise null.
   */
  plantable(program: string): string | null;
  readonly home: string;
}

/** Options for taking a snapshot. */
export interface WorldOptions {
  readonly environment: Environment;
  /** `PATH` of commands. */
  readonly path: string;
  /** Returns the real paths that commands may write; null if unknown. */
  writable(): readonly string[] | null;
  /** True if a real path stays read-only for tools, existing or not. */
  isProtected(path: string): boolean;
}

/** Takes a snapshot: each thing is looked up once, so that all parts of a call are evaluated against the same state. */
export function worldNow(options: WorldOptions): RuleWorld {
  const { environment } = options;
  const snapshot = new FsSnapshot();
  const real = (path: string, from: string) => realPath(path, from, snapshot);
  const stat = (path: string): FileStatus | null => {
    const at = real(path, "/");
    return at === null ? null : snapshot.lstat(at);
  };
  const plantable = (program: string): string | null => {
    const roots = options.writable();
    if (roots === null) return "any folder, because the sandbox policy cannot be read";
    const writable = roots.filter((root) => root !== "/");
    const reachable = (path: string) => {
      const place = real(path, environment.cwd);
      return place === null || writable.some((root) => isInside(place, root));
    };
    for (const folder of options.path.split(":")) {
      if (!folder.startsWith("/")) return folder === "" ? "an empty entry in PATH" : folder;
      if (reachable(folder)) return folder;
      if (!mayHold(folder, program)) continue;
      const file = `${folder}/${program}`;
      const found = stat(file);
      if (found?.isFile && (found.mode ?? 0) & 0o111) return reachable(file) ? file : null;
    }
    return null;
  };
  const programs = new Map<string, string | null>();
  let points: readonly string[] | null = null;
  return {
    home: environment.home,
    real,
    kind(path) {
      const found = stat(path);
      return found === null ? "missing" : found.isFile ? "file" : found.isDirectory ? "folder" : "other";
    },
    links: (path) => stat(path)?.nlink ?? 1,
    crossesMount(folder, path) {
      points ??= mountPoints();
      return points.some((point) => point !== folder && isInside(point, folder) && isInside(path, point));
    },
    isProtected: (path) => options.isProtected(path),
    ignoresCase(path) {
      let at = path;
      while (at !== "/" && (stat(at) === null || !/[a-z]/i.test(baseName(at)))) at = parentOf(at);
      if (at === "/") return false;
      const name = baseName(at);
      const other = name === name.toUpperCase() ? name.toLowerCase() : name.toUpperCase();
      const [one, two] = [stat(at), stat(`${parentOf(at)}/${other}`)];
      return one !== null && two !== null && one.ino !== null && one.ino === two.ino && one.dev === two.dev;
    },
    plantable(program) {
      const known = programs.get(program);
      if (known !== undefined) return known;
      const found = plantable(program);
      programs.set(program, found);
      return found;
    },
  };
}

/** Mount points; none if the system has no such table. */
function mountPoints(): string[] {
  try {
    return parseMountTable(Deno.readTextFileSync("/proc/self/mountinfo")).map(({ point }) => point);
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return [];
    throw thrown;
  }
}

/** Names in folders of `PATH`, by folder and the folder's modification time. */
const LISTED = new Map<string, { readonly changed: number; readonly names: ReadonlySet<string> }>();
/**
 * If the last change of a folder is older than this many milliseconds, its next change gets a different modification
 * time.
 */
const SETTLED = 2500;

/**
 * True if a folder of `PATH` may contain a name. Uses a cached list of the folder, because looking up a missing name is
 * slow, and most folders do not contain a given program.
 */
function mayHold(folder: string, name: string): boolean {
  let changed: number | undefined;
  try {
    changed = Deno.statSync(folder).mtime?.getTime();
  } catch {
    return false; // The shell skips missing and unreadable folders too.
  }
  if (changed === undefined || Date.now() - changed < SETTLED || Deno.build.os !== "linux") return true;
  let listed = LISTED.get(folder);
  if (listed?.changed !== changed) {
    try {
      listed = { changed, names: new Set([...Deno.readDirSync(folder)].map((entry) => entry.name)) };
    } catch {
      return true; // Programs in a folder that cannot be listed may still run.
    }
    LISTED.set(folder, listed);
  }
  return listed.names.has(name);
}
