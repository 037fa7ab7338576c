// Parsing of a settings file with positions, so that every fault has a line and column.

import { isObject } from "../../base/is_object.ts";
import { failed, type Outcome, success } from "../../base/problem.ts";
import { isTooDeep, MOST_LEVELS } from "../schema/check.ts";
import type { SettingFault } from "../types.ts";

export interface SourceTree {
  readonly value: unknown;
  /** Returns `LINE:COL` (1-based) for a fault; the beginning if its key was not written. */
  place(fault: SettingFault): string;
  /** Returns every written key with the keys above it, outermost first. */
  keys(): readonly (readonly string[])[];
}

export interface BrokenLine {
  /** Position as `LINE:COL`, 1-based. */
  readonly place: string;
  readonly line: number;
  readonly message: string;
}

/** A parsed file, or its syntax errors. */
export type Parsed = Outcome<SourceTree, readonly BrokenLine[]>;

type Yaml = typeof import("npm:yaml@2.9.1");
type YamlDocument = ReturnType<Yaml["parseDocument"]>;
type Lines = InstanceType<Yaml["LineCounter"]>;

interface Mistake {
  readonly at: number;
  readonly message: string;
}

const TOO_DEEP: Mistake = {
  at: 0,
  message: `Values are nested more than ${MOST_LEVELS} deep or contain themselves`,
};

/** Parses YAML 1.2 core, which includes JSON: no tags, no merge keys, at most 100 aliases, no duplicate keys. */
export async function parseSource(text: string): Promise<Parsed> {
  const yaml: Yaml = await import("npm:yaml@2.9.1");
  const lines = new yaml.LineCounter();
  const broken = (found: readonly Mistake[]): Parsed => failed(found.map((each) => brokenLine(each, lines)));
  let document: YamlDocument;
  let value: unknown;
  try {
    document = yaml.parseDocument(text, {
      lineCounter: lines,
      prettyErrors: false,
      // Duplicate keys are checked below, because the library compares every key with every other.
      uniqueKeys: false,
      schema: "core",
      merge: false,
      resolveKnownTags: false,
    });
    const found = [...complaints(document), ...refused(document, yaml)];
    if (found.length > 0) return broken(found);
    value = document.toJS({ maxAliasCount: 100 });
  } catch (thrown) {
    if (thrown instanceof RangeError) return broken([TOO_DEEP]);
    return broken([{ at: 0, message: thrown instanceof Error ? thrown.message : String(thrown) }]);
  }
  return isTooDeep(value) ? broken([TOO_DEEP]) : success(new YamlTree(value, document, lines, yaml));
}

function brokenLine({ at, message }: Mistake, lines: Lines): BrokenLine {
  const { line, col } = lines.linePos(at);
  return { place: `${line}:${col}`, line, message };
}

function complaints(document: YamlDocument): Mistake[] {
  return [...document.errors, ...document.warnings].flatMap(({ code, pos: [at], message }) => {
    if (code === "RESOURCE_EXHAUSTION") return [{ ...TOO_DEEP, at }];
    if (code === "MULTIPLE_DOCS") return [{ at, message: "Only one YAML document is allowed" }];
    // An unknown tag is reported once, by `refused`.
    return code === "TAG_RESOLVE_FAILED" ? [] : [{ at, message: message.split("\n", 1)[0]! }];
  });
}

/** Returns valid YAML that settings do not allow: tags and duplicate keys. */
function refused(document: YamlDocument, { isMap, isNode, isScalar, visit }: Yaml): Mistake[] {
  const found: Mistake[] = [];
  visit(document, (_, node) => {
    // A tag could produce a value of a type other than the one read here.
    if (isNode(node) && "tag" in node && node.tag) {
      found.push({ at: node.range?.[0] ?? 0, message: `Settings do not support the tag ${node.tag}` });
    }
    if (!isMap(node)) return;
    const known = new Set<string>();
    for (const { key } of node.items) {
      if (!isScalar(key)) continue;
      // Keys that are not strings become strings, so `1` and `"1"` are the same.
      const name = String(key.value);
      if (known.has(name)) {
        const message = `The key ${JSON.stringify(name.slice(0, 80))} occurs twice`;
        found.push({ at: key.range?.[0] ?? 0, message });
      }
      known.add(name);
    }
  });
  return found;
}

class YamlTree implements SourceTree {
  readonly value: unknown;
  readonly #document: YamlDocument;
  readonly #lines: Lines;
  readonly #yaml: Yaml;

  constructor(value: unknown, document: YamlDocument, lines: Lines, yaml: Yaml) {
    this.value = value;
    this.#document = document;
    this.#lines = lines;
    this.#yaml = yaml;
  }

  place({ written = [], atKey, item }: SettingFault): string {
    const { isNode } = this.#yaml;
    // Looks for the deepest written key that the file contains. Short forms and dotted names contain no deeper keys.
    for (let depth = written.length; depth > 0; depth--) {
      const pair = this.#pair(written.slice(0, depth));
      if (pair === undefined) continue;
      const exact = item === undefined ? undefined : this.#holding(pair.value, item);
      const node = exact !== undefined
        ? exact
        : atKey && depth === written.length
        ? pair.key
        : pair.value ?? pair.key;
      const { line, col } = this.#lines.linePos(isNode(node) ? node.range?.[0] ?? 0 : 0);
      return `${line}:${col}`;
    }
    return "1:1";
  }

  keys(): string[][] {
    const { isMap, isScalar } = this.#yaml;
    const found: string[][] = [];
    const collect = (node: unknown, above: readonly string[]): void => {
      if (!isMap(node)) return;
      for (const { key, value } of node.items) {
        const written = [...above, String(isScalar(key) ? key.value : key)];
        found.push(written);
        collect(value, written);
      }
    };
    collect(this.#document.contents, []);
    return found;
  }

  #pair(keys: readonly string[]) {
    const { isMap, isScalar } = this.#yaml;
    const parent = keys.length > 1 ? this.#document.getIn(keys.slice(0, -1), true) : this.#document.contents;
    return isMap(parent)
      ? parent.items.find(({ key }) => (isScalar(key) ? key.value : key) === keys.at(-1))
      : undefined;
  }

  /** Finds the scalar or table below a node that equals this item. */
  #holding(node: unknown, item: unknown): unknown {
    const { isMap, isScalar, isSeq } = this.#yaml;
    if (isScalar(node)) return node.value === item ? node : undefined;
    if (isMap(node)) {
      if (isObject(item) && JSON.stringify(node.toJS(this.#document)) === JSON.stringify(item)) return node;
      return node.items.map((pair) => this.#holding(pair.value, item)).find((found) => found !== undefined);
    }
    if (isSeq(node)) {
      return node.items.map((inner) => this.#holding(inner, item)).find((found) => found !== undefined);
    }
    return undefined;
  }
}
