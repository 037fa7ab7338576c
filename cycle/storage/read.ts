// Reading a document: what is refused, and in which words.

import { MOST_TEXT_BYTES } from "../../base/bytes.ts";
import type { Environment } from "../../base/environment.ts";
import {
  failed,
  failure,
  type Outcome,
  type Problem,
  runtimeRefusal,
  success,
  thrownText,
} from "../../base/problem.ts";
import { operands, shellWord } from "../../base/shell_word.ts";
import { faultWords, textFault, textRemedy } from "../../base/text/text_fault.ts";
import { isThere, whyNothingIsThere } from "../../base/files.ts";
import { absolutePath } from "../../base/paths.ts";

/** What tells cheaply that a file is not the one that was read. Times are milliseconds. */
export interface Stamp {
  readonly dev: number;
  readonly ino: number | null;
  readonly size: number;
  readonly mtime: number | null;
  readonly ctime: number | null;
}

export interface ReadDocument {
  /** The path after all symbolic links. */
  readonly realPath: string;
  readonly bytes: Uint8Array;
  readonly stamp: Stamp;
}

/**
 * Reads the document at `path`. Every refusal is one sentence naming the file and the reason.
 *
 * @param label what messages call it
 */
export async function readDocument(
  path: string,
  environment: Environment,
  label = path,
): Promise<Outcome<ReadDocument>> {
  try {
    const found = regularFile(absolutePath(environment, path), label);
    if (!found.ok) return found;
    const realPath = found.value;
    using file = Deno.openSync(realPath);
    const before = file.statSync();
    const bytes = await readAll(file, before.size);
    const after = stampOf(file.statSync());
    const bad = checkText(bytes, label);
    return bad === null ? success({ realPath, bytes, stamp: after }) : failed(bad);
  } catch (thrown) {
    return unreadable(label, environment, thrown);
  }
}

/** The real path of the document at `path`, with the refusals of `readDocument` that are known without its text. */
export function findDocument(path: string, environment: Environment): Outcome<string> {
  try {
    return regularFile(absolutePath(environment, path), path);
  } catch (thrown) {
    return unreadable(path, environment, thrown);
  }
}

/** The real path of a file that may be a document. Throws what the system says. */
function regularFile(path: string, label: string): Outcome<string> {
  const realPath = Deno.realPathSync(path);
  const found = Deno.statSync(realPath);
  if (found.isDirectory) return failure("document-is-folder", `${label} is a folder, not a document.`);
  if (!found.isFile) return failure("document-not-a-file", `${label} is not a regular file.`);
  if (found.size <= MOST_TEXT_BYTES) return success(realPath);
  return failure(
    "document-too-large",
    `${label} is larger than 512 MB, the most a document may be.`,
    "Move its older turns to a file of their own, or go on in a new document: flemma new NAME.chat",
  );
}

/** The refusal of a document that the system does not let be read. */
function unreadable(
  path: string,
  environment: Environment,
  thrown: unknown,
): { readonly ok: false; readonly problem: Problem } {
  if (thrown instanceof Deno.errors.NotFound) {
    const inTheWay = whyNothingIsThere(absolutePath(environment, path));
    if (inTheWay === null) return missing(path, environment);
    return failure(
      "document-missing",
      `There is no file ${path}: ${inTheWay}.`,
      "Put it right, or remove it.",
    );
  }
  if (thrown instanceof Deno.errors.NotADirectory) {
    return failure("document-missing", `There is no file ${path}: a part of its path is no folder.`);
  }
  const refusal = runtimeRefusal(thrown);
  if (refusal !== null) return failed(refusal);
  if (thrown instanceof Deno.errors.PermissionDenied) {
    return failure("document-unreadable", `${path} may not be read: permission denied.`);
  }
  return failure("document-unreadable", `${path} cannot be read: ${thrownText(thrown)}.`);
}

/** No file, perhaps no folder for it: the next step makes first what is needed first. */
function missing(path: string, environment: Environment): { ok: false; problem: Problem } {
  // The runtime replaces bytes that are not UTF-8 by this character, so that an existing file cannot be opened.
  if (path.includes("\ufffd")) {
    return failure(
      "document-missing",
      `There is no file ${path}: its name seems to hold bytes that are not UTF-8, and such a file cannot be opened.`,
      "Give it another name, or use it as a filter: flemma advance < FILE",
    );
  }
  const end = path.lastIndexOf("/");
  const folder = end > 0 ? path.slice(0, end) : null;
  const folderFirst = folder !== null && !isThere(absolutePath(environment, folder));
  const making = folderFirst ? `mkdir -p ${operands(folder)} && ` : "";
  return failure(
    "document-missing",
    `There is no file ${path}.`,
    `Make it: ${making}flemma new ${operands(path)}`,
  );
}

