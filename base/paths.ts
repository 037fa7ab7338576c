// Paths as text: nothing is looked up. Where a path really leads is asked of the sandbox (sandbox/paths/).

import type { Environment } from "./environment.ts";

/** The folder a path is in. */
export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

/** Where a folder's conversations lie that an editor's agent began. */
export const CHATS = ".flemma/chats";

/**
 * The folder that a document stands for: relative references, tools and policy start there. It is the one it is in, but for a
 * conversation in `.flemma/chats` the one that holds `.flemma`.
 */
export function folderOfDocument(path: string): string {
  const folder = parentOf(path);
  return folder.endsWith(`/${CHATS}`) ? folder.slice(0, -CHATS.length - 1) || "/" : folder;
}

/** The last part of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The beginning of a name, at most so many bytes of UTF-8 long and never cut inside a character. */
export function cutName(name: string, bytes: number): string {
  let length = 0;
  let cut = "";
  for (const character of name) {
    length += new TextEncoder().encode(character).length;
    if (length > bytes) return cut;
    cut += character;
  }
  return name;
}

/** Whether `path` is `folder` or lies below it; both absolute and without a final slash. */
export function isInside(path: string, folder: string): boolean {
  return folder === "/" || path === folder || path.startsWith(`${folder}/`);
}

/** The folders strictly between `root` and `path`; none when `path` does not lie below `root`. */
export function foldersBetween(root: string, path: string): string[] {
  const folders: string[] = [];
  if (!isInside(path, root) || path === root) return folders;
  for (let folder = parentOf(path); folder !== root; folder = parentOf(folder)) folders.push(folder);
  return folders;
}

/** Absolute form of a path a person gave; `.` and `..` are left to the system. */
export function absolutePath(environment: Environment, path: string): string {
  return path.startsWith("/") ? path : `${environment.cwd}/${path}`;
}

/** Replaces a leading `~` that stands alone or before a slash. */
export function expandHome(path: string, home: string): string {
  if (path === "~") return home;
  return path.startsWith("~/") ? `${home}${path.slice(1)}` : path;
}

/** What a path is resolved against. */
export interface PathBase {
  /** Folder of the document, or of the process when it is unsaved; absolute. */
  readonly folder: string;
  readonly home: string;
}

/**
 * The absolute, normalised form of a path a model wrote. `~` alone or before a slash is the home folder; `~user`
 * and variables are literal. Throws an Error for the empty string.
 */
export function resolvePath(path: string, base: PathBase): string {
  if (path === "") throw new Error("The path is empty.");
  if (path === "~" || path.startsWith("~/")) return normalPath(base.home + path.slice(1));
  return normalPath(path.startsWith("/") ? path : `${base.folder}/${path}`);
}

/** An absolute path without `.`, `..` and doubled slashes, by its text alone. */
export function normalPath(absolute: string): string {
  const parts: string[] = [];
  for (const part of absolute.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

/** The address of a file, in which every character that could mean something else is spelt by its bytes. */
export function fileUri(path: string): string {
  return `file://${path.split("/").map(encodeURIComponent).join("/")}`;
}

/**
 * The absolute path of a file's address; null for what is no file of this machine. Read by hand, because a reader of web
 * addresses takes parts of a name for something else (`?`, `#`, `\`, `|`).
 */
export function pathOfUri(uri: string): string | null {
  const path = /^file:(?:\/\/(?:localhost)?)?(\/.*)$/is.exec(uri)?.[1];
  if (path === undefined || path.startsWith("//")) return null;
  try {
    return decodeURIComponent(path);
  } catch {
    // A client that encodes nothing means a percent sign by one.
    return path;
  }
}

/** What a reference reads as something else: its end, an option, a blank, a byte, a template. */
const MEANS_MORE = /[\s\p{Cc}%;+{]|[^\p{L}\p{N}]$/gu;

/** A file as a message refers to it; `path` begins with `/`, `./`, `../` or `~/`. */
export function referenceTo(path: string): string {
  const spelt = path.replaceAll(MEANS_MORE, (character) =>
    Array.from(
      new TextEncoder().encode(character),
      (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`,
    ).join(""));
  return path.startsWith("/") ? `@/${spelt}` : `@${spelt}`;
}
