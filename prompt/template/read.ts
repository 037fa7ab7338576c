// Reading of an included file, which is only template text: no messages, no frontmatter.

import { closedFences } from "../../parser/text/fences.ts";
import { readTemplate } from "../../parser/view/template.ts";
import { Text } from "../../parser/text/text.ts";
import type { Template } from "./settle.ts";

/** Reads a whole file; a byte order mark at its start is skipped. */
export function readFileTemplate(bytes: Uint8Array): Omit<Template, "name"> {
  const text = Text.of(bytes);
  const { origin, length } = text;
  return {
    segments: readTemplate(text, origin, length, { fences: true }),
    fences: closedFences(text.slice(origin, length), origin),
    source: ({ place }) => text.text(place.from, place.to),
  };
}