/**
 * Refuses a document whose results and replies could not be written, before anything runs or is paid for. A
 * read-only file is not replaced by a writable folder's leave: who took the permission away meant it.
 */
export async function checkWritable(path: string, realPath: string): Promise<Problem | null> {
  try {
    (await Deno.open(realPath, { write: true })).close();
    return null;
  } catch (thrown) {
    return unwritable(path, thrown, await ownership(realPath));
  }
}

/** What decides whether its owner could give leave to write a file. */
export interface Ownership {
  /** Whether it belongs to the user of this process. */
  readonly own: boolean;
  /** Whether its owner may write it as far as its permissions say. */
  readonly writable: boolean;
}

/** The same of a file that is there. */
export async function ownership(path: string): Promise<Ownership> {
  const { uid, mode } = await Deno.stat(path);
  return { own: uid === null || uid === Deno.uid(), writable: ((mode ?? 0) & 0o200) !== 0 };
}

/** The problem of a document that cannot be opened for writing, with what to do about its reason. */
export function unwritable(path: string, thrown: unknown, owned: Ownership): Problem {
  const refused = runtimeRefusal(thrown);
  if (refused !== null) return refused;
  const [reason, remedy] = hindrance(operands(path), thrown, owned);
  return {
    code: "document-unwritable",
    message: `${path}: the file may not be written (${reason}).`,
    next: `${remedy}, or use it as a filter: flemma advance < ${shellWord(path)}`,
  };
}

/** Why a file may not be written, and the beginning of a sentence that says what to do. */
function hindrance(
  word: string,
  thrown: unknown,
  { own, writable }: Ownership,
): readonly [reason: string, remedy: string] {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  if (code === "EPERM") return ["the system forbids any change to it", unlocking(word)];
  if (code === "EROFS") return ["it lies on a read-only file system", "Copy it to where you may write"];
  if (code !== "EACCES") return [thrownText(thrown), "Copy it to where it can be written"];
  if (!own) {
    return ["permission denied", "It belongs to another user: copy it, or ask them for leave to write"];
  }
  return [
    "permission denied",
    writable
      ? "Its permissions let you write, so something else forbids it: copy it to another place"
      : `Make it writable (chmod u+w ${word})`,
  ];
}

function unlocking(word: string): string {
  return Deno.build.os === "linux"
    ? `It may be immutable: where lsattr ${word} shows an i, sudo chattr -i ${word} takes that away`
    : `It may be locked: chflags nouchg ${word} takes that away`;
}

/**
 * Refuses bytes that are not text: NUL bytes, or not UTF-8.
 *
 * @param path as the person named it, or null for standard input
 */
export function checkText(bytes: Uint8Array, path: string | null): Problem | null {
  const fault = textFault(bytes);
  return fault === null ? null : {
    code: fault.kind === "nul" ? "document-binary" : "document-not-utf8",
    message: `${path ?? "standard input"}: ${faultWords(fault)}.`,
    next: textRemedy(fault, path),
  };
}

/**
 * The path that a text without a file of its own is known by, absolute. What is remembered of a document goes by its real
 * path, whatever link named it.
 */
export async function knownPath(environment: Environment, named: string): Promise<string> {
  const path = absolutePath(environment, named);
  try {
    return await Deno.realPath(path);
  } catch {
    // Not written yet: then the name as given is all there is.
    return path;
  }
}

export function stampOf(info: Deno.FileInfo): Stamp {
  return {
    dev: info.dev,
    ino: info.ino,
    size: info.size,
    mtime: info.mtime?.getTime() ?? null,
    ctime: info.ctime?.getTime() ?? null,
  };
}

export function sameStamp(a: Stamp, b: Stamp): boolean {
  return a.dev === b.dev && a.ino === b.ino && a.size === b.size && a.mtime === b.mtime &&
    a.ctime === b.ctime;
}

/**
 * The most bytes that are waited for in place: handing a small read to another thread takes longer than the read, while one of
 * many megabytes would hold up whatever else this process serves.
 */
const READ_AT_ONCE = 1024 * 1024;

/** Reads to the end; the size is only a hint, since the file may grow meanwhile. */
async function readAll(file: Deno.FsFile, sizeHint: number): Promise<Uint8Array> {
  let buffer = new Uint8Array(sizeHint + 1);
  let length = 0;
  while (true) {
    const free = buffer.subarray(length);
    const got = free.length > READ_AT_ONCE ? await file.read(free) : file.readSync(free);
    if (got === null) return buffer.subarray(0, length);
    length += got;
    if (length === buffer.length) {
      const larger = new Uint8Array(buffer.length * 2);
      larger.set(buffer);
      buffer = larger;
    }
  }
}
