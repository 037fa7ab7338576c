// The mutants of a source file: single changes of a line that make it refuse less, or something else.

export interface Mutant {
  /** Path relative to the root of the project. */
  readonly file: string;
  /** Line number, 1-based. */
  readonly line: number;
  readonly before: string;
  readonly after: string;
  /** Description of the change. */
  readonly change: string;
}

interface Change {
  readonly name: string;
  readonly pattern: RegExp;
  readonly to: string | ((match: string, ...groups: string[]) => string);
}

const SWAPS: Readonly<Record<string, string>> = {
  "===": "!==",
  "!==": "===",
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
};

/** Changes in the order in which they are listed. Each is made at every matching position of a line. */
const CHANGES: readonly Change[] = [
  {
    name: "the condition never holds",
    pattern: /(?<=\bif )\((?=.*\) (?:return|throw|continue|break|\{|[\w.#]+\())/g,
    to: "(false && ",
  },
  {
    name: "the condition is negated",
    pattern: /(?<=\bif )\((?=.*\) (?:return|throw|continue|break|\{))/g,
    to: NEGATED,
  },
  { name: "and becomes or", pattern: / && | &&$/g, to: (match) => match.replace("&&", "||") },
  { name: "or becomes and", pattern: / \|\| | \|\|$/g, to: (match) => match.replace("||", "&&") },
  {
    name: "the comparison is swapped",
    pattern: / (===|!==|<=|>=|<|>) /g,
    to: (_, sign) => ` ${SWAPS[sign!]} `,
  },
  {
    name: "the loop ends one too early",
    pattern: / (<=|>=|<|>) /g,
    to: (_, sign) => ` ${sign!.startsWith("<") ? "+" : "-"} 1 ${sign} `,
  },
  { name: "the negation is dropped", pattern: /(?<=[\s(])!(?=[\w(#])/g, to: "" },
  {
    name: "every and some change places",
    pattern: /\.(every|some)\(/g,
    to: (_, word) => word === "every" ? ".some(" : ".every(",
  },
  {
    name: "the answer is turned",
    pattern: /\breturn (true|false);/g,
    to: (_, word) => `return ${word !== "true"};`,
  },
];

/** Returns all mutants of a file, in the order of its lines. */
export function mutantsOf(file: string, code: string): Mutant[] {
  const lines = code.split("\n");
  const isCode = codeLines(lines);
  return lines.flatMap((before, index) => {
    if (!isCode[index] || !refuses(before)) return [];
    return CHANGES.flatMap(({ name, pattern, to }) =>
      [...before.matchAll(pattern)].flatMap((match) => {
        if (isInText(before, match.index) || !suits(name, before, match[0])) return [];
        const after = apply(before, match, to);
        return after === null ? [] : [{ file, line: index + 1, before, after, change: name }];
      })
    );
  });
}

/** Matches a statement on one line that does something: a call, an assignment or a count. */
const STATEMENT = /^(?:await |void )?[\w$.#!?[\]]+(?:\(.*\)| (?:=|\?\?=|\+=|-=|\|=) .+|\+\+|--);$/;
const OTHER_STATEMENT =
  /^(?:return|throw|import|export|const|let|type|yield|case|#|readonly|declare|super\()/;
const CONTINUED = /(?:[(,=?:+|&[]|=>|\b(?:return|await|extends))$/;

/** Returns mutants that each leave out one statement, in the order of the lines of a file. */
export function droppedStatementsOf(file: string, code: string): Mutant[] {
  const lines = code.split("\n");
  const isCode = codeLines(lines);
  return lines.flatMap((before, index) => {
    const previous = lines[index - 1]?.trim() ?? "";
    if (!isCode[index] || CONTINUED.test(previous)) return [];
    const [, condition = "", statement = ""] = /^(\s*(?:\} else |if \(.*?\) (?=\w)|else )?)(.*)$/.exec(
      before,
    )!;
    if (!STATEMENT.test(statement) || OTHER_STATEMENT.test(statement) || !isBalanced(statement)) return [];
    if (condition.includes("(") && !isBalanced(condition)) return [];
    const after = condition.trim() === "" ? `${condition};` : `${condition}{}`;
    return [{ file, line: index + 1, before, after, change: "the statement is left out" }];
  });
}

/** Matches a line that takes a lock. */
const TAKES_LOCK = /\b(?:try)?[lL]ock(?:[A-Z]\w*)?\(/;

/**
 * Returns mutants in which a check below a lock never holds, in the order of the lines of a file. What was checked
 * before a lock is checked again under it, because it may have changed during the wait.
 */
export function secondChecksOf(file: string, code: string): Mutant[] {
  const isLocked = linesUnderLock(code.split("\n"));
  return mutantsOf(file, code).filter(({ line, change }) =>
    isLocked[line - 1] && change === "the condition never holds"
  );
}

/** Returns which lines are below a lock in the same function or method. */
function linesUnderLock(lines: readonly string[]): boolean[] {
  let inClass = false;
  let isLocked = false;
  return lines.map((line) => {
    if (/^(?:export )?(?:abstract )?class\b/.test(line)) inClass = true;
    if (line.startsWith("}")) inClass = false;
    if (line.startsWith("}") || (inClass && line.startsWith("  }"))) isLocked = false;
    const wasLocked = isLocked;
    if (/^\s/.test(line) && TAKES_LOCK.test(line) && !/^\s*(?:\*|\/[/*])/.test(line)) isLocked = true;
    return wasLocked;
  });
}

function isBalanced(text: string): boolean {
  const opened = text.indexOf("(");
  return opened < 0 ? !text.includes(")") : [...text].reduce((depth, sign, at) => {
    if (isInText(text, at)) return depth;
    return "([{".includes(sign) ? depth + 1 : ")]}".includes(sign) ? depth - 1 : depth;
  }, 0) === 0;
}

/**
 * True if a change suits the line. The bound of a loop is reduced instead of swapped: a loop that runs one step too
 * far reads `undefined`, which often has no effect, but one that ends too early skips the last item, which must be
 * detected.
 */
function suits(name: string, line: string, sign: string): boolean {
  const isBound = /^\s*(?:\} )?(?:for|while) \(/.test(line) && /[<>]/.test(sign);
  if (name === "the comparison is swapped") return !isBound;
  return name !== "the loop ends one too early" || isBound;
}

const NEGATED_MARK = "\u0001";
function NEGATED(): string {
  return NEGATED_MARK;
}

/** Returns the line with the change at one position; null if the line does not contain all that must change. */
function apply(before: string, match: RegExpMatchArray, to: Change["to"]): string | null {
  const at = match.index!;
  const made = typeof to === "string" ? to : to(match[0], ...match.slice(1) as string[]);
  if (made !== NEGATED_MARK && !made.startsWith("(false")) {
    return `${before.slice(0, at)}${made}${before.slice(at + match[0].length)}`;
  }
  const end = closing(before, at);
  if (end < 0) return null;
  const condition = before.slice(at + 1, end);
  const changed = made === NEGATED_MARK ? `(!(${condition}))` : `(false && (${condition}))`;
  return `${before.slice(0, at)}${changed}${before.slice(end + 1)}`;
}

/** Returns the offset at which the bracket that opens at `at` closes on the same line; -1 if it does not. */
function closing(line: string, at: number): number {
  let depth = 0;
  for (let index = at; index < line.length; index++) {
    if (isInText(line, index)) continue;
    if (line[index] === "(") depth++;
    else if (line[index] === ")" && --depth === 0) return index;
  }
  return -1;
}

/** True if the line decides something: a condition, a comparison or a boolean return value. */
function refuses(line: string): boolean {
  return /\bif \(|&&|\|\||===|!==| [<>]=? |\breturn (?:true|false);|\.(?:every|some)\(|[\s(]!/.test(line) &&
    !/^\s*(?:import|export type|export interface|type |\|)/.test(line);
}

/** Returns which lines are code, and not comments or parts of multi-line strings. */
function codeLines(lines: readonly string[]): boolean[] {
  let inComment = false;
  let inText = false;
  return lines.map((line) => {
    const began = inComment || inText;
    if (inText) inText = !/(?<!\\)`/.test(line) || (line.match(/(?<!\\)`/g) ?? []).length % 2 === 0;
    else if (inComment) inComment = !line.includes("*/");
    else if (/^\s*\/\*/.test(line)) inComment = !line.includes("*/");
    else {inText =
        (line.replaceAll(/\/(?![*/ ])(?:\\.|[^/\\])+\/[a-z]*/g, "").match(/(?<!\\)`/g) ?? []).length % 2 ===
          1;}
    return !began && !/^\s*(?:\/\/|\/\*|\*)/.test(line);
  });
}

/** True if a position in a line is inside a string, a regular expression or a trailing comment. */
function isInText(line: string, at: number): boolean {
  let quote: string | null = null;
  for (let index = 0; index < at; index++) {
    const sign = line[index]!;
    if (quote !== null) {
      if (sign === "\\") index++;
      else if (sign === quote) quote = null;
    } else if (sign === '"' || sign === "'" || sign === "`") quote = sign;
    else if (
      sign === "/" && /[=(,:!&|?{};\s]$/.test(line.slice(0, index)) && /^\/(?![/* =])/.test(line.slice(index))
    ) {
      quote = "/";
    } else if (sign === "/" && line[index + 1] === "/") return true;
  }
  return quote !== null;
}
