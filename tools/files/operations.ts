// All file operations of tools, by name. Requests and answers are plain data, so that another process can perform them.

import { baseName, parentOf } from "../../base/paths.ts";
import {
  type Changed,
  type ChangeTarget,
  type Overwriting,
  type Passage,
  replaceText,
  writeContent,
} from "./change.ts";
import type { PackedError } from "../../base/disk/failures.ts";
import type { Disk } from "../../base/disk/folder_access.ts";
import { type FolderListRequest, listFolder, type Listing, namesIn } from "./list.ts";
import { readFile, type ReadFileResult, type ReadRequest } from "./read.ts";
import type { BadPattern, FindRequest, FoundFiles, FoundLines, GrepRequest } from "./search/search.ts";

/** Request and answer of each operation. */
export interface Operations {
  read: [ReadRequest, ReadFileResult | null];
  write: [ChangeTarget & { readonly content: string }, Changed];
  edit: [ChangeTarget & Passage, Changed | { readonly unreadable: PackedError }];
  list: [FolderListRequest, Listing];
  names: [{ readonly folder: string; readonly most: number }, string[]];
  find: [FindRequest, FoundFiles | BadPattern];
  grep: [GrepRequest, FoundLines | BadPattern];
  /** Removes a temporary file, if it exists. */
  discard: [{ readonly real: string }, null];
}

export type FileOperation = keyof Operations;

/** Performs one operation. Rejects with the system's error, a FileFailure, `Exchanged`, or the signal's reason. */
export async function perform<Name extends FileOperation>(
  name: Name,
  request: Operations[Name][0],
  disk: Disk,
  signal: AbortSignal,
  overwriting: Overwriting = () => {},
): Promise<Operations[Name][1]> {
  return await OPERATIONS[name](request, disk, signal, overwriting);
}

type Table = {
  readonly [Name in FileOperation]: (
    request: Operations[Name][0],
    disk: Disk,
    signal: AbortSignal,
    overwriting: Overwriting,
  ) => Operations[Name][1] | Promise<Operations[Name][1]>;
};

const OPERATIONS: Table = {
  read: readFile,
  write: (request, disk, _, overwriting) => writeContent(request, disk, overwriting),
  edit: (request, disk, _, overwriting) => replaceText(request, disk, overwriting),
  list: listFolder,
  names: namesIn,
  // The search code is loaded on the first search.
  find: async (request, disk, signal) =>
    (await import("./search/search.ts")).findFiles(request, disk, signal),
  grep: async (request, disk, signal) =>
    (await import("./search/search.ts")).searchFiles(request, disk, signal),
  discard: ({ real }, { folderAccess }) => {
    try {
      folderAccess.within(parentOf(real), (at) => Deno.removeSync(at(baseName(real))));
    } catch (thrown) {
      if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
    }
    return null;
  },
};
