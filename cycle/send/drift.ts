// Warns if a file that a document includes or refers to has changed since the last request.

import { thrownText } from "../../base/problem.ts";
import type { Diagnostic } from "../../parser/types.ts";
import type { FileRead } from "../../prompt/types.ts";
import type { Journal } from "../types.ts";

export function fileDrift(journal: Pick<Journal, "fileHash">, files: readonly FileRead[]): Diagnostic[] {
  const changed = files.filter(({ path, hash }) => (journal.fileHash(path) ?? hash) !== hash);
  return changed.map(({ path }) => ({
    code: "file_drift",
    type: "custom",
    severity: "warning",
    message: `${path} has changed since the last request; the model gets the current version.`,
  }));
}

/**
 * Records what is sent, to compare it at the next request. Only the drift warning depends on it, so a state folder
 * that cannot be written gives a warning and does not stop the request.
 */
export async function rememberFiles(
  journal: Pick<Journal, "recordFiles" | "recordPromptDay">,
  { files, day }: { readonly files: readonly FileRead[]; readonly day?: string },
): Promise<Diagnostic[]> {
  try {
    await journal.recordFiles(files);
    if (day !== undefined) await journal.recordPromptDay(day);
    return [];
  } catch (thrown) {
    return [{
      code: "file_drift_unrecorded",
      type: "custom",
      severity: "warning",
      message: "Later changes to the files of this document may go unnoticed, " +
        `because flemma cannot save their hashes: ${thrownText(thrown)}.`,
    }];
  }
}
