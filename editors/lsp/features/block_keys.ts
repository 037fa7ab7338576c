// Finds which setting a position in the frontmatter belongs to, from the lines before it, because unfinished
// frontmatter may not parse. It is only a guess for completions; the evaluator decides what frontmatter means.

export interface BlockKeys {
  /** The setting around the position. */
  readonly path: readonly string[];
  /** The typed part of the word. */
  readonly typed: string;
  /** True if a value of `path` is being typed; false if it is the name of one of its members. */
  readonly isValue: boolean;
}

/** Finds the position after `before`, which begins the line below the lines `above`. */
export function blockKeys(language: string, above: readonly string[], before: string): BlockKeys {
  if (language === "lua") return inLua(before);
  return language === "json" ? inJson([...above, before].join("\n")) : inYaml(above, before);
}

function inLua(before: string): BlockKeys {
  const found = /flemma\.opt((?:\.\w+)*)\.(\w*)$/.exec(before);
  if (found !== null) return { path: parts(found[1]!), typed: found[2]!, isValue: false };
  const value = /flemma\.opt((?:\.\w+)+)\s*=\s*(?:\{[^}]*)?["']?([\w$.-]*)$/.exec(before);
  return value === null ? NOWHERE : { path: parts(value[1]!), typed: value[2]!, isValue: true };
}

function inYaml(above: readonly string[], before: string): BlockKeys {
  const [, indent = "", rest = ""] = /^(\s*)(.*)$/.exec(before) ?? [];
  const value = /^(?:- +)?([\w.$-]+):\s+(?:\[[^\]]*)?["']?([\w$.-]*)$/.exec(rest);
  const item = /^- +["']?([\w$.-]*)$/.exec(rest);
  const path: string[] = [];
  let width = indent.length;
  for (const line of above.toReversed()) {
    const [, blanks = "", key] = /^(\s*)([\w.$-]+):\s*(?:#.*)?$/.exec(line) ?? [];
    const isAround = key !== undefined &&
      (blanks.length < width || (item !== null && blanks.length === width && path.length === 0));
    if (!isAround) continue;
    path.unshift(...key.split("."));
    width = blanks.length;
    if (width === 0) break;
  }
  if (item !== null) return { path, typed: item[1]!, isValue: true };
  if (value !== null) return { path: [...path, ...value[1]!.split(".")], typed: value[2]!, isValue: true };
  const key = /^([\w.$-]*)$/.exec(rest);
  if (key === null) return NOWHERE;
  const typed = key[1]!;
  const dot = typed.lastIndexOf(".");
  if (dot < 0) return { path, typed, isValue: false };
  return { path: [...path, ...typed.slice(0, dot).split(".")], typed: typed.slice(dot + 1), isValue: false };
}

function inJson(text: string): BlockKeys {
  /** The open braces and brackets, each with its key. */
  const open: { readonly key: string | null; readonly isList: boolean }[] = [];
  let key: string | null = null;
  let word: string | null = null;
  let isValue = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (word !== null) {
      if (character === "\\") at++;
      else if (character !== '"') word += character;
      else {
        if (!isValue) key = word;
        word = null;
      }
      continue;
    }
    if (character === '"') word = "";
    else if (character === ":") isValue = true;
    else if (character === "{" || character === "[") {
      open.push({ key, isList: character === "[" });
      isValue = character === "[";
      key = null;
    } else if (character === "}" || character === "]" || character === ",") {
      if (character !== ",") open.pop();
      isValue = open.at(-1)?.isList ?? false;
      key = null;
    }
  }
  const names = [...open.map((each) => each.key), isValue ? key : null];
  const typed = word ?? /[\w$.-]*$/.exec(text)![0];
  return { path: names.filter((name) => name !== null), typed, isValue };
}

const NOWHERE: BlockKeys = { path: ["?"], typed: "", isValue: false };

function parts(dotted: string): string[] {
  return dotted.split(".").filter((part) => part !== "");
}
