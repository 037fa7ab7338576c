// The segments of a file that is nothing but template text: no messages, no first block.

import { readTemplate } from "../../parser/view/template.ts";
import { Text } from "../../parser/text/text.ts";
import type { TemplateSegment, TextSegment } from "../../parser/types.ts";

/** Reads a whole file; a byte order mark at its start is no text. */
export function readFileTemplate(bytes: Uint8Array): readonly (TextSegment | TemplateSegment)[] {
  const text = Text.of(bytes);
  return readTemplate(text, text.origin, text.length);
}
