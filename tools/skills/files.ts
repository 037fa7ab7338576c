// Lists the files of a skill's folder, which the model is shown and the person trusts with the skill.

import { byBytes } from "../../base/bytes.ts";

/** Maximum number of files and folders in a folder; nobody reads more before trusting a skill. */
export const MOST_FILES = 2000;

/** The regular files below a folder. */
export interface FolderFiles {
  /** Paths relative to the folder, sorted by bytes. */
  readonly paths: readonly string[];
  /** True if the list is complete: every folder was readable, and there were not too many files. */
  readonly complete: boolean;
}

/**
 * Lists a folder. Links to files count as files; links to folders are not followed, because their targets are not part
 * of the skill. Git's own files are skipped.
 */
export async function filesBelow(folder: string): Promise<FolderFiles> {
  const paths: string[] = [];
  let complete = true;
  let entries = 0;
  const walk = async (inside: string): Promise<void> => {
    try {
      for await (const entry of Deno.readDir(`${folder}/${inside}`)) {
        if (++entries > MOST_FILES) complete = false;
        if (!complete) return;
        const path = `${inside}${entry.name}`;
        if (entry.isDirectory && entry.name !== ".git") await walk(`${path}/`);
        else if (entry.isFile || (entry.isSymlink && await isFile(`${folder}/${path}`))) paths.push(path);
      }
    } catch {
      // The folder cannot be read, or was removed meanwhile.
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
    // The link leads nowhere.
    return false;
  }
}
