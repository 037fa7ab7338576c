// A file that is nothing but template text: no messages, no first block.

import { closedFences } from "../../parser/text/fences.ts";
import { readTemplate } from "../../parser/view/template.ts";
import { Text } from "../../parser/text/text.ts";
import type { Template } from "./settle.ts";

/** Reads a whole file; a byte order mark at its start is no text. */
export function readFileTemplate(bytes: Uint8Array): Omit<Template, "name"> {
  const text = Text.of(bytes);
  const { origin, length } = text;
  return {
    segments: readTemplate(text, origin, length, { fences: true }),
    fences: closedFences(text.slice(origin, length), origin),
    source: ({ place }) => text.text(place.from, place.to),
  };
}
