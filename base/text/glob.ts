// Globs over whole paths: `**` matches any depth, `*` and `?` match inside a component, and `[ab]` and `{a,b}` are
// alternatives; `d/**` includes `d`.
//
// Patterns may come from untrusted documents, so they run as a state machine, in time proportional to the length of
// the pattern times the length of the path. A regular expression with several `**` would try every way to split a
// path.

import { failed, type Outcome, success } from "../problem.ts";

/** One step of the state machine. */
type Token =
  | { readonly is: "char"; readonly text: string }
  | { readonly is: "set"; readonly fits: (text: string) => boolean }
  /** Matches any characters within one path component. */
  | { readonly is: "star" }
  /** Matches any characters. */
  | { readonly is: "all" }
  /** Matches the empty text, or any number of folders with the slash after the last one. */
  | { readonly is: "folders" }
  /** Matches only the end of the path, or a slash and everything after it. */
  | { readonly is: "below" };

/** Maximum number of patterns to which the braces of one pattern expand. */
const MOST_ALTERNATIVES = 64;
/** Maximum number of characters of a pattern: the length of the longest path. */
const LONGEST = 4096;
/** Maximum number of characters of all patterns to which the braces of one pattern expand. */
const LONGEST_EXPANDED = 16_384;

/** A compiled glob. */
export interface Glob {
  /**
   * True if a whole path matches.
   * @param anyCase ignores case
   * @param dots whether wildcards match a dot at the beginning of a component
   */
  matches(path: string, anyCase?: boolean, dots?: boolean): boolean;
}

/** Compiles a glob. A backslash makes the next character literal. Fails with the reason, as the end of a sentence. */
export function readGlob(text: string): Outcome<Glob, string> {
  if (text.length > LONGEST) return failed(`it has more than ${LONGEST} characters`);
  const alternatives = withoutBraces(text);
  if (!alternatives.ok) return alternatives;
  if (alternatives.value.join("").length > LONGEST_EXPANDED) {
    return failed("its braces expand to too much text");
  }
  const machines: (readonly Token[])[] = [];
  for (const alternative of alternatives.value) {
    const tokens = tokensOf(alternative);
    if (!tokens.ok) return tokens;
    machines.push(tokens.value);
  }
  return success({
    matches: (path, anyCase = false, dots = true) =>
      machines.some((tokens) => run(tokens, path, anyCase, dots)),
  });
}

/** Returns the patterns to which a pattern with braces expands. */
function withoutBraces(text: string): Outcome<readonly string[], string> {
  let open = -1;
  let depth = 0;
  const commas: number[] = [];
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === "{") {
      if (depth === 0) open = at;
      depth += 1;
    } else if (text[at] === "," && depth === 1) commas.push(at);
    else if (text[at] === "}" && depth > 0) {
      depth -= 1;
      if (depth > 0) continue;
      return joined(text, [open, ...commas, at]);
    }
  }
  return depth > 0 ? failed("a brace { is not closed") : success([text]);
}

/** Expands a pattern whose first braces and their commas are at these offsets. */
function joined(text: string, places: readonly number[]): Outcome<readonly string[], string> {
  const after = withoutBraces(text.slice(places.at(-1)! + 1));
  if (!after.ok) return after;
  const found: string[] = [];
  for (const [index, place] of places.slice(0, -1).entries()) {
    const inner = withoutBraces(text.slice(place + 1, places[index + 1]));
    if (!inner.ok) return inner;
    for (const middle of inner.value) {
      for (const end of after.value) found.push(`${text.slice(0, places[0])}${middle}${end}`);
      if (found.length > MOST_ALTERNATIVES) {
        return failed(`its braces expand to more than ${MOST_ALTERNATIVES} patterns`);
      }
    }
  }
  return success(found);
}

function tokensOf(text: string): Outcome<readonly Token[], string> {
  const characters = Array.from(text);
  const tokens: Token[] = [];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at]!;
    if (character === "*") {
      let stars = 1;
      while (characters[at + 1] === "*") (at += 1, stars += 1);
      if (stars === 1) tokens.push({ is: "star" });
      else if (characters[at + 1] === "/") {
        at += 1;
        if (tokens.at(-1)?.is !== "folders") tokens.push({ is: "folders" });
      } else if (at + 1 === characters.length && isSlash(tokens.at(-1))) {
        tokens.splice(-1, 1, { is: "below" }, { is: "all" });
      } else tokens.push({ is: "all" });
    } else if (character === "?") tokens.push({ is: "set", fits: () => true });
    else if (character === "[") {
      const end = characters.indexOf("]", at + 2);
      if (end === -1) return failed("a bracket [ is not closed");
      const set = setOf(characters.slice(at + 1, end));
      if (set === null) return failed("a range in its brackets is reversed");
      tokens.push({ is: "set", fits: set });
      at = end;
    } else if (character === "\\") {
      at += 1;
      if (at >= characters.length) return failed("it ends with a backslash");
      tokens.push({ is: "char", text: characters[at]! });
    } else tokens.push({ is: "char", text: character });
  }
  return success(tokens);
}

