// Works inside a folder safely. If the folder is replaced between check and operation, the operation is not
// redirected.

import { isSystemFile } from "../system/system_files.ts";
import { type OpenFile, openRegular, openRegularSync } from "../system/regular_file.ts";
import { realPath } from "./real_path.ts";
import { Exchanged } from "./failures.ts";

/** Ways to bind operations to a folder. */
export interface FolderAccess {
  /**
   * Does work in a folder. Throws `Exchanged` if the folder's path leads to another folder, and throws the system's
   * errors.
   * @param folder real path of the folder
   * @param work gets a function that returns the path of a name in the folder, valid only during the call, and a
   * function that throws `Exchanged` if the folder has been replaced, for work in several steps
   */
  within<T>(folder: string, work: (at: (name: string) => string, verify: () => void) => T): T;
  /**
   * Opens the regular file with a name for reading; null if it is not a regular file. Opens only the file that was
   * checked, and follows no links. Rejects with `Exchanged`, and the system's errors.
   * @param folder real path of the folder that contains it
   */
  open(folder: string, name: string): Promise<OpenFile | null>;
}

/** Returns an open file if it is the one that was checked. */
function verifyOpened(opened: OpenFile, { dev, ino }: Deno.FileInfo, path: string): OpenFile {
  if (opened.info.dev === dev && opened.info.ino === ino) return opened;
  opened.file.close();
  throw new Exchanged(path);
}

/**
 * Access for a process that does nothing else. The process changes to the folder and asks the system for its real
 * path. A process stays in its folder even if the folder is renamed, and a name without a slash cannot lead out of it.
 */
export const workingFolderAccess: FolderAccess = {
  within(folder, work) {
    Deno.chdir(folder);
    if (Deno.cwd() !== folder) throw new Exchanged(folder);
    return work((name) => `./${name}`, () => {});
  },
  open(folder, name) {
    return Promise.try(() =>
      this.within(folder, (at) => {
        const seen = Deno.lstatSync(at(name));
        // If a pipe replaces the file now, opening it blocks. The parent process then ends this process.
        return seen.isFile ? verifyOpened(openRegularSync(at(name)), seen, `${folder}/${name}`) : null;
      })
    );
  },
};

/**
 * Access for a process with a shared working folder. It uses absolute paths, and checks afterwards that they still
 * lead to the folder.
 */
const pathAccess: FolderAccess = {
  within(folder, work) {
    verify(folder);
    const done = work((name) => inFolder(folder, name), () => verify(folder));
    verify(folder);
    return done;
  },
  async open(folder, name) {
    const path = inFolder(folder, name);
    const seen = this.within(folder, () => Deno.lstatSync(path));
    if (!seen.isFile) return null;
    // If a pipe replaces the file now, only this operation waits.
    const opened = verifyOpened(await openRegular(path), seen, path);
    try {
      verify(folder);
      return opened;
    } catch (thrown) {
      opened.file.close();
      throw thrown;
    }
  },
};

/** Throws if the path of a folder contains a link. If the folder is missing, the system's error is thrown. */
function verify(folder: string): void {
  if (realPath(folder, "/") !== folder) throw new Exchanged(folder);
}

function inFolder(folder: string, name: string): string {
  return `${folder === "/" ? "" : folder}/${name}`;
}

/** Functions that all file operations depend on. */
export interface FileSystemAccess {
  readonly folderAccess: FolderAccess;
  /** True if the file or folder at a real path belongs to the system. */
  isSystem(real: string, info: Pick<Deno.FileInfo, "dev">): boolean;
}

/** File access of this process. */
export const OWN_ACCESS: FileSystemAccess = { folderAccess: pathAccess, isSystem: isSystemFile };

/** Access for file operations that are subject to policy. */
export interface Disk extends FileSystemAccess {
  /** True if tools may read a real path. */
  isReadable(real: string): boolean;
  /** Absolute path of rg, which narrows searches in many files; null if it must not be used. */
  readonly rg: string | null;
}
