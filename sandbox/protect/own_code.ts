// What this program itself runs from: whoever writes there decides what runs outside at the next start (S11).

import type { Environment } from "../../base/environment.ts";
import { parentOf } from "../../base/paths.ts";

/** Of the cache of `deno run`, by this runtime's version: compiled code and its journal. */
const COMPILED = ["v8_code_cache_v2", "v8_code_cache_v2-wal", "v8_code_cache_v2-shm"];

/** Of the same cache: translated sources, modules from the network, packages. */
const FETCHED = ["gen", "remote", "npm"];

/** Programs that the person's next start goes through, by the name that is looked up in `PATH`. */
const STARTED_BY = ["flemma", "deno"];

/** Where this module stands in the sources; it tells a checkout from the one file that is shipped. */
const PLACE_IN_SOURCES = "/sandbox/protect/own_code.ts";

/** The file that a bundle is started by. */
const FIRST_FILE = "flemma.js";

/** What holds packages that npm and its like install. */
const PACKAGES = "node_modules";

/** How this program is running. */
export interface RunningProgram {
  /** Path of the runtime, or of the program itself when it is one file. */
  readonly executable: string;
  /** Whether runtime and program are one file. */
  readonly standalone: boolean;
  /** Address of this very module. */
  readonly module: string;
  /** Address of the module that was started. */
  readonly main: string;
}

/** Places to protect, and which of them the runtime may make while a command runs. */
export interface OwnCode {
  readonly protect: readonly string[];
  readonly mayAppear: readonly string[];
  /** The folder that holds this program's own files; null when they lie in the cache or in the one file. */
  readonly folder: string | null;
  /** Whether the person's cache of Deno is among them, so that commands need one of their own. */
  readonly cache: boolean;
}

/** The program that runs now. */
export function runningProgram(): RunningProgram {
  return {
    executable: Deno.execPath(),
    standalone: Deno.build.standalone,
    module: import.meta.url,
    main: Deno.mainModule,
  };
}

/**
 * The runtime, the program's files, and what was compiled or fetched for them. A program that is one file keeps its compiled
 * code in the folder for temporary files, from the start on; `deno run` in its cache folder.
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
  // What is shipped is one bundle; only sources, and what comes from an address, need more of the cache.
  const names = inSources || folder === null ? [...COMPILED, ...FETCHED] : COMPILED;
  const inCache = (name: string) => `${denoFolder(environment)}/${name}`;
  return {
    protect: [...names.map(inCache), ...own, ...started],
    // Everything else was fetched before the program started, and commands have a cache of their own.
    mayAppear: COMPILED.map(inCache),
    folder,
    cache: true,
  };
}

/**
 * The cache of Deno for commands, where the person's own is protected; null where it is not. Otherwise a command that runs Deno
 * could fetch nothing.
 */
export function denoFolderForCommands({ cache }: OwnCode, environment: Environment): string | null {
  return cache ? `${cacheFolder(environment)}/flemma/deno` : null;
}

/**
 * What the program consists of, its folder first. A bundle is a first file and a folder beside it with the parts that come
 * later, of which this is one; where npm installed it, all of the package belongs to it, with what leads there.
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
 * What leads to an installed package: the names under which the folders of packages around it know it and its program, and
 * where its program looks for the Deno that it is started by.
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
 * Every place in `PATH` up to the first one that has the program: links there lead to what the person starts next (as version
 * managers make them), and what appears in front of it would be started instead.
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
