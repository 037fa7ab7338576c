// Reads the text before the first message: byte order mark, frontmatter, ignored lines.

import { Cursor } from "../text/cursor.ts";
import { frontmatterOpen } from "../text/lines.ts";
import { type NodeRange, Nodes } from "./nodes.ts";
import { BARE_THREE, MARKER } from "../text/line_kinds.ts";
import * as Term from "./terms.generated.ts";
import type { Text } from "../text/text.ts";

/** The beginning of a document up to the first message. */
export interface Head {
  readonly length: number;
  /** Offsets of the code between the fence lines, and the end of the closing line with its line end. */
  readonly frontmatter: { readonly code: number; readonly codeEnd: number; readonly end: number } | null;
  /** True if line 1 opens a frontmatter block that is never closed. */
  readonly frontmatterUnclosed: boolean;
  /** Nodes of the head; offsets count from the beginning of the document. */
  readonly nodes: NodeRange;
}

export function readHead(text: Text): Head {
  const nodes = new Nodes();
  nodes.begin(0);
  if (text.origin > 0) nodes.leaf(Term.Bom, 0, text.origin);
  const cursor = new Cursor(text);
  cursor.seek(text.origin);
  const opens = frontmatterOpen(text.slice(text.origin, text.end(0)), 0, text.end(0) - text.origin) !== null;
  let frontmatter: Head["frontmatter"] = null;
  if (opens) {
    const code = cursor.next;
    const closing = new Cursor(text);
    closing.follow(cursor);
    closing.step();
    if (closing.find(BARE_THREE, text.length)) {
      frontmatter = { code, codeEnd: closing.at, end: closing.next };
      const node = nodes.open(Term.Frontmatter, text.origin);
      nodes.leaf(Term.FrontOpener, text.origin, code);
      if (closing.at > code) nodes.pair(Term.FrontBody, Term.FrontLines, code, closing.at);
      nodes.leaf(Term.FrontCloser, closing.at, closing.next);
      nodes.close(node, closing.next);
      cursor.follow(closing);
    }
  }
  const length = cursor.find(MARKER, text.length) ? cursor.at : text.length;
  const from = frontmatter?.end ?? text.origin;
  if (length > from) nodes.pair(Term.Preamble, Term.PreambleLines, from, length);
  return {
    length,
    frontmatter,
    frontmatterUnclosed: opens && frontmatter === null,
    nodes: nodes.finish(),
  };
}
