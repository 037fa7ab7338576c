// Reads the current content of files that messages attach, and the files of results, in the same way as for a
// request.

import { folderOfDocument } from "../../base/paths.ts";
import { attach } from "../../prompt/attach.ts";
import { FileLog } from "../../prompt/file_log.ts";
import { fileReferences } from "../../prompt/file_references.ts";
import type { Environment } from "../../base/environment.ts";
import type { Chat } from "../../parser/types.ts";
import { readAttachment, type SavedAttachment } from "../../prompt/attachments.ts";
import type { ChatSession } from "../types.ts";

/** A file that a message attaches or a tool returned. */
export interface AttachedFile {
  /** The path in the message; for a file of a tool, the beginning of its digest and the id of the call. */
  readonly path: string;
  readonly content:
    | { readonly kind: "text"; readonly text: string }
    /** `data` in base64. */
    | { readonly kind: "image"; readonly mimeType: string; readonly data: string }
    /** The file cannot be shown. The reason is the end of a sentence. */
    | { readonly kind: "none"; readonly reason: string };
}

/**
 * Lists the files of System and You messages, each once, in document order, then those of results. The sandbox policy
 * decides which files of messages may be read.
 */
export async function attachedFiles(
  { chat, path, sandbox }: Pick<ChatSession, "chat" | "path" | "sandbox">,
  environment: Environment,
): Promise<AttachedFile[]> {
  const base = { folder: path === null ? environment.cwd : folderOfDocument(path), home: environment.home };
  const log = new FileLog((file) => sandbox.isPathReadable(file));
  const files = new Map<string, AttachedFile>();
  for (const { role, segments } of chat.turns) {
    if (role !== "System" && role !== "You") continue;
    for (const segment of segments) {
      if (segment.kind !== "text" || segment.raw) continue;
      for (const reference of fileReferences(segment.value)) {
        if (files.has(reference.path)) continue;
        files.set(reference.path, {
          path: reference.path,
          content: contentOf(await attach(reference, base, log)),
        });
      }
    }
  }
  return [...files.values(), ...await filesOfResults(chat, environment)];
}

async function filesOfResults({ results }: Chat, environment: Environment): Promise<AttachedFile[]> {
  const owners = new Map(
    results.flatMap(({ id, attachments }) => attachments.map((name): [string, string] => [name, id])),
  );
  const found: AttachedFile[] = [];
  for (const [name, id] of owners) {
    const content = readSavedContent(await readAttachment(name, environment));
    found.push({ path: `${name.slice(0, 8)} (result of ${id})`, content });
  }
  return found;
}

function readSavedContent(file: SavedAttachment): AttachedFile["content"] {
  switch (file.kind) {
    case "part":
      return file.part.kind === "image"
        ? { kind: "image", mimeType: file.part.mimeType, data: file.part.data }
        : NO_PICTURE;
    case "named":
      return NO_PICTURE;
    case "unreadable":
      return { kind: "none", reason: file.reason };
    default:
      return { kind: "none", reason: "it is not saved on this machine" };
  }
}

const NO_PICTURE = { kind: "none", reason: "it is neither text nor an image" } as const;

function contentOf(attached: Awaited<ReturnType<typeof attach>>): AttachedFile["content"] {
  if (attached.kind === "missing") return { kind: "none", reason: attached.reason };
  const { part } = attached;
  if (part.kind === "text_file") return { kind: "text", text: part.text };
  if (part.kind === "image") return { kind: "image", mimeType: part.mimeType, data: part.data };
  return NO_PICTURE;
}
