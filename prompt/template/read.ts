// The segments of a file that is nothing but template text: no messages, no first block.

import { Source } from "../../parser/source.ts";
import { readTemplate } from "../../parser/template.ts";
import type { TemplateSegment, TextSegment } from "../../parser/types.ts";

const BOM_LENGTH = 3;

/** Reads a whole file; a byte order mark at its start is no text. */
export function readFileTemplate(bytes: Uint8Array): readonly (TextSegment | TemplateSegment)[] {
  const source = Source.of(bytes);
  return readTemplate(source, source.scan.bom ? BOM_LENGTH : 0, bytes.length).segments;
}
