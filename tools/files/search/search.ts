// Searching for files and in files below a folder (tools 8.6, 8.7). What the answer says of the disk is decided here, by
// whichever process does the work.

import { nameOf, parentOf } from "../../../base/paths.ts";
import { success } from "../../../base/problem.ts";
import { truncateLine } from "../../truncate.ts";
import { type FileGlob, fileGlob } from "./file_glob.ts";
import { Exchanged } from "../../../base/disk/failures.ts";
import type { Disk } from "../../../base/disk/folder_access.ts";
import { readLinePattern } from "./line_pattern.ts";
import { holding, requiredText } from "./narrowed.ts";
import { searchLines } from "./search_lines.ts";
import { type Closed, type WalkedFile, walkFiles } from "../../../base/disk/walk.ts";

/** Where and how long to search. */
export interface SearchOptions {
  /** Real path of a folder, or for a search in files also of a file. */
  readonly start: string;
  /** Names that are skipped, of folders and of files. */
  readonly excluded: readonly string[];
  /** Number of findings that are wanted. */
  readonly limit: number;
  /** Seconds after which what was found is the answer. */
  readonly seconds: number;
}

/** A search for files. */
export interface FindRequest extends SearchOptions {
  readonly pattern: string;
}

/** A search in files. */
export interface GrepRequest extends SearchOptions {
  readonly pattern: string;
  /** Only files that fit this; null for all. */
  readonly glob: string | null;
}

/** What kept a search from being whole. */
export interface Gaps {
  /** More than `limit` might have been found. */
  readonly limited: boolean;
  /** The time was over. */
  readonly timedOut: boolean;
  /** Folders that could not be looked into. */
  readonly closedFolders: number;
}

/** A pattern that cannot be read. */
export interface BadPattern {
  /** Which one. */
  readonly of: "pattern" | "glob";
  /** What is wrong, as the end of a sentence. */
  readonly badPattern: string;
}

/** Files that were found. */
export interface FoundFiles extends Gaps {
  /** Relative to the start, in the order of their bytes. */
  readonly paths: readonly string[];
}

/** A line that was found. */
export interface FoundLine {
  /** Of its file, relative to the start; empty where that is the file. */
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** Shortened where it is long. */
  readonly text: string;
}

/** Lines that were found. */
export interface FoundLines extends Gaps {
  readonly lines: readonly FoundLine[];
  /** Files that could not be read. */
  readonly closedFiles: number;
  /** Whether the start is a file that is no text. */
  readonly binary: boolean;
}

const ANY: FileGlob = { dots: false, matches: () => true };

/** The files below a folder that fit a pattern. Rejects with the signal's reason. */
export async function findFiles(
  { pattern, ...options }: FindRequest,
  disk: Disk,
  signal: AbortSignal,
): Promise<FoundFiles | BadPattern> {
  const glob = fileGlob(pattern, options.start);
  if (!glob.ok) return { of: "pattern", badPattern: glob.problem };
  const paths: string[] = [];
  const clock = new Clock(options.seconds, signal);
  const closed: Closed = { folders: 0 };
  const limited = await clock.run(async () => {
    for await (const file of walk(options, glob.value, disk, clock, closed)) {
      if (paths.length >= options.limit) return true;
      paths.push(file.path);
    }
    return false;
  });
  return { paths, limited, timedOut: clock.isOver, closedFolders: closed.folders };
}

/** The lines that fit a pattern, of files below a folder or of one file. Rejects with the signal's reason. */
export async function searchFiles(
  { pattern, glob, ...options }: GrepRequest,
  disk: Disk,
  signal: AbortSignal,
): Promise<FoundLines | BadPattern> {
  const read = await readLinePattern(pattern);
  if (!read.ok) return { of: "pattern", badPattern: read.problem };
  const filter = glob === null ? success(ANY) : fileGlob(glob, options.start);
  if (!filter.ok) return { of: "glob", badPattern: filter.problem };
  const lines: FoundLine[] = [];
  const clock = new Clock(options.seconds, signal);
  const closed = { folders: 0, files: 0 };
  let binary = false;
  /** Whether that was the last that is wanted. */
  const inFile = async (path: string, folder: string, name: string): Promise<boolean> => {
    const found = await linesOf(folder, name, async (file) => {
      // One more tells whether there are more.
      return await searchLines(file, read.value, options.limit - lines.length + 1, () => clock.check());
    }, disk);
    if (found === "closed") closed.files++;
    if (found === "binary") binary = path === "";
    if (typeof found === "string") return false;
    for (const { number, text } of found) {
      if (lines.length >= options.limit) return true;
      lines.push({ path, line: number, text: truncateLine(text) });
    }
    return false;
  };
  const limited = await clock.run(async () => {
    if (!isFolder(options.start, disk)) {
      return await inFile("", parentOf(options.start), nameOf(options.start));
    }
    const files = walk(options, filter.value, disk, clock, closed);
    for await (const { path, folder, name } of narrowed(files, pattern, disk, clock)) {
      if (await inFile(path, folder, name)) return true;
    }
    return false;
  });
  return {
    lines,
    limited,
    timedOut: clock.isOver,
    closedFolders: closed.folders,
    closedFiles: closed.files,
    binary,
  };
}

