// A settings file as text: parsed with positions, so that every fault can be told with line and column.

import { isObject } from "../../base/is_object.ts";
import { failed, type Outcome, success } from "../../base/problem.ts";
import { isTooDeep, MOST_LEVELS } from "../schema/check.ts";
import type { Fault } from "../types.ts";

export interface SourceTree {
  readonly value: unknown;
  /** `LINE:COL` (1-based) of what a fault is about; the beginning when nothing of it was written. */
  place(fault: Fault): string;
  /** Every key that was written, below the keys it stands in, outermost first. */
  keys(): readonly (readonly string[])[];
}

/** Where and how a file is broken. */
export interface BrokenLine {
  /** `LINE:COL`, 1-based. */
  readonly place: string;
  readonly line: number;
  readonly message: string;
}

/** A parsed file, or the lines that say where it is broken. */
export type Parsed = Outcome<SourceTree, readonly BrokenLine[]>;

/** YAML 1.2 core; JSON is part of it. No tags, no merge keys, at most 100 aliases, no key twice. */
export async function parseSource(text: string): Promise<Parsed> {
  const { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, visit } = await import(
    "npm:yaml@2.9.1"
  );
  const lines = new LineCounter();
  const at = (offset: number) => lines.linePos(offset);
  const broken = (found: readonly { at: number; message: string }[]): Parsed =>
    failed(found.map(({ at: offset, message }) => ({
      place: `${at(offset).line}:${at(offset).col}`,
      line: at(offset).line,
      message,
    })));
  const tooDeep = { at: 0, message: `Values are nested more than ${MOST_LEVELS} deep or hold themselves` };
  let document: ReturnType<typeof parseDocument>;
  let value: unknown;
  try {
    document = parseDocument(text, {
      lineCounter: lines,
      prettyErrors: false,
      // Checked here instead: the library compares every key with every other.
      uniqueKeys: false,
      schema: "core",
      merge: false,
      resolveKnownTags: false,
    });
    const found: { at: number; message: string }[] = [];
    for (const { code, pos, message } of [...document.errors, ...document.warnings]) {
      if (code === "RESOURCE_EXHAUSTION") found.push({ ...tooDeep, at: pos[0] });
      else if (code === "MULTIPLE_DOCS") {
        found.push({ at: pos[0], message: "Only one YAML document may stand here" });
      } else if (code !== "TAG_RESOLVE_FAILED") {
        // A tag without meaning is told below, once.
        found.push({ at: pos[0], message: message.split("\n", 1)[0]! });
      }
    }
    visit(document, (_, node) => {
      // A tag could make a value of another type than the one that is read here.
      if (isNode(node) && "tag" in node && node.tag) {
        found.push({ at: node.range?.[0] ?? 0, message: `The tag ${node.tag} has no meaning in settings` });
      }
      if (isMap(node)) {
        const known = new Set<string>();
        for (const { key } of node.items) {
          if (!isScalar(key)) continue;
          // Keys that are no text become text, so `1` and `"1"` are the same.
          const name = String(key.value);
          if (known.has(name)) {
            found.push({
              at: key.range?.[0] ?? 0,
              message: `The key ${JSON.stringify(name.slice(0, 80))} stands twice`,
            });
          }
          known.add(name);
        }
      }
    });
    if (found.length > 0) return broken(found);
    value = document.toJS({ maxAliasCount: 100 });
  } catch (thrown) {
    if (thrown instanceof RangeError) return broken([tooDeep]);
    return broken([{ at: 0, message: thrown instanceof Error ? thrown.message : String(thrown) }]);
  }
  if (isTooDeep(value)) return broken([tooDeep]);
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
  const keys = (): string[][] => {
    const found: string[][] = [];
    const collect = (node: unknown, above: readonly string[]): void => {
      if (!isMap(node)) return;
      for (const { key, value } of node.items) {
        const written = [...above, String(isScalar(key) ? key.value : key)];
        found.push(written);
        collect(value, written);
      }
    };
    collect(document.contents, []);
    return found;
  };
  return success({ value, place, keys });

  /** The scalar or table below a node that is this item. */
  function holding(node: unknown, item: unknown): unknown {
    if (isScalar(node)) return node.value === item ? node : undefined;
    if (isMap(node)) {
      if (isObject(item) && JSON.stringify(node.toJS(document)) === JSON.stringify(item)) return node;
      return node.items.map((pair) => holding(pair.value, item)).find((found) => found !== undefined);
    }
    if (isSeq(node)) {
      return node.items.map((inner) => holding(inner, item)).find((found) => found !== undefined);
    }
    return undefined;
  }
}
