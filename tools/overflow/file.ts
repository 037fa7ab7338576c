// The file that keeps the complete text of a shortened result.

import { removeIfThere } from "../../base/files.ts";
import { baseName, cutName, parentOf } from "../../base/paths.ts";
import type { Environment } from "../../base/environment.ts";
import { type Problem, thrownText } from "../../base/problem.ts";
import type { ToolSettings } from "../../config/settings.generated.ts";

export type TruncateSettings = ToolSettings["truncate"];

/** Parts of an overflow file's name. */
export interface OverflowPlace {
  readonly source: string;
  /** Absolute path of the document, or null when unsaved. */
  readonly document: string | null;
  readonly id: string;
}

const PARTS = /\{\{\s*(\w+)\s*\}\}|\$\{(\w+)(?::-([^}]*))?\}|\$(\w+)/g;

/**
 * Returns the path for the complete output, made from `tools.truncate.output_path_format`.
 *
 * The pattern is read once from left to right, so that a `$` in the document's path stays a dollar sign. The id is
 * untrusted text: separators in it cannot lead to another folder.
 */
export function overflowPath(format: string, place: OverflowPlace, environment: Environment): string {
  const values: Readonly<Record<string, string>> = {
    source: flat(place.source),
    path: flat((place.document ?? "").replace(/^\/+/, "")),
    id: flat(place.id),
  };
  const variable = (name: string): string => environment.variables[name] ?? "";
  let path = format.replace(
    PARTS,
    (_all, member?: string, braced?: string, otherwise?: string, bare?: string) => {
      if (member !== undefined) return values[member] ?? "";
      if (braced !== undefined) return variable(braced) || (otherwise ?? "");
      return variable(bare ?? "");
    },
  );
  if (path === "~" || path.startsWith("~/")) path = environment.home + path.slice(1);
  return path.startsWith("/") ? path : `${environment.cwd}/${path}`;
}

function flat(text: string): string {
  // deno-lint-ignore no-control-regex -- these are the characters a file name must not hold
  return text.toWellFormed().replace(/[/\x00-\x1f]/g, "-");
}

/** Returns the link that prevents creating a file at a path, or null (`Sandbox.strayLink`). */
export type StrayLink = (path: string) => string | null;

/** A file for complete output up to a number of bytes. Opening and writing may fail; `problem` says why. */
export class OverflowFile {
  #path: string;
  readonly #limit: number;
  readonly #strayLink: StrayLink;
  readonly #owner: string | null;
  #file: Deno.FsFile | null = null;
  #created = false;
  #written = 0;
  /** Reason why there is no usable file; null if there is one. */
  problem: Problem | null = null;
  /** True if bytes were omitted because of the limit. */
  capped = false;

  /**
   * `owner` identifies the call whose output the file contains. A file with earlier output of the same call is
   * replaced.
   */
  constructor(
    path: string,
    limit: number,
    strayLink: StrayLink = () => null,
    owner: string | null = null,
  ) {
    this.#path = path;
    this.#limit = limit;
    this.#strayLink = strayLink;
    this.#owner = owner;
  }

  /** Path of the file; until it is created, the wanted path. */
  get path(): string {
    return this.#path;
  }

  /** Appends bytes; the first call creates the file. Never rejects. */
  async write(bytes: Uint8Array): Promise<void> {
    if (this.problem !== null) return;
    const room = this.#limit - this.#written;
    if (bytes.length > room) this.capped = true;
    try {
      this.#file ??= await this.#create();
      let rest = bytes.subarray(0, room);
      while (rest.length > 0) {
        const count = await this.#file.write(rest);
        this.#written += count;
        rest = rest.subarray(count);
      }
    } catch (thrown) {
      this.problem = {
        code: "overflow-unwritable",
        message: `The complete output could not be saved to ${this.path}: ${reasonOf(thrown)}.`,
      };
      // A partial file is of no use, least of all on a full disk.
      await this.discard();
    }
  }

  async #create(): Promise<Deno.FsFile> {
    const { file, path } = await createPrivate(this.#path, this.#strayLink, this.#owner);
    this.#path = path;
    this.#created = true;
    return file;
  }

