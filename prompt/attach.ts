// Conversion of a file reference to a part, by reading the file.

import { type PathBase, resolvePath } from "../base/paths.ts";
import { thrownText } from "../base/problem.ts";
import { base64 } from "./base64.ts";
import { READ_SECONDS, readChecked, withTimeout } from "../base/system/reading.ts";
import { isSystemFile } from "../base/system/system_files.ts";
import { type FileLog, SYSTEM_FILE } from "./file_log.ts";
import { excerptOf } from "./excerpt.ts";
import type { Excerpt, FileReference } from "./file_references.ts";
import { DAMAGED, faultyText, type TextFault, textFault, textRemedy } from "../base/text/text_fault.ts";
import {
  isAttachable,
  isImage,
  isTextual,
  typeOfContent,
  typeOfName,
  typeOfSignature,
} from "../base/media.ts";
import type { Diagnostic } from "../parser/types.ts";
import type { Lines, Part } from "./types.ts";

/**
 * A problem with a referenced file. If the file is empty, or no provider accepts its type, only its name is sent. If
 * its text is not UTF-8, the decoded text is sent.
 */
export type FileFlaw =
  | { readonly because: "empty" }
  /** The content is not of the type that the name says. */
  | { readonly because: "content"; readonly mime: string }
  | { readonly because: "type"; readonly mime: string }
  | {
    readonly because: "encoding";
    readonly fault: TextFault;
    /** Encoding in which the text was decoded; null if the text was not sent. */
    readonly readAs: string | null;
    /** Absolute path of the file. */
    readonly filename: string;
  }
  /** Other lines than those asked for were sent; null if none of those exists. */
  | { readonly because: "lines"; readonly lines: Lines | null; readonly total: number }
  /** Lines were asked for, but the file is not a text; it is sent completely. */
  | { readonly because: "whole" };

export interface FilePart {
  readonly part: Part;
  readonly flaw?: FileFlaw;
  /** What is wrong with the lines that a reference asks for. */
  readonly excerptFlaw?: FileFlaw;
}

/** Result of reading a referenced file: a part, or the reason why the reference stays text. */
export type AttachResult =
  | { readonly kind: "part" } & FilePart
  | { readonly kind: "missing"; readonly path: string; readonly reason: string };

/** Returns the lines that a reference asks for; undefined if it means a whole file, whose name may end like lines. */
export function requestedLines(
  { path, excerpt }: Pick<FileReference, "path" | "excerpt">,
  base: PathBase,
): Excerpt | undefined {
  if (excerpt === undefined) return undefined;
  try {
    Deno.lstatSync(resolvePath(path, base));
    return undefined;
  } catch {
    return excerpt; // An error is reported when the file without lines is read.
  }
}

/** Reads the file, records it in `files`, and chooses the kind of part by its type. */
export async function attach(
  reference: FileReference,
  base: PathBase,
  files: FileLog,
): Promise<AttachResult> {
  const excerpt = requestedLines(reference, base);
  const path = excerpt?.path ?? reference.path;
  const filename = resolvePath(path, base);
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    const read = files.refusal(filename) ??
      await withTimeout(READ_SECONDS, readChecked(filename, attachObstacle));
    if (typeof read === "string") return { kind: "missing", path: filename, reason: read };
    bytes = read;
  } catch (thrown) {
    return { kind: "missing", path: filename, reason: thrownText(thrown) };
  }
  files.note(filename, bytes);
  const file = partOf(bytes, { filename, path, mime: reference.mime });
  return { kind: "part", ...(excerpt === undefined ? file : withLines(file, { excerpt, path })) };
}

/** Reduces a text to the lines that were asked for. */
function withLines(
  file: FilePart,
  { excerpt, path }: { readonly excerpt: Excerpt; readonly path: string },
): FilePart {
  const { part } = file;
  // Of other files only the path is sent, which has its own warning.
  if (part.kind === "unsupported_file") return file;
  if (part.kind !== "text_file") return { ...file, excerptFlaw: { because: "whole" } };
  const { text, lines, total, isExact } = excerptOf(part.text, excerpt);
  const excerptFlaw = { because: "lines", lines, total } as const;
  if (lines === null) {
    return { ...file, part: { kind: "unsupported_file", filename: part.filename, path }, excerptFlaw };
  }
  return { ...file, part: { ...part, text, lines }, ...(isExact ? {} : { excerptFlaw }) };
}

