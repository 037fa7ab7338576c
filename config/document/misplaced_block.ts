// Detection of misplaced frontmatter before the first message: on a wrong line, in a wrong fence, or without a fence. A
// misplaced block may be a restriction that has no effect, so it must be reported.

import type { Preamble } from "../../parser/types.ts";
import { settingsIn, type SettingsWord } from "../schema/words.ts";
import type { ChunkProblem } from "../types.ts";

/** A problem with the lines it is about, 1-based. */
export interface MisplacedBlock extends ChunkProblem {
  readonly line: number;
  readonly end: number;
}

interface Piece {
  /** Lines of the document, 1-based, including delimiters. */
  readonly start: number;
  readonly end: number;
  readonly code: string;
  /** Language of the block in lower case; empty if the block states none. */
  readonly language: string;
  /** Reason why the block is not frontmatter although it looks like it; null if only its position is wrong. */
  readonly flaw: string | null;
  /** True if only blank lines precede the block. */
  readonly isFirst: boolean;
}

const LANGUAGES: ReadonlySet<string> = new Set(["lua", "json", "yaml", "yml"]);
/** An opening fence, with the text after its ticks. */
const FENCE = /^(?<indent>[ \t]*)(?<ticks>`{3,}|~{3,})(?<info>[^`]*)$/;
/** Frontmatter delimiters of other programs, with their language. */
const FRONT_MATTER: Readonly<Record<string, string>> = { "---": "yaml", "+++": "toml", ";;;": "json" };
/** Detects a settings file that was pasted without a fence. Looks for words with which no line of prose begins. */
const isSure = (word: SettingsWord, name: string) => word.sure && name === name.toLowerCase();

/**
 * Reports problems with the text before the first message.
 *
 * @param hasBlock whether the document has frontmatter, so that further blocks cannot be meant as frontmatter
 */
export function findMisplacedBlocks(preamble: Preamble, hasBlock: boolean): MisplacedBlock[] {
  const { pieces, rest } = split(preamble);
  const found = pieces.flatMap((piece) => findingsOf(piece, hasBlock));
  const loose = settingsIn(rest.replaceAll(/^(?!["']?(?:flemma|[\w.-]+["']?[ \t]*[:=.])).*$/gm, ""), isSure);
  if (loose !== null) {
    const line = preamble.start + loose.line;
    found.push(problem(
      hasBlock ? "warning" : "error",
      `"${loose.name}" is outside the frontmatter and changes no setting; ${REMEDY}`,
      line,
      line,
    ));
  }
  return found;
}

const REMEDY =
  "write settings below flemma:, between a line ```yaml at the very beginning of the document and a line ```";

function findingsOf(piece: Piece, hasBlock: boolean): MisplacedBlock[] {
  const { start, end, code, language, flaw, isFirst } = piece;
  const setting = settingsIn(code);
  const isNamed = LANGUAGES.has(language);
  if (setting === null && !isNamed) return [];
  if (hasBlock) {
    const message = `the block in line ${start} has no effect, because the document already has frontmatter`;
    return [problem("warning", message, start, end)];
  }
  // Whatever the block contains, its position is probably an accident: somebody inserted a line before the block.
  const slipped = flaw === null && isFirst;
  const severity = setting !== null || slipped ? "error" : "warning";
  const what = setting === null ? "this block" : `"${setting.name}" in line ${start + 1 + setting.line}`;
  const reason = flaw ?? `frontmatter must begin in line 1, but this block begins in line ${start}`;
  return [problem(severity, `${what} has no effect: ${reason}`, start, end)];
}

function problem(
  severity: MisplacedBlock["severity"],
  message: string,
  line: number,
  end: number,
): MisplacedBlock {
  return { code: "frontmatter_misplaced", severity, message, line, end };
}

/** Splits a preamble into pieces and other lines. Lines of pieces are blank in `rest`. */
function split({ text, start }: Preamble): { readonly pieces: readonly Piece[]; readonly rest: string } {
  const lines = text.split(/\r?\n/);
  const pieces: Piece[] = [];
  const rest: string[] = [];
  let isFirst = true;
  for (let at = 0; at < lines.length; at++) {
    const opened = opener(lines[at]!, isFirst);
    if (opened === null) {
      rest.push(lines[at]!);
      if (lines[at]!.trim() !== "") isFirst = false;
      continue;
    }
    const close = lines.findIndex((line, index) => index > at && opened.closes(line));
    const last = close < 0 ? lines.length - 1 : close;
    const { language, flaw } = opened;
    pieces.push({
      start: start + at,
      end: start + last,
      code: lines.slice(at + 1, close < 0 ? undefined : close).join("\n"),
      language,
      flaw: flaw ?? closingFlaw(start + at, close < 0 ? null : start + close),
      isFirst,
    });
    rest.push(...Array<string>(last - at + 1).fill(""));
    isFirst = false;
    at = last;
  }
  return { pieces, rest: rest.join("\n") };
}

/** Returns why a block with a correct opening line is not closed; null if only its place is wrong. */
function closingFlaw(opening: number, closing: number | null): string | null {
  if (closing === null) return "the block has no closing line ```";
  // In line 1, everything else is right.
  return opening === 1 ? `write only \`\`\` in line ${closing}, without indentation` : null;
}

interface Opener {
  readonly language: string;
  readonly flaw: string | null;
  closes(line: string): boolean;
}

function opener(line: string, isFirst: boolean): Opener | null {
  const bare = line.trimEnd();
  const matter = isFirst && Object.hasOwn(FRONT_MATTER, bare) ? FRONT_MATTER[bare]! : undefined;
  if (matter !== undefined) {
    return {
      language: matter,
      flaw: `frontmatter is not fenced by ${bare}; ${REMEDY}`,
      closes: (other) => other.trimEnd() === bare || (bare === "---" && other.trimEnd() === "..."),
    };
  }
  const { indent = "", ticks = "", info = "" } = FENCE.exec(line)?.groups ?? {};
  if (ticks === "") return null;
  const [word = "", ...more] = info.trim().split(/\s+/);
  const language = word.toLowerCase().replace(/[^a-z].*$/, "");
  const fence = `\`\`\`${LANGUAGES.has(language) ? language : "yaml"}`;
  const write = `write only ${fence} in line 1`;
  const flaw = indent !== ""
    ? `the opening line is indented; ${write}`
    : ticks !== "```"
    ? `frontmatter opens with three backticks; ${write}`
    : word === ""
    ? `the block names no language; ${write}`
    : /^\s/.test(info)
    ? `there is a space before the language; ${write}`
    : more.length > 0 || !/^\w+\s*$/.test(info)
    ? `there is text after the language; ${write}`
    : null;
  const closing = new RegExp(`^[ \\t]*${ticks[0]}{${ticks.length},}\\s*$`);
  return { language, flaw, closes: (other) => closing.test(other) };
}
