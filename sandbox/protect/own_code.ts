// Files that this program runs from. A process that can write them decides what runs outside the sandbox at the next
// start.

import type { Environment } from "../../base/environment.ts";
import { parentOf } from "../../base/paths.ts";

/** Names in the cache of `deno run` for this runtime version: compiled code and its journal. */
const COMPILED = ["v8_code_cache_v2", "v8_code_cache_v2-wal", "v8_code_cache_v2-shm"];

/** Names in the cache of `deno run`: transpiled sources, modules from the network, packages. */
const FETCHED = ["gen", "remote", "npm"];

/** Programs that the person's next start uses, by their name in `PATH`. */
const STARTED_BY = ["flemma", "deno"];

/** Path of this module in the sources. Distinguishes a checkout from the bundle that is shipped. */
const PLACE_IN_SOURCES = "/sandbox/protect/own_code.ts";

/** Entry file of a bundle. */
const FIRST_FILE = "flemma.js";

/** Folder for packages installed by npm and similar tools. */
const PACKAGES = "node_modules";

/** How this program is running. */
export interface RunningProgram {
  /** Path of the runtime, or of the program itself if it is a single file. */
  readonly executable: string;
  /** True if runtime and program are a single file. */
  readonly standalone: boolean;
  /** URL of this module. */
  readonly module: string;
  /** URL of the main module. */
  readonly main: string;
}

/** Paths to protect, and which of them the runtime may create while a command runs. */
export interface OwnCode {
  readonly protect: readonly string[];
  readonly mayAppear: readonly string[];
  /** The folder of this program's own files; null if they are in the cache or in a single file. */
  readonly folder: string | null;
  /** True if the person's Deno cache is protected, so that commands need their own. */
  readonly cache: boolean;
}

export function runningProgram(): RunningProgram {
  return {
    executable: Deno.execPath(),
    standalone: Deno.build.standalone,
    module: import.meta.url,
    main: Deno.mainModule,
  };
}

/**
 * Paths of the runtime, the program's files, and what was compiled or fetched for them. A single-file program keeps its
 * compiled code in the folder for temporary files from the start; `deno run` keeps it in its cache folder.
 */
export function ownCode(environment: Environment, running: RunningProgram): OwnCode {
  const { executable, standalone, module, main } = running;
  const started = [executable, ...startedBy(environment)];
  if (standalone) {
    const name = executable.slice(executable.lastIndexOf("/") + 1);
    const compiled = `${environment.variables.TMPDIR || "/tmp"}/deno-compile-${name}.cache`;
    return { protect: [compiled, ...started], mayAppear: [], folder: null, cache: false };
  }
  const inSources = module.endsWith(PLACE_IN_SOURCES);
  const own = module.startsWith("file:")
    ? programFiles(decodeURIComponent(new URL(module).pathname), inSources, main)
    : [];
  const folder = own[0] ?? null;
  // Releases ship one bundle. Only sources, and programs run from a URL, need more of the cache.
  const names = inSources || folder === null ? [...COMPILED, ...FETCHED] : COMPILED;
  const inCache = (name: string) => `${denoFolder(environment)}/${name}`;
  return {
    protect: [...names.map(inCache), ...own, ...started],
    // Only compiled code may appear while a command runs: all other files were fetched before the program started, and
    // commands have a cache of their own.
    mayAppear: COMPILED.map(inCache),
    folder,
    cache: true,
  };
}

/**
 * If the person's Deno cache is protected, returns the folder of a separate cache for commands; otherwise null. Without
 * a cache of its own, a command that runs Deno could not fetch anything.
 */
export function denoFolderForCommands({ cache }: OwnCode, environment: Environment): string | null {
  return cache ? `${cacheFolder(environment)}/flemma/deno` : null;
}

/**
 * Returns the files of the program, its folder first. A bundle consists of an entry file, and a folder next to it with
 * modules that load later, such as this one. If npm installed it, the whole package and the links to it belong to the
 * program.
 */
function programFiles(file: string, inSources: boolean, main: string): string[] {
  if (inSources) return [file.slice(0, -PLACE_IN_SOURCES.length) || "/"];
  const folder = parentOf(file);
  const first = `${parentOf(folder)}/${FIRST_FILE}`;
  const isPart = main === new URL(`file://${first}`).href;
  const library = isPart ? parentOf(folder) : folder;
  if (!library.endsWith(`/${PACKAGES}/flemma/lib`)) return isPart ? [folder, first] : [folder];
  const whole = parentOf(library);
  return [whole, ...leadingTo(whole)];
}

/**
 * Paths that lead to an installed package: its names and those of its program in all enclosing package folders, and the
 * place where its program looks for Deno.
 */
function leadingTo(folder: string): string[] {
  const names = folder.split("/");
  return names.flatMap((name, index) => {
    if (name !== PACKAGES) return [];
    const packages = names.slice(0, index + 1).join("/");
    return [`${packages}/flemma`, `${packages}/.bin/flemma`, `${packages}/@deno`];
  }).filter((place) => place !== folder);
}

function denoFolder(environment: Environment): string {
  const { DENO_DIR } = environment.variables;
  if (!DENO_DIR) return `${cacheFolder(environment)}/deno`;
  return DENO_DIR.startsWith("/") ? DENO_DIR : `${environment.cwd}/${DENO_DIR}`;
}

function cacheFolder({ variables: { XDG_CACHE_HOME }, home }: Environment): string {
  return XDG_CACHE_HOME?.startsWith("/") ? XDG_CACHE_HOME : `${home}/.cache`;
}

/**
 * Returns every path at which the shell looks for the program through `PATH`, up to the first path that exists. This
 * path may be a link that a version manager made; if the link changes, the person starts another program next time. A
 * new file at an earlier path would be started instead.
 */
function startedBy({ variables }: Environment): string[] {
  const folders = (variables.PATH ?? "").split(":").filter((folder) => folder.startsWith("/"));
  return STARTED_BY.flatMap((name) => {
    const paths = [...new Set(folders)].map((folder) => `${folder}/${name}`);
    const found = paths.findIndex(isFile);
    return found < 0 ? [] : paths.slice(0, found + 1);
  });
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
