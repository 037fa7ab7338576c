// Collection of a project's instruction files for generated system prompts.

import { realPathOrNull } from "../../base/files.ts";
import { parentOf } from "../../base/paths.ts";
import { thrownText } from "../../base/problem.ts";
import type { CheckFile } from "../../base/system/reading.ts";
import { decodeFile } from "../attach.ts";

/** Reads a whole file. Throws if the file cannot be read, if it may not be read, or if `check` objects. */
export type ProjectFileReader = (path: string, check?: CheckFile) => Uint8Array;

/** File names in each folder, in this order. */
const NAMES = [
  "AGENTS.md",
  "CLAUDE.md",
  ".claude/CLAUDE.md",
  ".cursorrules",
  ".github/copilot-instructions.md",
];

/** Maximum size of all files together, in bytes. */
const MOST_BYTES = 64 * 1024;

/** A file of the project, by its path relative to the working folder. */
export interface ProjectFile {
  readonly path: string;
  readonly text: string;
}

export interface ProjectFiles {
  readonly files: readonly ProjectFile[];
  /** Files that are left out, each with the reason as the end of a sentence. */
  readonly leftOut: readonly { readonly path: string; readonly why: string }[];
}

/**
 * Returns the instruction files from the root of the repository down to `folder`; without a repository, those of
 * `folder`. Duplicate texts count once, and symbolic links out of the project are not followed.
 *
 * @param folder absolute
 */
export function projectFiles(folder: string, readFile: ProjectFileReader): ProjectFiles {
  const folders = foldersFromRoot(folder);
  const root = realPathOrNull(folders[0]!);
  const texts = new Set<string>();
  const files: ProjectFile[] = [];
  const leftOut: { path: string; why: string }[] = [];
  let bytesLeft = MOST_BYTES;
  folders.forEach((each, index) => {
    const up = "../".repeat(folders.length - 1 - index);
    for (const name of NAMES) {
      const path = `${up}${name}`;
      const read = readProjectFile(withName(each, name), { root, bytesLeft, readFile });
      if (read === null) continue;
      if ("why" in read) leftOut.push({ path, why: read.why });
      else if (!texts.has(read.text.trim())) {
        texts.add(read.text.trim());
        bytesLeft -= read.size;
        files.push({ path, text: read.text });
      }
    }
  });
  return { files, leftOut };
}

/** Returns the text of a file, the reason why it is left out, or null if it is missing or blank. */
function readProjectFile(
  path: string,
  { root, bytesLeft, readFile }: {
    readonly root: string | null;
    readonly bytesLeft: number;
    readonly readFile: ProjectFileReader;
  },
): { readonly text: string; readonly size: number } | { readonly why: string } | null {
  if (statOf(path)?.isFile !== true) return null;
  let bytes: Uint8Array;
  try {
    bytes = readFile(path, (real, { size }) => {
      if (root === null || !real.startsWith(withName(root, ""))) return OUTSIDE;
      return size > bytesLeft ? TOO_LONG : null;
    });
  } catch (thrown) {
    const reason = thrownText(thrown);
    // The words of other reasons may differ each time, and the prompt must stay the same. So a general reason replaces
    // them.
    return { why: reason === OUTSIDE || reason === TOO_LONG ? reason : "cannot be read" };
  }
  const { text } = decodeFile(bytes, path);
  if (text === null) return { why: "is not text" };
  return text.trim() === "" ? null : { text, size: bytes.length };
}

const OUTSIDE = "points outside the project";
const TOO_LONG = "is too long";

/** Returns the folders from the root of the repository down to this one; without a repository, only this one. */
function foldersFromRoot(folder: string): string[] {
  const folders = [folder];
  for (let at = folder;; at = parentOf(at)) {
    if (at !== folder) folders.unshift(at);
    if (statOf(withName(at, ".git")) !== null) return folders;
    if (at === parentOf(at)) return [folder];
  }
}

function withName(folder: string, name: string): string {
  return folder.endsWith("/") ? `${folder}${name}` : `${folder}/${name}`;
}

function statOf(path: string): Deno.FileInfo | null {
  try {
    return Deno.statSync(path);
  } catch {
    // Any error means that the file cannot be read.
    return null;
  }
}
