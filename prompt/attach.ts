// Turns one file reference into the part that is sent for it, reading the file (chat-format 9.2).

import { thrownText } from "../base/problem.ts";
import { base64 } from "./base64.ts";
import { isSystemFile, READ_SECONDS, readJudged, within } from "../base/reading.ts";
import { type FileLog, SYSTEM_FILE } from "./file_log.ts";
import type { FileReference } from "./file_references.ts";
import { isImage, isTextual, typeOfContent, typeOfName, typeOfSignature } from "../base/media.ts";
import type { Diagnostic } from "../parser/types.ts";
import type { Part } from "./types.ts";

/** Where relative references start and what `~` stands for; both absolute. */
export interface Base {
  readonly folder: string;
  readonly home: string;
}

/** Why only the name of a file is sent: there is nothing in it, or no provider takes its type. */
export type Unsent = { readonly because: "empty" } | { readonly because: "type"; readonly mime: string };

/** A part, with why it is only a name where it is, or the reason why the reference stays text. */
export type Attachment =
  | { readonly kind: "part"; readonly part: Part; readonly unsent?: Unsent }
  | { readonly kind: "missing"; readonly path: string; readonly reason: string };

/** Reads the file, which `files` notes, and chooses the kind of part by its type. */
export async function attach(reference: FileReference, base: Base, files: FileLog): Promise<Attachment> {
  const filename = resolvePath(reference.path, base);
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    const read = files.refusal(filename) ??
      await within(READ_SECONDS, readJudged(filename, attachObstacle));
    if (typeof read === "string") return { kind: "missing", path: filename, reason: read };
    bytes = read;
  } catch (thrown) {
    return { kind: "missing", path: filename, reason: thrownText(thrown) };
  }
  files.note(filename, bytes);
  return { kind: "part", ...partOf(bytes, filename, reference.mime) };
}

/** Characters of a path that could end its quotes or its line. */
// deno-lint-ignore no-control-regex
const UNNAMEABLE = /[&<>"\x00-\x1f\x7f-\x9f\u2028\u2029]/g;

/** No provider takes more in one request; what is larger would only fill the memory. */
const MOST_BYTES = 64 * 1024 * 1024;

/** Why the file at a real path is not read although it exists, or null: a device or pipe may never end. */
export function attachObstacle(real: string, info: Deno.FileInfo): string | null {
  if (info.isDirectory) return "it is a folder";
  if (!info.isFile) return "it is no regular file";
  if (isSystemFile(real, info)) return SYSTEM_FILE;
  return info.size > MOST_BYTES ? `it is larger than ${MOST_BYTES / 1024 / 1024} MiB` : null;
}

/**
 * The part for the bytes of a file; the given type, else the one its name or content tells. An image goes as what its
 * bytes say it is, since providers compare the two.
 */
export function partOf(
  bytes: Uint8Array,
  filename: string,
  mime?: string,
): { readonly part: Part; readonly unsent?: Unsent } {
  const named = mime ?? typeOfName(filename) ?? typeOfContent(bytes);
  const seen = isImage(named) ? typeOfSignature(bytes) : null;
  const mimeType = seen !== null && isImage(seen) ? seen : named;
  const nameOnly = { kind: "unsupported_file", filename } as const;
  if (bytes.length === 0) return { part: nameOnly, unsent: { because: "empty" } };
  if (isImage(mimeType)) {
    return { part: { kind: "image", mimeType, data: base64(bytes), filename } };
  }
  if (mimeType === "application/pdf") {
    return { part: { kind: "pdf", mimeType, data: base64(bytes), filename } };
  }
  if (isTextual(mimeType)) {
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    // Providers refuse a text of blanks as they refuse none at all.
    if (text.trim() === "") return { part: nameOnly, unsent: { because: "empty" } };
    return { part: { kind: "text_file", mimeType, text, filename } };
  }
  return { part: nameOnly, unsent: { because: "type", mime: mimeType } };
}

/** The text of a file between two lines that say which file it is: the path as a person wrote it, escaped as in XML. */
export function namedText(path: string, text: string): string {
  const name = path.replace(UNNAMEABLE, (character) => `&#${character.codePointAt(0)};`);
  // A file that holds such a line itself cannot end early.
  const inner = text.replace(/(^|\n)<\/file/g, "$1<\\/file");
  return `<file path="${name}">\n${inner}${inner.endsWith("\n") ? "" : "\n"}</file>`;
}

/** What is told of a file of which only the name is sent; `remedy`, a whole sentence, is for its type. */
export function unsentFile(name: string, unsent: Unsent, remedy: string): Diagnostic {
  const warning = (code: string, message: string): Diagnostic => ({
    code,
    type: "file",
    severity: "warning",
    message,
  });
  return unsent.because === "empty"
    ? warning("file_empty", `There is nothing in ${name}; only its path is sent.`)
    : warning(
      "file_unsupported_mime",
      `No provider takes the type ${unsent.mime} of ${name}; only its path is sent. ${remedy}`,
    );
}

/** The absolute path of a decoded reference path, without `.` and `..` steps. */
export function resolvePath(path: string, base: Base): string {
  const absolute = path.startsWith("/")
    ? path
    : path.startsWith("~/")
    ? `${base.home}/${path.slice(2)}`
    : `${base.folder}/${path}`;
  const steps: string[] = [];
  for (const step of absolute.split("/")) {
    if (step === "..") steps.pop();
    else if (step !== "" && step !== ".") steps.push(step);
  }
  return `/${steps.join("/")}`;
}
