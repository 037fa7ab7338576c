// Patterns of paths in approval rules: globs over whole paths (approval 11).

import { failed, type Outcome, success } from "../../base/problem.ts";

/** A pattern of paths. */
export interface PathPattern {
  /** As it was written. */
  readonly text: string;
  /** Whether it takes paths out again. */
  readonly excludes: boolean;
  /** The pattern itself, without `!`. */
  readonly glob: string;
}

/** Reads a pattern; fails with what is wrong, as the end of a sentence. */
export function readPathPattern(text: string): Outcome<PathPattern, string> {
  const excludes = text.startsWith("!");
  const glob = excludes ? text.slice(1) : text;
  if (glob === "") return failed("it is empty");
  if (glob.includes("\0")) return failed("it holds a NUL character");
  const wrong = globRegExp(glob);
  return wrong.ok ? success({ text, excludes, glob }) : wrong;
}

/**
 * The regular expression of a glob: `**` any depth, `*` and `?` within a component, `[ab]`, `{a,b}`; `d/**` includes `d`.
 * A backslash takes the next character literally. Fails with what is wrong.
 */
export function globRegExp(glob: string, flags = ""): Outcome<RegExp, string> {
  let source = "";
  let depth = 0;
  for (let at = 0; at < glob.length; at++) {
    const character = glob[at]!;
    if (character === "*") {
      if (glob[at + 1] !== "*") {
        source += "[^/]*";
        continue;
      }
      while (glob[at + 1] === "*") at += 1;
      if (glob[at + 1] === "/") {
        at += 1;
        source += "(?:.*/)?";
      } else if (source.endsWith("/")) {
        source = `${source.slice(0, -1)}(?:/.*)?`;
      } else source += ".*";
    } else if (character === "?") source += "[^/]";
    else if (character === "\\") {
      at += 1;
      if (at >= glob.length) return failed("a backslash stands at its end");
      source += literal(glob[at]!);
    } else if (character === "[") {
      const end = glob.indexOf("]", at + 2);
      if (end === -1) return failed("a bracket [ is not closed");
      const inner = glob.slice(at + 1, end);
      const negated = inner.startsWith("!") || inner.startsWith("^");
      const members = (negated ? inner.slice(1) : inner).replace(/[\\\]^[]/g, "\\$&");
      source += `(?!/)[${negated ? "^" : ""}${members}]`;
      at = end;
    } else if (character === "{") {
      depth += 1;
      source += "(?:";
    } else if (character === "}" && depth > 0) {
      depth -= 1;
      source += ")";
    } else if (character === "," && depth > 0) source += "|";
    else source += literal(character);
  }
  if (depth > 0) return failed("a brace { is not closed");
  try {
    return success(new RegExp(`^${source}$`, `s${flags}`));
  } catch {
    return failed("a range in its brackets runs backwards");
  }
}

function literal(character: string): string {
  return character.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** The part of a glob before the first component that holds a wildcard. */
export function fixedFront(glob: string): string {
  const wild = glob.search(/[*?[{\\]/);
  if (wild === -1) return glob;
  return glob.slice(0, glob.lastIndexOf("/", wild) + 1);
}
