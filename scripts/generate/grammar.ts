// Builds the parse tables from the grammar of `.chat` documents.

import { buildParserFile } from "@lezer/generator";

const GRAMMAR = new URL("../../parser/chat.grammar", import.meta.url);

const NOTE = [
  "// Made from parser/chat.grammar by scripts/generate/grammar.ts (deno task generate). Do not edit.",
  "// deno-lint-ignore-file",
  "",
].join("\n");

/**
 * The checked-in files made from the grammar, with paths relative to the repository. Terms stand in a file of
 * their own because the tokenizers need them and the tables need the tokenizers.
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
    { path: "parser/chat.generated.ts", text: `${NOTE}${parser.trimEnd()}\n` },
    { path: "parser/terms.generated.ts", text: `${NOTE}${terms.trimEnd()}\n` },
  ];
}