  /** Closes the file. Afterwards `usablePath` is final. */
  close(): void {
    this.#file?.close();
    this.#file = null;
  }

  /** Returns the path if the file holds the output, else null. */
  get usablePath(): string | null {
    return this.problem === null && this.#written > 0 ? this.path : null;
  }

  /** Removes the file again, for output that fits after all. */
  async discard(): Promise<void> {
    this.close();
    if (this.#created) await removeIfThere(this.path);
    this.#created = false;
    this.#written = 0;
  }
}

/** The system's message, without its number. */
function reasonOf(thrown: unknown): string {
  return thrownText(thrown).replace(/ \(os error \d+\).*$/s, "").replace(/\.$/, "");
}

/** Maximum number of bytes of a name, leaving room for a tag that makes it unique. */
const MOST_NAME = 200;

/** Maximum number of names that are tried. */
const TRIES = 8;

/** Shortens a name to its end, which says more than its beginning, in at most MOST_NAME bytes of UTF-8. */
function shortName(name: string): string {
  if (new TextEncoder().encode(name).length <= MOST_NAME) return name;
  return [...cutName([...name].reverse().join(""), MOST_NAME)].reverse().join("");
}

/** The name with a tag before its extension. */
function tagged(name: string): string {
  const dot = name.lastIndexOf(".");
  const at = dot > 0 ? dot : name.length;
  return `${name.slice(0, at)}-${crypto.randomUUID().slice(0, 8)}${name.slice(at)}`;
}

/**
 * Creates a new file, readable only by this person, at the path or next to it. An existing file is the output of
 * another call, which a result already names, so it stays. A link at the path is removed. No link that a command could
 * have planted is followed, neither for the file nor for the folders around it.
 */
async function createPrivate(
  path: string,
  strayLink: StrayLink,
  owner: string | null,
): Promise<{ file: Deno.FsFile; path: string }> {
  const check = () => {
    const link = strayLink(parentOf(path));
    if (link !== null) throw new Error(`a command could have created the symbolic link ${link} in its path`);
  };
  check();
  await Deno.mkdir(parentOf(path), { recursive: true });
  const folder = await Deno.realPath(parentOf(path));
  check();
  const name = shortName(baseName(path));
  for (let attempt = 1;; attempt++) {
    const own = attempt === 1 ? name : tagged(name);
    const file = await createNew(`${folder}/${own}`, owner);
    if (file !== null) return { file, path: `${parentOf(path)}/${own}` };
    if (attempt === TRIES) throw new Error("other files have that name");
  }
}

/** Owners of the files that this process created, by real path. */
const owners = new Map<string, string>();

/**
 * Returns a name that identifies a call among all documents. Null for a document without a path, because another such
 * document may use the same ids.
 */
export function ownerOf({ source, document, id }: OverflowPlace): string | null {
  return document === null ? null : JSON.stringify([source, document, id]);
}

/**
 * Creates the file at a real path, or replaces a file of the same call. Null if a file of another call exists there.
 */
async function createNew(real: string, owner: string | null): Promise<Deno.FsFile | null> {
  const folder = parentOf(real);
  let file: Deno.FsFile;
  try {
    const isOwn = owner !== null && owners.get(real) === owner;
    if (isOwn || (await lstatIfThere(real))?.isSymlink === true) await removeIfThere(real);
    file = await Deno.open(real, { write: true, createNew: true, mode: 0o600 });
  } catch (thrown) {
    if (thrown instanceof Deno.errors.AlreadyExists) return null;
    throw thrown;
  }
  try {
    // The command may still run while its output is written to the file. So a link may have replaced a folder of the
    // path meanwhile.
    const [opened, current] = [await file.stat(), await Deno.lstat(real)];
    if (
      opened.ino === current.ino && opened.dev === current.dev && await Deno.realPath(folder) === folder
    ) {
      if (owner !== null) owners.set(real, owner);
      return file;
    }
    throw new Error(`the folder ${folder} was replaced in the meantime`);
  } catch (thrown) {
    file.close();
    throw thrown;
  }
}

async function lstatIfThere(path: string): Promise<Deno.FileInfo | null> {
  try {
    return await Deno.lstat(path);
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return null;
    throw thrown;
  }
}
