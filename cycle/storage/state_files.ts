// Where a run keeps what does not belong into the document, and which paths its tools must not touch (cli 8, S11).

import type { Environment } from "../../base/environment.ts";
import { runtimeFolder, stateFolder } from "../../base/folders.ts";
import { sha256 } from "../../base/hash.ts";

export { stateFolder };

/** Names one document in the state folder: 32 hexadecimal digits of the SHA-256 of its real path. */
export async function documentKey(realPath: string): Promise<string> {
  return (await sha256(realPath)).slice(0, 32);
}

/** What stays read-only for tools even where its folder is writable: document, configuration, state. */
export function protectedPaths(input: {
  readonly environment: Environment;
  /** Absolute path, or null when unsaved. */
  readonly document: string | null;
  readonly configFiles: readonly string[];
}): string[] {
  const paths = [
    ...(input.document === null ? [] : [input.document]),
    ...input.configFiles,
    stateFolder(input.environment),
    runtimeFolder(input.environment),
  ];
  return [...new Set(paths)];
}

/** Absolute form of a path a person gave; `.` and `..` are left to the system. */
export function absolutePath(environment: Environment, path: string): string {
  return path.startsWith("/") ? path : `${environment.cwd}/${path}`;
}

/** A moment as it stands in file names: sortable, without characters a shell minds. */
export function timestamp(moment: Date): string {
  return moment.toISOString().replace(/[-:]/g, "").replace(".", "");
}
