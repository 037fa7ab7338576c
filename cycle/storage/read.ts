// Reads documents, and reports why a document is refused.

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
import { explainMissing, isThere, readOrNull } from "../../base/files.ts";
import { parse } from "../../parser/mod.ts";
import type { Chat } from "../../parser/types.ts";
import { absolutePath } from "../../base/paths.ts";
import { openRegularSync, readAll } from "../../base/system/regular_file.ts";
import type { FileIdentity } from "../types.ts";

/** File attributes that show cheaply whether a file changed since it was read. Times are milliseconds. */
export interface Stamp {
  readonly dev: number;
  readonly ino: number | null;
  readonly size: number;
  readonly mtime: number | null;
  readonly ctime: number | null;
}

export interface ReadDocument {
  /** The path with symbolic links resolved. */
  readonly realPath: string;
  readonly bytes: Uint8Array;
  readonly stamp: Stamp;
}

/**
 * Reads the document at `path`. Every refusal is one sentence with the file and the reason.
 *
 * @param label the document's name in messages
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
    const { file, info } = openRegularSync(realPath);
    using _ = file;
    const bytes = await readAll(file, info.size);
    const after = stampOf(file.statSync());
    const bad = checkText(bytes, label);
    return bad === null ? success({ realPath, bytes, stamp: after }) : failed(bad);
  } catch (thrown) {
    return unreadable(label, environment, thrown);
  }
}

/** Returns the document at a path as it is on disk; null if it cannot be read, and so no run can use it. */
export async function readOnDisk(path: string): Promise<Chat | null> {
  const bytes = await readOrNull(path).catch(() => null);
  return bytes === null ? null : parse(bytes);
}

/**
 * Returns the real path of the document at `path`. Fails like `readDocument`, except for reasons that need its text.
 */
export function findDocument(path: string, environment: Environment): Outcome<string> {
  try {
    return regularFile(absolutePath(environment, path), path);
  } catch (thrown) {
    return unreadable(path, environment, thrown);
  }
}

/** Returns the real path of a regular file of acceptable size. Throws the system's errors. */
function regularFile(path: string, label: string): Outcome<string> {
  const realPath = Deno.realPathSync(path);
  const found = Deno.statSync(realPath);
  if (found.isDirectory) {
    return failure(
      "document-is-folder",
      `${label} is a folder, not a document.`,
      `Name a document in it. To create one: flemma new ${
        shellWord(`${label.replace(/\/+$/, "")}/NAME.chat`)
      }`,
    );
  }
  if (!found.isFile) return failure("document-not-a-file", `${label} is not a regular file.`, CHECK_NAME);
  if (found.size <= MOST_TEXT_BYTES) return success(realPath);
  return failure(
    "document-too-large",
    `${label} is larger than 512 MB, the maximum for a document.`,
    "Move its older turns to another file, or continue in a new document: flemma new NAME.chat",
  );
}

/** Next step for a path at which no document can be. */
const CHECK_NAME = "Check the path, or name another document.";

/** Returns the problem of a document that the system refuses to let us read. */
function unreadable(
  path: string,
  environment: Environment,
  thrown: unknown,
): { readonly ok: false; readonly problem: Problem } {
  if (thrown instanceof Deno.errors.NotFound) {
    const inTheWay = explainMissing(absolutePath(environment, path));
    if (inTheWay === null) return missing(path, environment);
    return failure(
      "document-missing",
      `There is no file ${path}: ${inTheWay}.`,
      "Repair it, or remove it.",
    );
  }
  if (thrown instanceof Deno.errors.NotADirectory) {
    return failure(
      "document-missing",
      `There is no file ${path}: part of its path is not a folder.`,
      CHECK_NAME,
    );
  }
  const refusal = runtimeRefusal(thrown);
  if (refusal !== null) return failed(refusal);
  if (thrown instanceof Deno.errors.PermissionDenied) {
    return failure(
      "document-unreadable",
      `${path} cannot be read: permission denied.`,
      permissionRemedy(path, environment),
    );
  }
  return failure("document-unreadable", `${path} cannot be read: ${thrownText(thrown)}.`, CHECK_NAME);
}

/** Returns how to get permission to read a file. Only its owner can grant it. */
function permissionRemedy(path: string, environment: Environment): string {
  let owner: number | null;
  try {
    owner = Deno.statSync(absolutePath(environment, path)).uid;
  } catch {
    return "You may not enter a folder on its path: ask the owner of that folder for permission.";
  }
  return owner === null || owner === Deno.uid()
    ? `Allow it: chmod u+r ${operands(path)}`
    : "It belongs to another user: ask that user for permission to read it.";
}

