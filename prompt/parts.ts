// How the parts of a message are put together.

import type { Part } from "./types.ts";

/** Adds a text that is not empty. */
export function addText(parts: Part[], text: string): void {
  if (text !== "") parts.push({ kind: "text", text });
}
