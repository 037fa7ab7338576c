// Commands as messages suggest them, fit for where the document came from.

import { operands } from "../../base/shell_word.ts";

/**
 * The words of a command about a document. `file` is the file it stands in; null for one that was piped in: there the
 * command is a filter again, and a file of that name would be older than the text.
 */
export function formatCommand(name: string, file: string | null, ...ids: readonly string[]): string {
  return `flemma ${name} ${operands(...file === null ? [] : [file], ...ids)}`.trimEnd();
}

/** How a long conversation goes on in a smaller document; only a file has a place for one beside it. `file` as in `formatCommand`. */
export function compactAdvice(file: string | null): string {
  return file === null ? "flemma compact FILE" : formatCommand("compact", file);
}
