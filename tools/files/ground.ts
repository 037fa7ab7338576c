// Holding a folder while something is done in it: what takes its place between the look and the act leads nowhere else.

import { realPath } from "../../sandbox/paths/real_path.ts";

/** Thrown where a folder is not the one that was judged, or is reached through a link by now. */
export class Exchanged extends Error {
  constructor(path: string) {
    super(`${path} was exchanged for something else meanwhile`);
  }
}

/** How folders are held. */
export interface Ground {
  /**
   * Does something in a folder. Throws `Exchanged` where its path leads elsewhere, and as the system does.
   *
   * @param folder its real path
   * @param work is given what makes a path of a name in the folder, for this moment only
   */
  within<T>(folder: string, work: (at: (name: string) => string) => T): T;
}

/**
 * For a process that does nothing else: it goes into the folder and asks the system where that is. A process stays in a folder
 * whatever happens to its name, and names without a slash cannot lead out of it.
 */
export const heldGround: Ground = {
  within(folder, work) {
    Deno.chdir(folder);
    if (Deno.cwd() !== folder) throw new Exchanged(folder);
    return work((name) => `./${name}`);
  },
};

/** For a process whose working folder belongs to others: whole paths, of which it is seen afterwards that they still lead there. */
export const namedGround: Ground = {
  within(folder, work) {
    const look = (): void => {
      // A missing folder is the system's to tell of.
      if (realPath(folder, "/") !== folder) throw new Exchanged(folder);
    };
    look();
    const done = work((name) => `${folder === "/" ? "" : folder}/${name}`);
    look();
    return done;
  },
};

/** What work on files stands on. */
export interface Disk {
  readonly ground: Ground;
  /** Whether tools may look at a real path (sandbox 12.1). */
  isReadable(real: string): boolean;
  /** Absolute path of rg, which searches in many files are narrowed by; null where it is not to be used. */
  readonly rg: string | null;
}

/**
 * Opens the regular file of a name for reading, or null where it is none. Nothing but what was looked at is opened.
 *
 * @param folder real path of the folder it stands in
 */
export function openHeld(
  folder: string,
  name: string,
  { ground }: Disk,
): { file: Deno.FsFile; info: Deno.FileInfo } | null {
  return ground.within(folder, (at) => {
    const judged = Deno.lstatSync(at(name));
    if (!judged.isFile) return null;
    const file = Deno.openSync(at(name));
    const info = file.statSync();
    if (info.dev === judged.dev && info.ino === judged.ino) return { file, info };
    file.close();
    throw new Exchanged(`${folder}/${name}`);
  });
}