async function* walk(
  { start, excluded }: SearchOptions,
  glob: FileGlob,
  disk: Disk,
  clock: Clock,
  closed: Closed,
) {
  const options = { excluded: new Set(excluded), dots: glob.dots, check: () => clock.check() };
  for await (const file of walkFiles(start, disk, options, closed)) {
    if (glob.matches(file)) yield file;
  }
}

/** Files that are searched one by one: starting a program takes longer. */
const FEW = 200;
/** Files that a program is asked about at once. */
const MANY = 4000;

/** The files without those of which rg tells that nothing in them can fit. */
async function* narrowed(
  files: AsyncIterable<WalkedFile>,
  pattern: string,
  { rg }: Disk,
  clock: Clock,
): AsyncGenerator<WalkedFile> {
  const required = rg === null ? null : requiredText(pattern);
  let count = 0;
  let batch: WalkedFile[] = [];
  for await (const file of files) {
    if (rg === null || required === null || count++ < FEW) {
      yield file;
      continue;
    }
    batch.push(file);
    if (batch.length < MANY) continue;
    yield* await clock.during((signal) => holding(required, batch, rg, signal));
    batch = [];
  }
  if (rg === null || required === null || batch.length === 0) return;
  yield* await clock.during((signal) => holding(required, batch, rg, signal));
}

function isFolder(real: string, { folderAccess }: Disk): boolean {
  return real === "/" ||
    folderAccess.within(parentOf(real), (at) => Deno.lstatSync(at(nameOf(real))).isDirectory);
}

/** What is made of an open file; a word where there is none, or where it is no text. */
async function linesOf<T>(
  folder: string,
  name: string,
  search: (file: Deno.FsFile) => Promise<T | null>,
  disk: Disk,
): Promise<T | "closed" | "binary" | "gone"> {
  if (!disk.isReadable(`${folder === "/" ? "" : folder}/${name}`)) return "closed";
  let file: Deno.FsFile;
  try {
    const opened = await disk.folderAccess.open(folder, name);
    if (opened === null) return "gone";
    file = opened.file;
  } catch (thrown) {
    if (thrown instanceof Deno.errors.PermissionDenied) return "closed";
    if (thrown instanceof Deno.errors.NotFound || thrown instanceof Exchanged) return "gone";
    throw thrown;
  }
  try {
    return await search(file) ?? "binary";
  } finally {
    file.close();
  }
}

/** Milliseconds after which others have their turn. */
const TURN = 20;

/** The time of one search. */
class Clock {
  readonly #end: number;
  readonly #signal: AbortSignal;
  #turn = performance.now();
  isOver = false;

  constructor(seconds: number, signal: AbortSignal) {
    this.#end = performance.now() + seconds * 1000;
    this.#signal = signal;
  }

  /** Lets others have their turn; throws when the search is to end. */
  async check(): Promise<void> {
    const now = performance.now();
    if (now - this.#turn > TURN) {
      await new Promise((done) => setTimeout(done));
      this.#turn = performance.now();
    }
    this.#signal.throwIfAborted();
    this.isOver = now > this.#end;
    if (this.isOver) throw OVER;
  }

  /** What is done under a signal that aborts when the search is to end; then this throws as `check` does. */
  async during<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const over = new AbortController();
    const timer = setTimeout(() => over.abort(), Math.max(0, this.#end - performance.now()));
    try {
      return await work(AbortSignal.any([over.signal, this.#signal]));
    } catch (thrown) {
      if (!over.signal.aborted) throw thrown;
      this.isOver = true;
      throw OVER;
    } finally {
      clearTimeout(timer);
    }
  }

  /** What the work comes to; false where the time was over before. */
  async run(work: () => Promise<boolean>): Promise<boolean> {
    try {
      return await work();
    } catch (thrown) {
      if (thrown === OVER) return false;
      throw thrown;
    }
  }
}

const OVER = new Error("the time is over");
