// The sentences of README and docs that promise something: those with a word that allows no exception, or with a figure.
// `tests/promises.txt` names a test for each of them.

import { documentationPages } from "../scripts/gate/documentation.ts";
import { ROOT } from "../scripts/gate/root.ts";

const WORDS = /\b(?:never|always|nothing|cannot|(?<!read-)only)\b/i;
const FIGURES = /\d (?:ms|s|KB|MB|GB)\b|\d ?[%×]/;

/** Pages that are themselves lists of tests or of measurements. */
const LISTS = ["reliability", "performance", "editors"].map((name) => `docs/project/${name}.md`);

/** Rows of tables that promise nothing. */
const SAYS_WHAT = new Map([["docs/reference/models.md", /^/], ["docs/reference/commands.md", /^`-/]]);

/** Returns the promising sentences of each page for people. */
export async function readPromises(): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const page of await documentationPages()) {
    if (LISTS.includes(page)) continue;
    const sentences = promisesIn(await Deno.readTextFile(`${ROOT}/${page}`));
    // The rows about models are facts that vendors state; those about options say what an option is for.
    const own = sentences.filter((one) => !one.includes(" | ") || !SAYS_WHAT.get(page)?.test(one));
    if (own.length > 0) found.set(page, own);
  }
  return found;
}

/**
 * Returns the promising sentences of a Markdown text, each once, without links and bold marks. A row of a table is one
 * sentence. Code, comments and headings, also those of tables, promise nothing.
 */
export function promisesIn(markdown: string): string[] {
  const prose = markdown
    .replace(/^ *(`{3,}|~{3,}).*\n[^]*?^ *\1[ \t]*$/gm, "\n")
    .replace(/<!--[^]*?-->/g, "")
    .replace(/^#.*$/gm, "\n")
    .replace(/^\|.*\|\n(?=\| ?:?-)/gm, "")
    .replace(/!?\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\([^)\s]*\)/g, "$1")
    .replace(/(`[^`]*`)|\*\*/g, "$1");
  const blocks = prose.split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) |\|)/).map((block) =>
    block.replace(/\s+/g, " ").trim()
  );
  const sentences = blocks.flatMap((block) => block.startsWith("| ") ? [block] : block.split(/(?<=[.!?]) +/))
    .map((sentence) => sentence.replace(/^(?:[-*|]|\d+\.) | \|$/g, ""));
  return [...new Set(sentences)].filter((sentence) => {
    const words = sentence.replace(/`[^`]*`/g, "");
    return WORDS.test(words) || FIGURES.test(words);
  });
}
