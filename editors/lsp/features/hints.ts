// The inlay hints and code lenses: a one-line preview of each open call, and actions to click.

import type { CodeLens, InlayHint } from "vscode-languageserver-types";
import type { OpenDocument } from "../document.ts";
import { linesRange, toPosition } from "../positions.ts";
import { isWaiting } from "./diagnostics.ts";

/**
 * Returns a preview behind the block of every call that waits or runs, within lines of the text (0-based, inclusive).
 */
export async function inlayHints(document: OpenDocument, first: number, last: number): Promise<InlayHint[]> {
  const session = await document.openReadOnly();
  if (!session.ok) return [];
  const calls = await session.value.calls();
  const { counted } = document;
  return calls.flatMap((call) => {
    const result = counted.chat.result(call.id);
    const line = (result?.opener ?? result?.header)?.start;
    if (line === undefined || line - 1 < first || line - 1 > last) return [];
    const word = call.status === "running" ? "running: " : "";
    const position = toPosition(counted, counted.chat.lineEnd(line));
    return [{ position, label: `${word}${call.preview}`, paddingLeft: true }];
  });
}

/** Returns the lenses Approve, Reject and Run above every block that waits, and Show change if it changes a file. */
export async function codeLenses(document: OpenDocument): Promise<CodeLens[]> {
  const session = await document.openReadOnly();
  if (!session.ok) return [];
  const calls = await session.value.calls();
  const waiting = calls.filter(isWaiting);
  const texts = await Promise.all(waiting.map(({ id }) => session.value.fileTexts(id)));
  // A reply that the editor has not inserted yet is not in the version that the lenses name.
  const { counted, uri, store: { version } } = document;
  return waiting.flatMap(({ id, questions }, at) => {
    const line = (counted.chat.result(id)?.header ?? counted.chat.call(id)?.place)?.start;
    if (line === undefined) return [];
    const range = linesRange(counted, line, line);
    const lens = (title: string, command: string): CodeLens => ({
      range,
      command: { title, command, arguments: [{ uri, version, id }] },
    });
    return [
      lens(questions === null ? "Approve" : "Send answers", "flemma.approve"),
      lens(questions === null ? "Reject" : "Decline", "flemma.reject"),
      lens("Run", "flemma.execute"),
      ...(texts[at] === null ? [] : [lens("Show change", "flemma.showDiff")]),
    ];
  });
}
