// Generates node types of the parser from the grammar of `.chat` documents, and the parse tables that tests compare the
// parser with.

import { buildParser, buildParserFile } from "@lezer/generator";
import { ContextTracker, ExternalTokenizer } from "@lezer/lr";

const GRAMMAR = new URL("../../parser/chat.grammar", import.meta.url);

const NOTE = [
  "// Made from parser/chat.grammar by scripts/generate/grammar.ts (deno task generate). Do not edit.",
  "// deno-lint-ignore-file",
  "",
].join("\n");

/**
 * Returns the checked-in files made from the grammar, with paths relative to the repository. Terms are in a separate
 * file because the tokenizers need them and the tables need the tokenizers.
 */
export async function generate(): Promise<{ path: string; text: string }[]> {
  const grammar = await Deno.readTextFile(GRAMMAR);
  const warnings: string[] = [];
  const { parser, terms } = buildParserFile(grammar, {
    fileName: "parser/chat.grammar",
    typeScript: true,
    moduleStyle: "es",
    warn: (message) => warnings.push(message),
  });
  if (warnings.length > 0) throw new Error(`The grammar has faults: ${warnings.join("; ")}`);
  return [
    { path: "tests/parser/reference/chat.generated.ts", text: `${NOTE}${parser.trimEnd()}\n` },
    { path: "parser/tree/terms.generated.ts", text: `${NOTE}${terms.trimEnd()}\n` },
    { path: "parser/tree/names.generated.ts", text: namesOf(grammar) },
  ];
}

/**
 * Returns the name of each node type at the index of its term. The name of the error node, which no document has, is
 * empty.
 */
function namesOf(grammar: string): string {
  const { nodeSet } = buildParser(grammar, {
    externalTokenizer: () => new ExternalTokenizer(() => {}),
    contextTracker: () => new ContextTracker({ start: 0 }),
  });
  const names = nodeSet.types.map((type) => type.isError ? "" : type.name);
  while (names.at(-1) === "") names.pop();
  const list = names.map((name) => `  ${JSON.stringify(name)},\n`).join("");
  return `${NOTE}export const NAMES: readonly string[] = [\n${list}];\n`;
}
