// Reading of the images and files that a result names in its header.
//
// The header is untrusted, because anyone may have written it. Each name in it must be a SHA-256, so that the name
// cannot lead to another folder. The stored content must have this digest, so that the name cannot lead to other
// content.

import { base64 } from "./base64.ts";
import type { Environment } from "../base/environment.ts";
import { isMissing } from "../base/files.ts";
import { attachmentsFolder } from "../base/folders.ts";
import { isSha256, sha256 } from "../base/hash.ts";
import { isImage, typeOfSignature } from "../base/media.ts";
import { thrownText } from "../base/problem.ts";
import { READ_SECONDS, readChecked, withTimeout } from "../base/system/reading.ts";
import { isSystemFile } from "../base/system/system_files.ts";
import type { Diagnostic, Result } from "../parser/types.ts";
import type { Part } from "./types.ts";

export type SavedAttachment =
  | { readonly kind: "part"; readonly part: Extract<Part, { kind: "image" | "pdf" }> }
  /** No model accepts the type of the file; the text of the result mentions the file. */
  | { readonly kind: "named" }
  | { readonly kind: "misnamed" | "lost" | "changed" }
  /** `reason` is the end of a sentence. */
  | { readonly kind: "unreadable"; readonly reason: string };

/** Maximum size of a file to send, in bytes. No provider accepts a request with more bytes in Base64. */
const MOST_BYTES = 24 * 1024 * 1024;

/** Reads a file by its name in a header. */
export async function readAttachment(
  name: string,
  environment: Pick<Environment, "home" | "cwd" | "variables">,
): Promise<SavedAttachment> {
  if (!isSha256(name)) return { kind: "misnamed" };
  let bytes: Uint8Array<ArrayBuffer> | string;
  try {
    bytes = await withTimeout(
      READ_SECONDS,
      readChecked(`${attachmentsFolder(environment)}/${name}`, obstacle),
    );
  } catch (thrown) {
    return isMissing(thrown) ? { kind: "lost" } : { kind: "unreadable", reason: thrownText(thrown) };
  }
  if (typeof bytes === "string") return { kind: "unreadable", reason: bytes };
  if (await sha256(bytes) !== name) return { kind: "changed" };
  const mimeType = typeOfSignature(bytes);
  if (mimeType === null) return { kind: "named" };
  const kind = isImage(mimeType) ? "image" : "pdf";
  const filename = `${name.slice(0, 8)}.${mimeType.slice(mimeType.indexOf("/") + 1)}`;
  return { kind: "part", part: { kind, mimeType, data: base64(bytes), filename, attached: true } };
}

function obstacle(real: string, info: Deno.FileInfo): string | null {
  if (!info.isFile || isSystemFile(real, info)) return "it is not a regular file";
  return info.size > MOST_BYTES ? `it is larger than ${MOST_BYTES / 1024 / 1024} MiB` : null;
}

/** Checks whether a file is stored under the name, without reading it. */
export async function checkSavedAttachment(name: string, environment: Environment): Promise<SavedAttachment> {
  if (!isSha256(name)) return { kind: "misnamed" };
  try {
    const path = `${attachmentsFolder(environment)}/${name}`;
    const reason = obstacle(path, await Deno.stat(path));
    return reason === null ? { kind: "named" } : { kind: "unreadable", reason };
  } catch (thrown) {
    return isMissing(thrown) ? { kind: "lost" } : { kind: "unreadable", reason: thrownText(thrown) };
  }
}

/** Returns the diagnostics about one result's files: one warning for each kind of problem. */
export function attachmentFindings(
  { id, header }: Pick<Result, "id" | "header">,
  files: readonly (readonly [name: string, file: SavedAttachment])[],
): Diagnostic[] {
  const groups = new Map<string, { readonly code: string; readonly why: string; readonly names: string[] }>();
  for (const [name, file] of files) {
    const flaw = flawOf(file);
    if (flaw === null) continue;
    const group = groups.get(flaw.why) ?? { ...flaw, names: [] };
    groups.set(flaw.why, group);
    group.names.push(name);
  }
  return [...groups.values()].map(({ code, why, names }) => ({
    code,
    type: "file",
    severity: "warning",
    message: `${which(names)} of the result of ${id} ${names.length === 1 ? "is" : "are"} not sent: ${why}`,
    start: header.start,
    end: header.start,
    id,
  }));
}

function which(names: readonly string[]): string {
  const [first = ""] = names;
  const shown = JSON.stringify(first.length > 12 ? `${first.slice(0, 12)}…` : first);
  if (names.length === 1) return `The attachment ${shown}`;
  return `${names.length} attachments (the first is ${shown})`;
}

/**
 * Returns what is wrong with a file, as whole sentences, the first of which is shown after a colon; null if nothing is
 * wrong.
 */
function flawOf(file: SavedAttachment): { readonly code: string; readonly why: string } | null {
  switch (file.kind) {
    case "part":
    case "named":
      return null;
    case "misnamed":
      return {
        code: "attachment_misnamed",
        why: "the name is not a SHA-256 hash. Remove it from the header.",
      };
    case "lost":
      return {
        code: "attachment_lost",
        why:
          "the file is not saved on this machine. The model gets the text of the result. Run the call again to get it, " +
          "or remove it from the header.",
      };
    case "changed":
      return {
        code: "attachment_changed",
        why: "the file saved under that name has changed. Run the call again to get it.",
      };
    case "unreadable":
      return { code: "attachment_unreadable", why: `${file.reason}. The model gets the text of the result.` };
  }
}
