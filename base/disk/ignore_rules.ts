// Evaluates `.gitignore` files. It uses a library, except for lines whose regular expressions could take exponential
// time.

import type { Ignore } from "npm:ignore@7.0.17";
import { type Glob, readGlob } from "../text/glob.ts";

/** Decides whether one file ignores a path; null if no rule matches. */
export interface IgnoreFile {
  /** @param path relative to the folder of the file; a folder ends with a slash */
  ignores(path: string): boolean | null;
}

/** Maximum number of `*` in a line that is given to the library, whose expressions try every way to split a name. */
const MOST_STARS = 4;

type Library = (options: { readonly ignorecase: boolean }) => Ignore;

let library: Promise<Library> | undefined;

async function load(): Promise<Library> {
  // The package is a CommonJS module, whose one export is the function.
  const module: unknown = await import("npm:ignore@7.0.17");
  return (module as { readonly default: Library }).default;
}

/** Parses the text of a `.gitignore` file. */
export type ReadIgnoreFile = (text: string) => IgnoreFile;

/** Parses the text of a `.gitignore` file. Invalid lines have no effect. */
export async function readIgnoreFile(text: string): Promise<IgnoreFile> {
  return (await ignoreFileReader())(text);
}

/** Loads the library, and returns a function that parses the text of a `.gitignore` file without waiting. */
export async function ignoreFileReader(): Promise<ReadIgnoreFile> {
  const ignore = await (library ??= load());
  return (text) => parseIgnoreFile(text, ignore);
}

function parseIgnoreFile(text: string, ignore: Library): IgnoreFile {
  const parts: IgnoreFile[] = [];
  let lines: string[] = [];
  const flush = (): void => {
    if (lines.length > 0) parts.push(byLibrary(ignore({ ignorecase: false }).add(lines)));
    lines = [];
  };
  for (const line of text.replace(/^\ufeff/, "").split(/\r?\n/)) {
    if (line.startsWith("#") || line.split("*").length - 1 <= MOST_STARS) {
      lines.push(line);
      continue;
    }
    flush();
    const part = byMachine(line);
    if (part !== null) parts.push(part);
  }
  flush();
  // The last line that matches decides.
  const reversed = parts.reverse();
  return {
    ignores(path) {
      for (const part of reversed) {
        const isIgnored = part.ignores(path);
        if (isIgnored !== null) return isIgnored;
      }
      return null;
    },
  };
}

function byLibrary(rules: Ignore): IgnoreFile {
  return {
    ignores(path) {
      const { ignored, unignored } = rules.test(path);
      return ignored ? true : unignored ? false : null;
    },
  };
}

/** Evaluates one line without the library; null if it is not a valid pattern. */
function byMachine(line: string): IgnoreFile | null {
  const trimmed = line.replace(/(?<!\\)[ \t]+$/, "");
  const negated = trimmed.startsWith("!");
  const pattern = negated ? trimmed.slice(1) : trimmed;
  const folders = pattern.endsWith("/");
  const body = folders ? pattern.slice(0, -1) : pattern;
  const placed = body.includes("/") ? body.replace(/^\//, "") : `**/${body}`;
  const glob = readGlob(placed.replaceAll("{", "\\{"));
  if (!glob.ok) return null;
  return { ignores: (path) => fits(glob.value, path, folders) ? !negated : null };
}

function fits(glob: Glob, path: string, folders: boolean): boolean {
  const isFolder = path.endsWith("/");
  return (isFolder || !folders) && glob.matches(isFolder ? path.slice(0, -1) : path);
}
