// Collection of a project's instruction files for generated system prompts.

import type { IgnoreFile, ReadIgnoreFile } from "../../base/disk/ignore_rules.ts";
import { realPathOrNull } from "../../base/files.ts";
import { baseName, isInside, parentOf, resolvePath } from "../../base/paths.ts";
import { thrownText } from "../../base/problem.ts";
import type { CheckFile } from "../../base/system/reading.ts";
import { readRegularTextSync } from "../../base/system/regular_file.ts";
import { decodeFile } from "../attach.ts";
import { importedPaths } from "./imports.ts";

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

/** How imports in instruction files are treated. */
export interface ImportRules {
  /** Where imported files may be: nowhere, in the project, also in the home folder, or anywhere. */
  readonly from: "off" | "project" | "home" | "all";
  /** Absolute path of the home folder. */
  readonly home: string;
  /** True if a file is one in which people keep secrets. */
  readonly isSecret: (real: string) => boolean;
  /** Parses a `.gitignore` file; null if no instruction file imported anything when the run began. */
  readonly readIgnore: ReadIgnoreFile | null;
}

/** Maximum number of imports that lead from an instruction file to another file. */
const DEEPEST_IMPORT = 4;

/**
 * Returns the instruction files from the root of the repository down to `folder`; without a repository, those of
 * `folder`. Duplicate texts count once, and symbolic links out of the project are not followed. A file that another one
 * imports comes behind it.
 *
 * @param folder absolute
 */
export function projectFiles(
  folder: string,
  readFile: ProjectFileReader,
  imports?: ImportRules,
): ProjectFiles {
  const found = new FoundFiles(folder, readFile, imports);
  found.addProject();
  return found.all;
}

/**
 * Returns the instruction files of the folders below `folder`, down to `below`, and what they import: outermost first, not
 * in packages, ignored folders or other repositories, and without texts of the project's own instructions.
 *
 * @param folder absolute and real, as `below`
 */
export function nestedFiles(
  folder: string,
  below: string,
  readFile: ProjectFileReader,
  imports: ImportRules,
): ProjectFiles {
  const found = new FoundFiles(folder, readFile, imports);
  found.addNested(below);
  return found.all;
}

/** Collects instruction files and what they import. */
class FoundFiles {
  #files: ProjectFile[] = [];
  #leftOut: { readonly path: string; readonly why: string }[] = [];
  readonly #folder: string;
  readonly #folders: readonly string[];
  /** Real path of the project; null if there is none. */
  readonly #root: string | null;
  readonly #readFile: ProjectFileReader;
  readonly #imports: ImportRules | undefined;
  readonly #ignored: IgnoredPaths;
  /** Texts of the files, which count once. */
  readonly #texts = new Set<string>();
  /** Real paths of files that were added or imported. */
  readonly #met = new Set<string>();
  #bytesLeft = MOST_BYTES;

  constructor(folder: string, readFile: ProjectFileReader, imports: ImportRules | undefined) {
    this.#folder = folder;
    this.#folders = foldersFromRoot(folder);
    this.#root = realPathOrNull(this.#folders[0]!);
    this.#readFile = readFile;
    this.#imports = imports;
    this.#ignored = new IgnoredPaths(this.#folders[0]!, imports?.readIgnore ?? null);
  }

  get all(): ProjectFiles {
    return { files: this.#files, leftOut: this.#leftOut };
  }

  addProject(): void {
    this.#folders.forEach((folder, index) => {
      const up = "../".repeat(this.#folders.length - 1 - index);
      for (const name of NAMES) this.#addFile(withName(folder, name), `${up}${name}`, this.#root);
    });
  }

