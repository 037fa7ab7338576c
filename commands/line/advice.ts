// Formats the commands that messages suggest. The form depends on where the document came from.

import { operands } from "../../base/shell_word.ts";

/**
 * A flemma command for a document. `file` is null for piped text. The command is then a filter again, because a file
 * of that name may be older than the text.
 */
export function formatCommand(name: string, file: string | null, ...ids: readonly string[]): string {
  return `flemma ${name} ${operands(...file === null ? [] : [file], ...ids)}`.trimEnd();
}

/**
 * Returns the command that continues a long conversation in a smaller document. The command needs a file, because the
 * new document is written next to the old one. `file` has the same meaning as in `formatCommand`.
 */
export function compactAdvice(file: string | null): string {
  return file === null ? "flemma compact FILE" : formatCommand("compact", file);
}