/** Characters of a path that could end its quotes or its line. */
// deno-lint-ignore no-control-regex
const UNNAMEABLE = /[&<>"\x00-\x1f\x7f-\x9f\u2028\u2029]/g;

/** Maximum file size in bytes: no provider accepts more in one request, and larger files would fill the memory. */
const MOST_BYTES = 64 * 1024 * 1024;

/** Returns why an existing file is not read, or null: reading a device or pipe may never end. */
export function attachObstacle(real: string, info: Deno.FileInfo): string | null {
  if (info.isDirectory) return "it is a folder";
  if (!info.isFile) return "it is not a regular file";
  if (isSystemFile(real, info)) return SYSTEM_FILE;
  return info.size > MOST_BYTES ? `it is larger than ${MOST_BYTES / 1024 / 1024} MiB` : null;
}

/** Bytes within which a PDF file may begin. */
const PDF_START = 1024;

/** Returns the type of a PDF file with something in front of it, which readers accept; else null. */
function laterPdf(bytes: Uint8Array): string | null {
  const start = new TextDecoder("latin1").decode(bytes.subarray(0, PDF_START));
  return start.includes("\n%PDF-") ? "application/pdf" : null;
}

export interface FileSource {
  /** Absolute path of the file. */
  readonly filename: string;
  /** Path as the person wrote it. */
  readonly path: string;
  readonly mime?: string;
}

/**
 * Converts a file's bytes to a part. If no type is given, the name or the content decides the type. But the first bytes
 * decide whether it is an image or a PDF, and of which type, because providers refuse a request in which they differ.
 */
export function partOf(bytes: Uint8Array, { filename, path, mime }: FileSource): FilePart {
  const named = mime ?? typeOfName(filename) ?? typeOfContent(bytes);
  const seen = typeOfSignature(bytes) ?? laterPdf(bytes);
  const isText = isTextual(named) && (seen === null || textFault(bytes) === null);
  const mimeType = seen !== null && !isText ? seen : named;
  const nameOnly = { kind: "unsupported_file", filename, path } as const;
  if (bytes.length === 0) return { part: nameOnly, flaw: { because: "empty" } };
  if (isAttachable(mimeType) && seen === null) {
    return { part: nameOnly, flaw: { because: "content", mime: mimeType } };
  }
  if (isImage(mimeType)) {
    return { part: { kind: "image", mimeType, data: base64(bytes), filename, path } };
  }
  if (mimeType === "application/pdf") {
    return { part: { kind: "pdf", mimeType, data: base64(bytes), filename, path } };
  }
  if (isTextual(mimeType)) {
    const { text, flaw } = decodeFile(bytes, filename);
    if (text === null) return { part: nameOnly, flaw };
    // Providers refuse text that is only whitespace, as they refuse empty text.
    if (text.trim() === "") return { part: nameOnly, flaw: { because: "empty" } };
    return { part: { kind: "text_file", mimeType, text, filename }, ...(flaw === undefined ? {} : { flaw }) };
  }
  return { part: nameOnly, flaw: { because: "type", mime: mimeType } };
}

/** Decodes a file in any encoding, and reports problems with it; `text` is null if it is not text. */
export function decodeFile(
  bytes: Uint8Array,
  filename: string,
): { readonly text: string | null; readonly flaw?: FileFlaw } {
  const fault = textFault(bytes);
  if (fault === null) return { text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes) };
  const read = faultyText(bytes, fault);
  return {
    text: read?.text ?? null,
    flaw: { because: "encoding", fault, readAs: read?.readAs ?? null, filename },
  };
}

/** Wraps the text of a file in tags with its path as the person wrote it, escaped as in XML, and its lines. */
export function namedText(path: string, text: string, lines?: Lines): string {
  const name = path.replace(UNNAMEABLE, (character) => `&#${character.codePointAt(0)};`);
  // If the file itself contains such a closing tag, the tag is changed, so that the file does not end early.
  const inner = text.replace(/(^|\n)<\/file/g, "$1<\\/file");
  const range = lines === undefined ? "" : ` lines="${lines.first}-${lines.last}"`;
  return `<file path="${name}"${range}>\n${inner}${inner.endsWith("\n") ? "" : "\n"}</file>`;
}

/** Creates the diagnostic for a file problem; `remedy` is a sentence for types that no provider accepts. */
export function fileFinding(name: string, flaw: FileFlaw, remedy: string): Diagnostic {
  const warning = (code: string, message: string): Diagnostic => ({
    code,
    type: "file",
    severity: "warning",
    message,
  });
  switch (flaw.because) {
    case "empty":
      return warning("file_empty", `${name} is empty; the model gets only its path.`);
    case "content":
      return warning(
        "file_unsupported_mime",
        `${name} is not of the type ${flaw.mime}, as its first bytes show; the model gets only its path. ` +
          "Give the file the extension of its real type.",
      );
    case "type":
      return warning(
        "file_unsupported_mime",
        `No provider accepts the type ${flaw.mime} of ${name}; the model gets only its path. ${remedy}`,
      );
    case "encoding":
      return warning("file_not_utf8", encodingSentence(name, flaw));
    case "lines":
      return warning("file_lines", linesSentence(name, flaw));
    case "whole":
      return warning(
        "file_lines",
        `${name} names lines of a file that is not text; flemma sends the whole file.`,
      );
  }
}

function encodingSentence(
  name: string,
  { fault, readAs, filename }: Extract<FileFlaw, { because: "encoding" }>,
): string {
  const place = `line ${fault.line}, column ${fault.column}`;
  if (readAs === null) {
    return `${name} contains a NUL byte (${place}), so it is not text; the model gets only its path. ` +
      textRemedy(fault, filename);
  }
  if (readAs === DAMAGED) {
    return `Some bytes of ${name} are not UTF-8, the first in ${place}; flemma sends each as \ufffd. Check that line.`;
  }
  return `${name} is not UTF-8 (${place}); flemma reads it as ${readAs}. ${textRemedy(fault, filename)}`;
}

function linesSentence(name: string, { lines, total }: Extract<FileFlaw, { because: "lines" }>): string {
  const length = `the file has ${total} ${total === 1 ? "line" : "lines"}`;
  if (lines === null) {
    return `${name}: ${length}, none of them is in this range; the model gets only its path.`;
  }
  const sent = lines.first === lines.last ? `line ${lines.first}` : `lines ${lines.first} to ${lines.last}`;
  return `${name}: ${length}; flemma sends ${sent}.`;
}