function isSlash(token: Token | undefined): boolean {
  return token?.is === "char" && token.text === "/";
}

/** Returns a test for the members of brackets; null if a range is reversed. */
function setOf(inner: readonly string[]): ((text: string) => boolean) | null {
  const isNegated = inner[0] === "!" || inner[0] === "^";
  const members = isNegated ? inner.slice(1) : inner;
  const ranges: [number, number][] = [];
  for (let at = 0; at < members.length; at++) {
    const from = members[at]!.codePointAt(0)!;
    const isRange = members[at + 1] === "-" && at + 2 < members.length;
    const to = isRange ? members[at + 2]!.codePointAt(0)! : from;
    if (to < from) return null;
    ranges.push([from, to]);
    if (isRange) at += 2;
  }
  return (text) => {
    const code = text.codePointAt(0)!;
    return ranges.some(([from, to]) => from <= code && code <= to) !== isNegated;
  };
}

/**
 * Runs the state machine over a path. A state is the position before a token. States inside a `folders` token are
 * negative, and continue only after a slash.
 */
function run(tokens: readonly Token[], path: string, anyCase: boolean, dots: boolean): boolean {
  let states = reached(tokens, [0]);
  let before = "/";
  for (const character of path) {
    const onlyDots = !dots && character === "." && before === "/";
    const next: number[] = [];
    for (const state of states) {
      if (onlyDots && tokens[state]?.is !== "char") continue;
      next.push(...stepped(tokens, state, character, anyCase));
    }
    if (next.length === 0) return false;
    // A leading dot ends wildcards, so each of them may be the only one that goes on.
    states = dots ? needed(tokens, reached(tokens, next)) : reached(tokens, next);
    before = character;
  }
  return [...states].some((state) => state === tokens.length || tokens[state]?.is === "below");
}

function stepped(tokens: readonly Token[], state: number, character: string, anyCase: boolean): number[] {
  const at = state < 0 ? -1 - state : state;
  const token = tokens[at];
  switch (token?.is) {
    case "char": {
      const same = token.text === character ||
        (anyCase && token.text.toLowerCase() === character.toLowerCase());
      return same ? [at + 1] : [];
    }
    case "set": {
      const cases = anyCase ? [character, character.toLowerCase(), character.toUpperCase()] : [character];
      return character !== "/" && cases.some(token.fits) ? [at + 1] : [];
    }
    case "star":
      return character === "/" ? [] : [at];
    case "all":
      return [at];
    case "folders":
      return character === "/" ? [-1 - at, at + 1] : [-1 - at];
    case "below":
      return character === "/" ? [at + 1] : [];
    case undefined:
      return [];
  }
}

/** Adds the states that can be reached without reading a character. */
function reached(tokens: readonly Token[], given: readonly number[]): ReadonlySet<number> {
  const states = new Set<number>();
  const add = (state: number): void => {
    if (states.has(state)) return;
    states.add(state);
    const is = state < 0 ? undefined : tokens[state]?.is;
    if (is === "star" || is === "all" || is === "folders") add(state + 1);
  };
  for (const state of given) add(state);
  return states;
}

/**
 * Leaves out states that can match nothing that a later one cannot match: all before a wildcard for any characters, and
 * those in the same path component before a wildcard.
 */
function needed(tokens: readonly Token[], states: ReadonlySet<number>): ReadonlySet<number> {
  let [any, star] = [-1, -1];
  for (const state of states) {
    const at = state < 0 ? -1 - state : state;
    const is = tokens[at]?.is;
    // Folders that begin inside a component may be none, so that the component is the last one.
    if (is === "all" || (state < 0 && isSlash(tokens[at - 1]))) any = Math.max(any, at);
    else if (is === "star") star = Math.max(star, state);
  }
  let component = star;
  while (component > 0 && !takesSlash(tokens[component - 1]!)) component--;
  const isNeeded = (state: number) => {
    const at = state < 0 ? -1 - state : state;
    return at >= any && (at >= star || at < component);
  };
  return new Set([...states].filter(isNeeded));
}

function takesSlash(token: Token): boolean {
  return token.is === "char" ? token.text === "/" : token.is !== "set" && token.is !== "star";
}
