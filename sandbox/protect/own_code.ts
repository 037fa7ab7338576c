// Where the runtime keeps compiled code of this very program: whoever writes there decides what runs outside (S11).

import type { Environment } from "../../base/environment.ts";

/** Of the cache of `deno run`, by this runtime's version: compiled code, its journal, and translated sources. */
const CACHED = ["v8_code_cache_v2", "v8_code_cache_v2-wal", "v8_code_cache_v2-shm", "gen"];

/** Places to protect, and which of them the runtime, inside or out, may make while a command runs. */
export interface OwnCode {
  readonly protect: readonly string[];
  readonly mayAppear: readonly string[];
}

/**
 * A program that is one file keeps its compiled code in the folder for temporary files, from the start on; `deno run` in
 * its cache folder. Both are writable under the default policy. `executable` is the path of the running program when it
 * is one file, else null.
 */
export function ownCode({ variables, home, cwd }: Environment, executable: string | null): OwnCode {
  if (executable !== null) {
    const name = executable.slice(executable.lastIndexOf("/") + 1);
    return { protect: [`${variables.TMPDIR || "/tmp"}/deno-compile-${name}.cache`], mayAppear: [] };
  }
  const { DENO_DIR, XDG_CACHE_HOME } = variables;
  const folder = DENO_DIR
    ? (DENO_DIR.startsWith("/") ? DENO_DIR : `${cwd}/${DENO_DIR}`)
    : `${XDG_CACHE_HOME?.startsWith("/") ? XDG_CACHE_HOME : `${home}/.cache`}/deno`;
  const protect = CACHED.map((name) => `${folder}/${name}`);
  return { protect, mayAppear: protect };
}
