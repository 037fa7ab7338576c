// The waiting calls of all open documents, as workspace symbols.

import type { WorkspaceSymbol } from "vscode-languageserver-types";
import { linesRange } from "../positions.ts";
import type { OpenDocument } from "../document.ts";
import { isWaiting } from "./diagnostics.ts";

/** The protocol's symbol kind for a function. */
const CALL = 12;

/** Returns the waiting calls whose preview contains the query. */
export async function pendingSymbols(
  documents: readonly OpenDocument[],
  query: unknown,
): Promise<WorkspaceSymbol[]> {
  const wanted = typeof query === "string" ? query.toLowerCase() : "";
  const found = await Promise.all(documents.map(async (document) => {
    const session = await document.openReadOnly();
    if (!session.ok) return [];
    const calls = await session.value.calls();
    const { counted, uri } = document;
    return calls.filter(isWaiting).map(({ preview, line, id }): WorkspaceSymbol => ({
      name: preview,
      kind: CALL,
      containerName: id,
      location: { uri, range: linesRange(counted, line, line) },
    }));
  }));
  return found.flat().filter(({ name }) => name.toLowerCase().includes(wanted));
}
