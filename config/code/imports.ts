// Finds all files of some code: the files that are started, and the files that these load, directly or through other
// files.

import { MOST_OF_CODE, readRegular } from "../../base/system/regular_file.ts";
import { sha256 } from "../../base/hash.ts";
import { fileUri } from "../../base/paths.ts";
import { modulePath } from "../schema/module_path.ts";
import { type LoadedName, namesLoadedBy } from "./specifiers.ts";

/** Limit on the number of files, far above what any policy needs. */
const MOST_FILES = 500;

/** An import that cannot be followed, so that a change of what it loads would not be noticed. */
export interface UnfollowedImport {
  readonly path: string;
  readonly line: number;
  /** The end of a sentence about the import. */
  readonly why: string;
}

export interface FollowedCode {
  /** Absolute paths of existing files, in the order of discovery. */
  readonly files: readonly string[];
  readonly unfollowed: readonly UnfollowedImport[];
}

/** Names that the program's own import map defines. */
const MAPPED: ReadonlySet<string> = new Set(["flemma", "@vellumai/plugin-api"]);
/** Schemes of packages. Their caches are out of reach for commands. */
const PACKAGE = /^(?:npm|jsr|node|bun|https?):/i;
/** Modules of the runtime that need no scheme. */
const BUILTIN: ReadonlySet<string> = new Set(
  ("assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain " +
    "events fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl " +
    "stream string_decoder sys timers tls trace_events tty url util v8 vm wasi worker_threads zlib").split(
      " ",
    ),
);
/** Matches files that are not searched for imports, because they cannot contain JavaScript imports. */
const NOT_SCANNED = /\.(?:jsonc?|wasm|node|so|sh|bash|py|rb|pl|lua)$/i;
/** File endings that a path may omit, or that it may have in place of another one. */
const ENDINGS = ["ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs", "json"];

/**
 * Follows the imports of files by path.
 *
 * @param files absolute paths, or `~/` paths and `file:` URLs as settings name them
 */
export async function followImports(files: readonly string[], home: string): Promise<FollowedCode> {
  const found = new Set(files.map((file) => modulePath(file, "/", home)));
  const unfollowed: UnfollowedImport[] = [];
  for (const path of found) {
    if (found.size > MOST_FILES) {
      unfollowed.push({ path, line: 1, why: `there are more than ${MOST_FILES} files` });
      break;
    }
    if (NOT_SCANNED.test(path)) continue;
    const code = await textOf(path);
    if (code === null) continue;
    for (const name of namesLoadedBy(code)) {
      const loaded = filesOf(name, path);
      if (typeof loaded === "string") unfollowed.push({ path, line: name.line, why: loaded });
      else for (const each of existing(loaded)) found.add(each);
    }
  }
  return { files: [...found], unfollowed };
}

/** The files of some code, and a hash that identifies their content at one moment. */
export interface SealedCode extends FollowedCode {
  /** SHA-256 of names and contents. */
  readonly hash: string;
}

/** Reads a file and its imports. Throws if the file cannot be read. */
export async function sealCode(file: string, home: string): Promise<SealedCode> {
  const followed = await followImports([file], home);
  const lines: string[] = [];
  for (const path of [...followed.files].sort()) {
    lines.push(`${path} ${await sha256(await readRegular(path, MOST_OF_CODE))}`);
  }
  return { ...followed, hash: await sha256(lines.join("\n")) };
}

/** Records the content of one code file; null if the file cannot be read. Such a file cannot be loaded either. */
export async function sealOf(path: string, home: string): Promise<SealedCode | null> {
  try {
    return await sealCode(path, home);
  } catch {
    return null;
  }
}

/**
 * Checks whether the code of a file, or of a file that it imports, has changed since its hash was recorded.
 *
 * @param the recorded hash; null if the file could not be read then, undefined if no hash was recorded
 * @returns a sentence about the change; null if nothing changed
 */
export async function changeSince(
  path: string,
  hash: string | null | undefined,
  home: string,
): Promise<string | null> {
  if (hash === undefined) return null;
  const now = await sealOf(path, home);
  if (now?.hash === hash) return null;
  return `${path}, or a file that it imports, changed after this run began, so its code was not run. Advance again ` +
    "to use the new version.";
}

/** Returns `FILE:LINE: an import cannot be followed: WHY`, for messages. */
export function unfollowedSentence({ path, line, why }: UnfollowedImport): string {
  return `${path}:${line} has an import that cannot be followed: ${why}.`;
}

/** Returns the paths that a name may lead to, or why it cannot be followed. The list is empty for a package. */
function filesOf({ specifier, why, kind }: LoadedName, importer: string): readonly string[] | string {
  if (specifier === null) return why;
  const name = specifier.trim();
  if (PACKAGE.test(name) || MAPPED.has(name) || BUILTIN.has(name.split("/")[0]!)) return [];
  const isPath = /^(?:\.{0,2}\/|\.{1,2}$)/.test(name);
  if (!isPath && kind !== "url" && !/^file:/i.test(name)) {
    return /^[a-z][a-z\d+.-]*:/i.test(name)
      ? `"${name}" is neither a file nor a package`
      : `"${name}" names a package without a version; write npm:${name}@VERSION`;
  }
  const path = pathOf(name, importer);
  if (path === null) return `"${name}" does not name a file of this machine plainly`;
  if (kind === "import" && /\.wasm$/i.test(path)) return `"${name}" may load modules itself`;
  return candidates(path);
}

/** The path as the runtime resolves it: what follows `?` and `#` is not part of it. */
function pathOf(name: string, importer: string): string | null {
  if (!URL.canParse(name, fileUri(importer))) return null;
  const { protocol, host, pathname } = new URL(name, fileUri(importer));
  // With an encoded slash, backslash or NUL, the decoded path would name another file than the one that is compared.
  if (protocol !== "file:" || host !== "" || /%(?:2f|5c|00)/i.test(pathname)) return null;
  try {
    return decodeURIComponent(pathname);
  } catch {
    return null;
  }
}

/** Returns what runtimes try for a path: the path itself, other endings, and the first file of a folder. */
function candidates(path: string): string[] {
  const folder = path.replace(/\/+$/, "");
  const stems = [...new Set([path, path.replace(/\.[cm]?[jt]sx?$/, "")])];
  return [
    path,
    ...stems.flatMap((stem) => ENDINGS.map((ending) => `${stem}.${ending}`)),
    ...ENDINGS.map((ending) => `${folder}/index.${ending}`),
    `${folder}/package.json`,
  ];
}

/**
 * Returns the first path if it is a file; otherwise all other paths that are files. All are returned, so that a change
 * is noticed whichever of them the runtime loads.
 */
function existing([path = "", ...others]: readonly string[]): readonly string[] {
  return isFile(path) ? [path] : others.filter(isFile);
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/** Returns the text as the runtime reads it; null for an unreadable file, which does not load either. */
async function textOf(path: string): Promise<string | null> {
  try {
    const bytes = await readRegular(path, MOST_OF_CODE);
    const [first, second] = bytes;
    const encoding = first === 0xff && second === 0xfe
      ? "utf-16le"
      : first === 0xfe && second === 0xff
      ? "utf-16be"
      : "utf-8";
    return new TextDecoder(encoding).decode(bytes);
  } catch {
    return null;
  }
}
