// Assembly of message parts.

import type { Part } from "./types.ts";

export function addText(parts: Part[], text: string): void {
  if (text !== "") parts.push({ kind: "text", text });
}
