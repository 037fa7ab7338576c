// Paths as the file tools understand them (tools 4.2): by text alone, links are not followed.

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
  if (path === "~" || path.startsWith("~/")) return normalise(base.home + path.slice(1));
  return normalise(path.startsWith("/") ? path : `${base.folder}/${path}`);
}

function normalise(absolute: string): string {
  const parts: string[] = [];
  for (const part of absolute.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}
