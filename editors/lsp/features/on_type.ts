// Completes a role to a message marker when a colon is typed after it.

import type { TextEdit } from "vscode-languageserver-types";
import type { OpenDocument } from "../document.ts";
import { toOffset, toRange } from "../positions.ts";

/** Returns the edit by which `You:` alone on a line becomes `@You:`. */
export function onType({ counted }: OpenDocument, position: Parameters<typeof toOffset>[1]): TextEdit[] {
  const { chat } = counted;
  const line = chat.lineAt(toOffset(counted, position));
  const found = /^@?(system|you|assistant):$/i.exec(chat.lineText(line));
  if (found === null) return [];
  const role = found[1]!.slice(0, 1).toUpperCase() + found[1]!.slice(1).toLowerCase();
  const marker = `@${role}:`;
  if (found[0] === marker) return [];
  return [{
    range: toRange(counted, { from: chat.lineStart(line), to: chat.lineEnd(line) }),
    newText: marker,
  }];
}
