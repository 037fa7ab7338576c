// Tells when a file that a document includes or refers to is not what the model was shown last (chat-format 9.4).

import { thrownText } from "../../base/problem.ts";
import type { Diagnostic } from "../../parser/types.ts";
import type { FileRead } from "../../prompt/types.ts";
import type { Journal } from "../types.ts";

/** A warning for every file whose content is another one now. */
export function fileDrift(journal: Pick<Journal, "fileHash">, files: readonly FileRead[]): Diagnostic[] {
  const changed = files.filter(({ path, hash }) => (journal.fileHash(path) ?? hash) !== hash);
  return changed.map(({ path }) => ({
    code: "file_drift",
    type: "custom",
    severity: "warning",
    message: `${path} has changed since the last request; the model gets it as it is now.`,
  }));
}

/**
 * Keeps what is being sent, for the next time. Nothing depends on it but that warning, so a state folder that cannot
 * be written is told of and stops nothing.
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
      message: "A later change of the files of this document may go unnoticed, " +
        `because their hashes cannot be kept: ${thrownText(thrown)}.`,
    }];
  }
}
