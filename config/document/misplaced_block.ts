// Text before the first message that reads as a first block and is none: in a wrong line, in a wrong fence, or in none.
// What somebody wrote there to restrict has no effect, so it may not go by in silence.

import type { Preamble } from "../../parser/types.ts";
import { settingsIn, type SettingsWord } from "../schema/words.ts";
import type { ChunkProblem } from "../types.ts";

/** A finding with the lines it is about, 1-based. */
export interface MisplacedBlock extends ChunkProblem {
  readonly line: number;
  readonly end: number;
}

/** A piece of the preamble that somebody set off from the rest. */
interface Piece {
  /** Lines of the document, 1-based, with what opens and closes it. */
  readonly start: number;
  readonly end: number;
  readonly code: string;
  /** The language it says, lower case; empty when it says none. */
  readonly language: string;
  /** Why it is no first block although it is one in every other respect; null when only its place is wrong. */
  readonly flaw: string | null;
  /** Nothing but blank lines stand above it. */
  readonly isFirst: boolean;
}

const LANGUAGES: ReadonlySet<string> = new Set(["lua", "json", "yaml", "yml"]);
/** A line that opens a fence, with what follows the ticks. */
const FENCE = /^(?<indent>[ \t]*)(?<ticks>`{3,}|~{3,})(?<info>[^`]*)$/;
/** Fences of front matter in other programs, with the language that they hold there. */
const FRONT_MATTER: Readonly<Record<string, string>> = { "---": "yaml", "+++": "toml", ";;;": "json" };
/** A settings file pasted without any fence: words that stand in no prose at the beginning of a line. */
const isSure = (word: SettingsWord, name: string) => word.sure && name === name.toLowerCase();

/**
 * What is wrong with the text before the first message.
 *
 * @param hasBlock the document has a first block, so that further ones cannot be meant to be it
 */
export function misplacedBlocks(preamble: Preamble, hasBlock: boolean): MisplacedBlock[] {
  const { pieces, rest } = split(preamble);
  const found = pieces.flatMap((piece) => findingsOf(piece, hasBlock));
  const loose = settingsIn(rest.replaceAll(/^(?!["']?(?:flemma|[\w.-]+["']?[ \t]*[:=.])).*$/gm, ""), isSure);
  if (loose !== null) {
    const line = preamble.start + loose.line;
    found.push(problem(
      hasBlock ? "warning" : "error",
      `"${loose.name}" stands in no first block and sets nothing; ${REMEDY}`,
      line,
      line,
    ));
  }
  return found;
}

const REMEDY =
  "settings stand between a line ```yaml, the very first of the document, and a line ```, below flemma:";

function findingsOf(piece: Piece, hasBlock: boolean): MisplacedBlock[] {
  const { start, end, code, language, flaw, isFirst } = piece;
  const setting = settingsIn(code);
  const isNamed = LANGUAGES.has(language);
  if (setting === null && !isNamed) return [];
  if (hasBlock) {
    const message =
      `the block in line ${start} is no first block, because one stands above it already; it sets nothing`;
    return [problem("warning", message, start, end)];
  }
  // An accident, whatever it holds: a line got in front of the block.
  const slipped = flaw === null && isFirst;
  const severity = setting !== null || slipped ? "error" : "warning";
  const what = setting === null ? "what it says" : `"${setting.name}" in line ${start + 1 + setting.line}`;
  const reason = flaw ?? `a first block begins in line 1, this one in line ${start}`;
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

/** The pieces of a preamble, and the lines of none of them; lines of pieces are blank there. */
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
      flaw: flaw ?? (close < 0 ? "no line ``` closes the block" : null),
      isFirst,
    });
    rest.push(...Array<string>(last - at + 1).fill(""));
    isFirst = false;
    at = last;
  }
  return { pieces, rest: rest.join("\n") };
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
      flaw: `a first block is not fenced by ${bare}; ${REMEDY}`,
      closes: (other) => other.trimEnd() === bare || (bare === "---" && other.trimEnd() === "..."),
    };
  }
  const { indent = "", ticks = "", info = "" } = FENCE.exec(line)?.groups ?? {};
  if (ticks === "") return null;
  const [word = "", ...more] = info.trim().split(/\s+/);
  const language = word.toLowerCase().replace(/[^a-z].*$/, "");
  const fence = `\`\`\`${LANGUAGES.has(language) ? language : "yaml"}`;
  const write = `write ${fence} in line 1 and nothing else`;
  const flaw = indent !== ""
    ? `the line that opens the block is indented; ${write}`
    : ticks !== "```"
    ? `a first block is opened by three backticks; ${write}`
    : word === ""
    ? `the block does not say its language; ${write}`
    : /^\s/.test(info)
    ? `a blank stands before the language; ${write}`
    : more.length > 0 || !/^\w+\s*$/.test(info)
    ? `more than the language stands behind the backticks; ${write}`
    : null;
  const closing = new RegExp(`^[ \\t]*${ticks[0]}{${ticks.length},}\\s*$`);
  return { language, flaw, closes: (other) => closing.test(other) };
}
