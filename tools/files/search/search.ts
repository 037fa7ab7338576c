// Searches for files below a folder, and for lines in them. This module alone determines what an answer says about the
// disk, because it runs in the process that has access to the files.

import { baseName, parentOf } from "../../../base/paths.ts";
import { success } from "../../../base/problem.ts";
import { truncateLine } from "../../truncate.ts";
import { type FileGlob, fileGlob } from "./file_glob.ts";
import { Exchanged } from "../../../base/disk/failures.ts";
import type { Disk } from "../../../base/disk/folder_access.ts";
import { readLinePattern } from "./line_pattern.ts";
import { narrowFiles, requiredText } from "./narrowed.ts";
import { searchLines } from "./search_lines.ts";
import { type Closed, type WalkedFile, walkFiles } from "../../../base/disk/walk.ts";

/** Options of a search: where it begins, what it skips, and how long it may take. */
export interface SearchOptions {
  /** Real path of a folder, or of a file for a search in files. */
  readonly start: string;
  /** Names of folders and files to skip. */
  readonly excluded: readonly string[];
  /** Maximum number of results. */
  readonly limit: number;
  /** Seconds after which the results so far are returned. */
  readonly seconds: number;
}

export interface FindRequest extends SearchOptions {
  readonly pattern: string;
}

export interface GrepRequest extends SearchOptions {
  readonly pattern: string;
  /** Pattern that files must match; null for all files. */
  readonly glob: string | null;
}

/** Reasons why a search is incomplete. */
export interface Gaps {
  /** True if the limit was reached, so there may be more. */
  readonly limited: boolean;
  /** True if the time limit was reached. */
  readonly timedOut: boolean;
  /** Number of folders that could not be read. */
  readonly closedFolders: number;
}

/** An invalid pattern. */
export interface BadPattern {
  /** Which pattern is invalid: that for lines or that for file names. */
  readonly of: "pattern" | "glob";
  /** The reason, as the end of a sentence. */
  readonly badPattern: string;
}

export interface FoundFiles extends Gaps {
  /** Paths relative to the start, sorted by bytes. */
  readonly paths: readonly string[];
}

export interface FoundLine {
  /** Path of the line's file relative to the start; empty if the start is the file. */
  readonly path: string;
  /** Line number, from 1. */
  readonly line: number;
  /** Text of the line, shortened if it is long. */
  readonly text: string;
  /** True if U+FFFD in the line stands for bytes that are not UTF-8. */
  readonly isBroken: boolean;
}

export interface FoundLines extends Gaps {
  readonly lines: readonly FoundLine[];
  /** Number of files that could not be read. */
  readonly closedFiles: number;
  /** True if the start is a file that is not text. */
  readonly binary: boolean;
  /** Names of the encodings of files that were not searched, among the first 200 files. */
  readonly encoded: readonly string[];
}

const ANY: FileGlob = { dots: false, matches: () => true };

/** Finds the files below a folder that match a pattern. Rejects with the signal's reason. */
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

/** Finds the matching lines of files below a folder, or of one file. Rejects with the signal's reason. */
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
  const encoded: string[] = [];
  let binary = false;
  let opened = 0;
  /** Returns true if the limit is reached. */
  const inFile = async (path: string, folder: string, name: string): Promise<boolean> => {
    const at = opened++;
    const found = await linesOf(folder, name, async (file) => {
      // One line more than the limit is requested, to find out whether there are more lines than the limit.
      return await searchLines(file, read.value, options.limit - lines.length + 1, () => clock.check());
    }, disk);
    if (found === "closed") closed.files++;
    if (found === "binary") binary = path === "";
    if (typeof found === "string") return false;
    if (!Array.isArray(found)) {
      // Later files may have been skipped because of rg, and the result must not depend on it.
      if (at < FEW) encoded.push(found.name);
      return false;
    }
    for (const { number, text, isBroken } of found) {
      if (lines.length >= options.limit) return true;
      lines.push({ path, line: number, text: truncateLine(text), isBroken });
    }
    return false;
  };
  const limited = await clock.run(async () => {
    if (!isFolder(options.start, disk)) {
      return await inFile("", parentOf(options.start), baseName(options.start));
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
    encoded,
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

/** Maximum number of files that are opened without asking rg first: starting a program takes longer. */
const FEW = 200;
/** Maximum number of files per run of rg. */
const MANY = 4000;

/** The files, without those in which rg finds that nothing can match. */
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
    yield* await clock.during((signal) => narrowFiles(required, batch, rg, signal));
    batch = [];
  }
  if (rg === null || required === null || batch.length === 0) return;
  yield* await clock.during((signal) => narrowFiles(required, batch, rg, signal));
}

function isFolder(real: string, { folderAccess }: Disk): boolean {
  return real === "/" ||
    folderAccess.within(parentOf(real), (at) => Deno.lstatSync(at(baseName(real))).isDirectory);
}

/** Applies a function to an open file; returns a word if it cannot be read or is not text. */
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

/** Milliseconds of work before other tasks get a turn. */
const TURN = 20;

/** Time limit of one search. */
class Clock {
  readonly #end: number;
  readonly #signal: AbortSignal;
  #turn = performance.now();
  isOver = false;

  constructor(seconds: number, signal: AbortSignal) {
    this.#end = performance.now() + seconds * 1000;
    this.#signal = signal;
  }

  /** Lets other tasks run; throws if the search must end. */
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

  /** Runs work with a signal that aborts when the search must end; then throws as `check` does. */
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

  /** Returns the result of the work; false if the time ran out before the work ended. */
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
