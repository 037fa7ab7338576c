// Sentences about files that could not be found, read or written; the path stands in them as the model wrote it.

import { thrownText } from "../../base/problem.ts";

/** A failure whose message is a whole sentence already. */
export class FileFailure extends Error {}

/** Why something could not be done with a file. `doing` completes "could not be …". */
export function fileSentence(path: string, doing: "read" | "written", thrown: unknown): string {
  if (thrown instanceof FileFailure) return thrown.message;
  if (thrown instanceof Deno.errors.NotFound) return `The file ${path} was not found.`;
  if (thrown instanceof Deno.errors.IsADirectory) return folderSentence(path);
  if (thrown instanceof Deno.errors.NotADirectory || thrown instanceof Deno.errors.AlreadyExists) {
    return `The file ${path} could not be ${doing}: a file stands where its path needs a folder.`;
  }
  if (thrown instanceof Deno.errors.PermissionDenied) {
    return `The file ${path} could not be ${doing}: permission denied.`;
  }
  return `The file ${path} could not be ${doing}: ${thrownText(thrown).replace(/\.$/, "")}.`;
}

export function folderSentence(path: string): string {
  return `${path} is a folder.`;
}
