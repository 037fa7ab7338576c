// Holding a folder while something is done in it: what takes its place between the look and the act leads nowhere else.

import { isSystemFile } from "../system/reading.ts";
import { realPath } from "./real_path.ts";
import { Exchanged } from "./failures.ts";

/** How folders are held. */
export interface FolderAccess {
  /**
   * Does something in a folder. Throws `Exchanged` where its path leads elsewhere, and as the system does.
   *
   * @param folder its real path
   * @param work is given what makes a path of a name in the folder, for this moment only; and what throws `Exchanged` where the
   * folder is another one by now, for work of several steps
   */
  within<T>(folder: string, work: (at: (name: string) => string, verify: () => void) => T): T;
  /**
   * Opens the regular file of a name for reading; null where it is none. Nothing but what was looked at is opened, and nothing
   * through a link. Rejects with `Exchanged`, and as the system does.
   *
   * @param folder real path of the folder it stands in
   */
  open(folder: string, name: string): Promise<OpenFile | null>;
}

/** A regular file that is open. */
export interface OpenFile {
  readonly file: Deno.FsFile;
  readonly info: Deno.FileInfo;
}

/** An open file, if it is the one that was looked at. */
function verifyOpened(file: Deno.FsFile, { dev, ino }: Deno.FileInfo, path: string): OpenFile {
  const info = file.statSync();
  if (info.dev === dev && info.ino === ino) return { file, info };
  file.close();
  throw new Exchanged(path);
}

/**
 * For a process that does nothing else: it goes into the folder and asks the system where that is. A process stays in a folder
 * whatever happens to its name, and names without a slash cannot lead out of it.
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
        // A pipe that takes its place now is waited for: whoever started this process ends it then.
        return seen.isFile ? verifyOpened(Deno.openSync(at(name)), seen, `${folder}/${name}`) : null;
      })
    );
  },
};

/** For a process whose working folder belongs to others: whole paths, of which it is seen afterwards that they still lead there. */
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
    // A pipe that takes its place now keeps nobody else waiting.
    const opened = verifyOpened(await Deno.open(path), seen, path);
    try {
      verify(folder);
      return opened;
    } catch (thrown) {
      opened.file.close();
      throw thrown;
    }
  },
};

/** Throws where a folder is reached through a link; a missing one is the system's to tell of. */
function verify(folder: string): void {
  if (realPath(folder, "/") !== folder) throw new Exchanged(folder);
}

function inFolder(folder: string, name: string): string {
  return `${folder === "/" ? "" : folder}/${name}`;
}

/** What all work on files stands on. */
export interface DiskAccess {
  readonly folderAccess: FolderAccess;
  /** Whether the file or folder at a real path is one of the system's own. */
  isSystem(real: string, info: Pick<Deno.FileInfo, "dev">): boolean;
}

/** That of this process. */
export const OWN_ACCESS: DiskAccess = { folderAccess: pathAccess, isSystem: isSystemFile };

/** What work on files that others judge about stands on. */
export interface Disk extends DiskAccess {
  /** Whether tools may look at a real path. */
  isReadable(real: string): boolean;
  /** Absolute path of rg, which searches in many files are narrowed by; null where it is not to be used. */
  readonly rg: string | null;
}
