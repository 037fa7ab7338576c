// A settings file as text: parsed with positions, so that every fault can be told with line and column.

import type { Fault } from "./operations.ts";

export interface SourceTree {
  readonly value: unknown;
  /** `LINE:COL` (1-based) of what a fault is about. */
  place(fault: Fault): string;
}

/** A parsed file, or the lines that say where it is broken. */
export type Parsed = { readonly ok: true; readonly tree: SourceTree } | {
  readonly ok: false;
  readonly lines: readonly { readonly place: string; readonly line: number; readonly message: string }[];
};

/** YAML 1.2 core; JSON is part of it. No tags, no merge keys, at most 100 aliases, no key twice. */
export async function parseSource(text: string): Promise<Parsed> {
  const { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, visit } = await import("yaml");
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: true,
    schema: "core",
    merge: false,
    resolveKnownTags: false,
  });
  const at = (offset: number) => lines.linePos(offset);
  const broken: { pos: readonly number[]; message: string }[] = [...document.errors, ...document.warnings];
  visit(document, {
    Node(_, node) {
      // A tag could make a value of another type than the one that is read here.
      if (isNode(node) && "tag" in node && node.tag) {
        broken.push({
          pos: [node.range?.[0] ?? 0],
          message: `The tag ${node.tag} has no meaning in settings`,
        });
      }
    },
  });
  if (broken.length > 0) {
    return {
      ok: false,
      lines: broken.map((error) => ({
        place: `${at(error.pos[0]!).line}:${at(error.pos[0]!).col}`,
        line: at(error.pos[0]!).line,
        message: error.message.split("\n", 1)[0]!,
      })),
    };
  }
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 100 });
  } catch (thrown) {
    return {
      ok: false,
      lines: [{ place: "1:1", line: 1, message: thrown instanceof Error ? thrown.message : String(thrown) }],
    };
  }
  const place = ({ written = [], atKey, item }: Fault): string => {
    // The deepest written key that the file has: short forms and dotted names hold no further ones.
    for (let depth = written.length; depth > 0; depth--) {
      const keys = written.slice(0, depth);
      const parent = depth > 1 ? document.getIn(keys.slice(0, -1), true) : document.contents;
      const pair = isMap(parent)
        ? parent.items.find((item) => (isScalar(item.key) ? item.key.value : item.key) === keys.at(-1))
        : undefined;
      if (pair === undefined) continue;
      const exact = item === undefined ? undefined : holding(pair.value, item);
      const node = exact !== undefined
        ? exact
        : atKey && depth === written.length
        ? pair.key
        : pair.value ?? pair.key;
      const position = at(isNode(node) ? node.range?.[0] ?? 0 : 0);
      return `${position.line}:${position.col}`;
    }
    return "1:1";
  };
  return { ok: true, tree: { value, place } };

  /** The scalar below a node that is this item. */
  function holding(node: unknown, item: unknown): unknown {
    if (isScalar(node)) return node.value === item ? node : undefined;
    if (isMap(node)) {
      return node.items.map((pair) => holding(pair.value, item)).find((found) => found !== undefined);
    }
    if (isSeq(node)) {
      return node.items.map((inner) => holding(inner, item)).find((found) => found !== undefined);
    }
    return undefined;
  }
}
