// Functions on paths as text, without file system access; sandbox/paths/ resolves real locations.

import type { Environment } from "./environment.ts";

export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

/** Subfolder for conversations that an agent in an editor started. */
export const CHATS = ".flemma/chats";

/**
 * Returns the folder in which relative references of a document start, and its tools and policy, unless its frontmatter
 * names another one: the folder that contains the document. For a conversation in `.flemma/chats` it is the folder that contains `.flemma`.
 */
export function folderOfDocument(path: string): string {
  const folder = parentOf(path);
  return folder.endsWith(`/${CHATS}`) ? folder.slice(0, -CHATS.length - 1) || "/" : folder;
}

/**
 * Returns the folder in which the tools of a document work, and from which its project is looked up: the one that its
 * frontmatter names, else its own folder, else the working folder of the process.
 */
export function workFolderOf(
  { cwd, workFolder }: Pick<Environment, "cwd" | "workFolder">,
  document: string | null,
): string {
  return workFolder ?? (document === null ? cwd : folderOfDocument(document));
}

/**
 * Returns the folder from which the project of a document is looked up, with its settings, hooks and tools. In a git
 * worktree of a helper it is the folder of the document that asked, because the person trusts that one.
 */
export function projectFolderOf(
  environment: Pick<Environment, "cwd" | "workFolder" | "projectFolder">,
  document: string | null,
): string {
  return environment.projectFolder ?? workFolderOf(environment, document);
}

/**
 * Returns the path in a helper's git worktree of what a path is in the project; the path itself if it is outside of the
 * repository.
 */
export function inWorktree(
  path: string,
  { workFolder, projectFolder }: Pick<Environment, "workFolder" | "projectFolder">,
): string {
  if (workFolder === undefined || projectFolder === undefined) return path;
  const [work, project] = [workFolder.split("/"), projectFolder.split("/")];
  // Both end with the same path below the root of the repository.
  while (work.length > 1 && project.length > 1 && work.at(-1) === project.at(-1)) {
    work.pop();
    project.pop();
  }
  const root = project.join("/");
  return isInside(path, root) ? `${work.join("/")}${path.slice(root.length)}` : path;
}

/** Returns the folder with the helpers of a document. */
export function helperFolderOf(document: string): string {
  return `${document}.d`;
}

/** Returns the document whose helper this is, by the folder in which it lies; null if it is not a helper. */
export function callerOf(path: string): string | null {
  const folder = parentOf(path);
  return folder.endsWith(".chat.d") ? folder.slice(0, -2) : null;
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Returns the beginning of a name, at most `bytes` long in UTF-8, never cut inside a character. */
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

/** True if `path` is `folder` or lies below it. Both are absolute and without a final slash. */
export function isInside(path: string, folder: string): boolean {
  return folder === "/" || path === folder || path.startsWith(`${folder}/`);
}

/** Returns the folders strictly between `root` and `path`; empty if `path` is not below `root`. */
export function foldersBetween(root: string, path: string): string[] {
  const folders: string[] = [];
  if (!isInside(path, root) || path === root) return folders;
  for (let folder = parentOf(path); folder !== root; folder = parentOf(folder)) folders.push(folder);
  return folders;
}

/** Returns the absolute form of a path from the user; `.` and `..` are left to the system. */
export function absolutePath(environment: Environment, path: string): string {
  return path.startsWith("/") ? path : `${environment.cwd}/${path}`;
}

/** Replaces a leading `~` that is the whole path or precedes a slash. */
export function expandHome(path: string, home: string): string {
  if (path === "~") return home;
  return path.startsWith("~/") ? `${home}${path.slice(1)}` : path;
}

/** Base for relative paths. */
export interface PathBase {
  /** Absolute path of the folder of the document, or of the process if the document is unsaved. */
  readonly folder: string;
  readonly home: string;
}

/**
 * Returns the absolute, normalized form of a path that a model wrote. `~` alone or before a slash is the home folder;
 * `~user` and variables are literal. Throws an Error for the empty string.
 */
export function resolvePath(path: string, base: PathBase): string {
  if (path === "") throw new Error("The path is empty.");
  if (path === "~" || path.startsWith("~/")) return normalPath(base.home + path.slice(1));
  return normalPath(path.startsWith("/") ? path : `${base.folder}/${path}`);
}

/** Returns an absolute path without `.`, `..` and doubled slashes, computed from its text alone. */
export function normalPath(absolute: string): string {
  const parts: string[] = [];
  for (const part of absolute.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

/** Returns the `file:` URI of a path, with every special character percent-encoded. */
export function fileUri(path: string): string {
  return `file://${path.split("/").map(encodeURIComponent).join("/")}`;
}

/**
 * Returns the absolute path of a `file:` URI; null if it does not name a file of this machine. Does not use a URL
 * parser, because URL parsers treat `?`, `#`, `\` and `|` in a name as special.
 */
export function pathOfUri(uri: string): string | null {
  const path = /^file:(?:\/\/(?:localhost)?)?(\/.*)$/is.exec(uri)?.[1];
  if (path === undefined || path.startsWith("//")) return null;
  try {
    return decodeURIComponent(path);
  } catch {
    // The client did not encode the URI, so the percent sign is literal.
    return path;
  }
}

/** Characters with a special meaning in a reference: its end, an option, a blank, an encoded byte, a template. */
const MEANS_MORE = /[\s\p{Cc}%;+{]|[^\p{L}\p{N}]$/gu;

/** Returns a file reference for a message; `path` begins with `/`, `./`, `../` or `~/`. */
export function referenceTo(path: string): string {
  const spelt = path.replaceAll(MEANS_MORE, (character) =>
    Array.from(
      new TextEncoder().encode(character),
      (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`,
    ).join(""));
  return path.startsWith("/") ? `@/${spelt}` : `@${spelt}`;
}