/**
 * Returns the problem of a missing file. Its folder may be missing too, so the suggested step creates the folder
 * first.
 */
function missing(path: string, environment: Environment): { ok: false; problem: Problem } {
  // The runtime puts this character in place of bytes that are not UTF-8, so an existing file with such a name cannot
  // be opened.
  if (path.includes("\ufffd")) {
    return failure(
      "document-missing",
      `There is no file ${path}: its name seems to contain bytes that are not UTF-8, which flemma cannot open.`,
      "Rename it, or use flemma as a filter: flemma advance < FILE",
    );
  }
  const end = path.lastIndexOf("/");
  const folder = end > 0 ? path.slice(0, end) : null;
  const folderFirst = folder !== null && !isThere(absolutePath(environment, folder));
  const making = folderFirst ? `mkdir -p ${operands(folder)} && ` : "";
  return failure(
    "document-missing",
    `There is no file ${path}.`,
    `Create it: ${making}flemma new ${operands(path)}`,
  );
}

/**
 * Refuses, before anything runs or costs money, a document whose results and replies could not be written. A read-only
 * file is not replaced, even in a writable folder: removing the permission was deliberate.
 */
export async function checkWritable(path: string, realPath: string): Promise<Problem | null> {
  try {
    (await Deno.open(realPath, { write: true })).close();
    return null;
  } catch (thrown) {
    return unwritableProblem(path, thrown, await ownership(realPath));
  }
}

/** The facts that decide whether the user could grant permission to write a file. */
export interface Ownership {
  /** True if the user of this process owns the file. */
  readonly own: boolean;
  /** True if the file's mode lets the owner write. */
  readonly writable: boolean;
}

export async function ownership(path: string): Promise<Ownership> {
  const { uid, mode } = await Deno.stat(path);
  return { own: uid === null || uid === Deno.uid(), writable: ((mode ?? 0) & 0o200) !== 0 };
}

/** Returns the problem of a document that cannot be opened for writing, with the remedy. */
export function unwritableProblem(path: string, thrown: unknown, owned: Ownership): Problem {
  const refused = runtimeRefusal(thrown);
  if (refused !== null) return refused;
  const [reason, remedy] = hindrance(operands(path), thrown, owned);
  return {
    code: "document-unwritable",
    message: `${path} cannot be written: ${reason}.`,
    next: `${remedy}, or use flemma as a filter: flemma advance < ${shellWord(path)}`,
  };
}

/** Returns why a file may not be written, and the beginning of the sentence with the remedy. */
function hindrance(
  word: string,
  thrown: unknown,
  { own, writable }: Ownership,
): readonly [reason: string, remedy: string] {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  if (code === "EPERM") return ["the system forbids changes to it", unlocking(word)];
  if (code === "EROFS") return ["it is on a read-only file system", "Copy it to a writable folder"];
  if (code !== "EACCES") return [thrownText(thrown), "Copy it to a writable folder"];
  if (!own) {
    return [
      "permission denied",
      "It belongs to another user: copy it, or ask that user for write permission",
    ];
  }
  return [
    "permission denied",
    writable
      ? "Its permissions let you write, so something else forbids it: copy it to another folder"
      : `Make it writable (chmod u+w ${word})`,
  ];
}

function unlocking(word: string): string {
  return Deno.build.os === "linux"
    ? `It may be immutable: if lsattr ${word} shows an i, run sudo chattr -i ${word}`
    : `It may be locked: run chflags nouchg ${word}`;
}

/**
 * Refuses bytes that are not text: NUL bytes, or not UTF-8.
 *
 * @param path as the user typed it, or null for standard input
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
 * Returns the absolute path that identifies a text without a file of its own. Stored data of a document uses its real
 * path, whichever link named it.
 */
export async function knownPath(environment: Environment, named: string): Promise<string> {
  const path = absolutePath(environment, named);
  try {
    return await Deno.realPath(path);
  } catch {
    // The file does not exist yet, so the given path is used.
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

/** Identifies a file by its attributes. */
export function identityOf({ dev, ino, nlink, birthtime }: Deno.FileInfo): FileIdentity {
  return { dev, ino, links: nlink, born: birthtime?.getTime() ?? null };
}

export function sameStamp(a: Stamp, b: Stamp): boolean {
  return a.dev === b.dev && a.ino === b.ino && a.size === b.size && a.mtime === b.mtime &&
    a.ctime === b.ctime;
}