  addNested(below: string): void {
    const folder = this.#folder;
    const candidates: string[] = [];
    let at = folder;
    for (const part of below.slice(withName(folder, "").length).split("/")) {
      at = withName(at, part);
      if (part === "node_modules" || statOf(withName(at, ".git")) !== null) break;
      for (const name of NAMES) {
        const full = withName(at, name);
        if (statOf(full)?.isFile === true && !this.#ignored.has(full)) candidates.push(full);
      }
    }
    if (candidates.length === 0) return;
    // The model has the project's files already.
    this.addProject();
    [this.#files, this.#leftOut] = [[], []];
    this.#bytesLeft = MOST_BYTES;
    for (const full of candidates) this.#addFile(full, full.slice(withName(folder, "").length), folder);
  }

  /** Adds an instruction file in `root`, and what it imports, unless another file imported it. */
  #addFile(full: string, path: string, root: string | null): void {
    const read = this.#read(full, root);
    if (read === null) return;
    if ("why" in read) return void this.#leftOut.push({ path, why: read.why });
    const real = realPathOrNull(full);
    if (real !== null && this.#met.has(real)) return;
    if (real !== null) this.#met.add(real);
    if (this.#add(path, read)) this.#addImports(full, read.text, 0);
  }

  /** Adds a file; false if an equal text was added before. */
  #add(path: string, { text, size }: { readonly text: string; readonly size: number }): boolean {
    if (this.#texts.has(text.trim())) return false;
    this.#texts.add(text.trim());
    this.#bytesLeft -= size;
    this.#files.push({ path, text });
    return true;
  }

  #addImports(importer: string, text: string, depth: number): void {
    const imports = this.#imports;
    if (imports === undefined || imports.from === "off") return;
    for (const path of importedPaths(text)) {
      const full = resolvePath(path, { folder: parentOf(importer), home: imports.home });
      const real = realPathOrNull(full);
      if (real !== null && this.#met.has(real)) continue;
      const shown = shownFrom(this.#folder, full);
      const why = real === null
        ? "does not exist"
        : depth >= DEEPEST_IMPORT
        ? `is imported over more than ${DEEPEST_IMPORT} files`
        : obstacleOf(real, { root: this.#root, imports, ignored: this.#ignored });
      if (real !== null) this.#met.add(real);
      // `@./src` may only name a folder.
      if (real !== null && statOf(real)?.isDirectory === true) continue;
      if (why !== null || real === null) {
        this.#leftOut.push({ path: shown, why: why ?? "does not exist" });
        continue;
      }
      const read = this.#read(full, parentOf(real));
      if (read === null) {
        const reason = statOf(full)?.isFile ? "is empty" : "is not a regular file";
        this.#leftOut.push({ path: shown, why: reason });
      } else if ("why" in read) this.#leftOut.push({ path: shown, why: read.why });
      else if (this.#add(shown, read)) this.#addImports(full, read.text, depth + 1);
    }
  }

  #read(full: string, root: string | null) {
    return readProjectFile(full, { root, bytesLeft: this.#bytesLeft, readFile: this.#readFile });
  }
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

/** Returns why a file is not imported, as the end of a sentence; null if it may be. */
function obstacleOf(
  real: string,
  { root, imports, ignored }: {
    readonly root: string | null;
    readonly imports: ImportRules;
    readonly ignored: IgnoredPaths;
  },
): string | null {
  const inProject = root !== null && isInside(real, root);
  const inHome = isInside(real, realPathOrNull(imports.home) ?? imports.home);
  if (!inProject && imports.from !== "all" && !(imports.from === "home" && inHome)) {
    return "is outside the project";
  }
  if (real.split("/").includes(".git")) return "is in a .git folder";
  if (/^\.env(?:\..*)?$/.test(baseName(real)) || imports.isSecret(real)) return "can contain secrets";
  return inProject && ignored.has(real) ? "is ignored by git" : null;
}

/** Decides which files of a project git ignores, by the `.gitignore` files from its root down. */
class IgnoredPaths {
  readonly #root: string;
  readonly #read: ReadIgnoreFile | null;
  readonly #files = new Map<string, IgnoreFile | null>();

  constructor(root: string, read: ReadIgnoreFile | null) {
    this.#root = realPathOrNull(root) ?? root;
    this.#read = read;
  }

  /** True if git ignores a real path or a folder around it. Without a parser, every file counts as ignored. */
  has(real: string): boolean {
    if (this.#read === null) return true;
    const names = real.slice(withName(this.#root, "").length).split("/");
    return names.some((_, at) => this.#ignores(names.slice(0, at + 1), at < names.length - 1));
  }

  /** The nearest file with a matching rule decides. */
  #ignores(names: readonly string[], isFolder: boolean): boolean {
    for (let at = names.length - 1; at >= 0; at--) {
      const folder = [this.#root.replace(/\/$/, ""), ...names.slice(0, at)].join("/");
      const answer = this.#fileIn(folder)?.ignores(`${names.slice(at).join("/")}${isFolder ? "/" : ""}`) ??
        null;
      if (answer !== null) return answer;
    }
    return false;
  }

  #fileIn(folder: string): IgnoreFile | null {
    if (!this.#files.has(folder)) {
      const texts = [
        `${folder}/.gitignore`,
        ...(folder === this.#root ? [`${folder}/.git/info/exclude`] : []),
      ]
        .map(textOrEmpty).filter((text) => text !== "");
      this.#files.set(folder, texts.length === 0 ? null : this.#read!(texts.reverse().join("\n")));
    }
    return this.#files.get(folder)!;
  }
}

function textOrEmpty(path: string): string {
  try {
    return readRegularTextSync(path);
  } catch {
    // A missing or unreadable file has no rules.
    return "";
  }
}

/**
 * Completes rules for imports of the instruction files of a folder. Loads what evaluates `.gitignore` files only if one of
 * these files imports something, or if files of subfolders, of which this is not known, are read too.
 */
export async function importRules(
  folder: string,
  rules: Omit<ImportRules, "readIgnore">,
  { nested = false } = {},
): Promise<ImportRules> {
  if (!nested && (rules.from === "off" || !mayImport(folder))) return { ...rules, readIgnore: null };
  const { ignoreFileReader } = await import("../../base/disk/ignore_rules.ts");
  return { ...rules, readIgnore: await ignoreFileReader() };
}

/** True if an instruction file of a folder may import something, so that its `.gitignore` files are needed. */
export function mayImport(folder: string): boolean {
  return foldersFromRoot(folder).some((each) =>
    NAMES.some((name) => {
      const path = withName(each, name);
      const found = statOf(path);
      return found?.isFile === true && found.size <= MOST_BYTES &&
        importedPaths(textOrEmpty(path)).length > 0;
    })
  );
}

/** Returns a path relative to the folder if it is below the project, else the path itself. */
function shownFrom(folder: string, full: string): string {
  const folders = foldersFromRoot(folder);
  const at = folders.findLastIndex((each) => isInside(full, each));
  if (at < 0) return full;
  return `${"../".repeat(folders.length - 1 - at)}${full.slice(withName(folders[at]!, "").length)}`;
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
