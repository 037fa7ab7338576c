// The files of a skill's folder: what the model is told of, and what a person agrees to with it.

import { byBytes } from "../../base/bytes.ts";

/** Files of a folder that are looked at; more belong to no skill that anybody reads before agreeing to it. */
export const MOST_FILES = 2000;

/** The regular files below a folder. */
export interface FolderFiles {
  /** Relative to the folder, by their bytes. */
  readonly paths: readonly string[];
  /** Whether that is all: no folder was out of reach, and there were not too many. */
  readonly complete: boolean;
}

/**
 * Lists a folder. Links to files count as files, links to folders are not followed: what they lead to is not part of it.
 * What git keeps for itself is left out.
 */
export async function filesBelow(folder: string): Promise<FolderFiles> {
  const paths: string[] = [];
  let complete = true;
  const walk = async (inside: string): Promise<void> => {
    try {
      for await (const entry of Deno.readDir(`${folder}/${inside}`)) {
        if (paths.length >= MOST_FILES) {
          complete = false;
          return;
        }
        const path = `${inside}${entry.name}`;
        if (entry.isDirectory && entry.name !== ".git") await walk(`${path}/`);
        else if (entry.isFile || (entry.isSymlink && await isFile(`${folder}/${path}`))) paths.push(path);
      }
    } catch {
      // A folder that cannot be listed, or that went away meanwhile.
      complete = false;
    }
  };
  await walk("");
  return { paths: paths.sort(byBytes), complete };
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isFile;
  } catch {
    // A link that leads nowhere.
    return false;
  }
}
