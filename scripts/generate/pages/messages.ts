// The page of every sentence that the program can print, read from the source: docs/messages.md.

import { byBytes } from "../../../base/bytes.ts";
import { isThere } from "../../../base/files.ts";
import { ROOMS } from "../../gate/layers.ts";
import { ROOT } from "../../gate/root.ts";
import { walk } from "../../mutate/walk.ts";
import { type Sentence, sentencesOf } from "./messages/collect.ts";

/** What the sentences of a room without a code are about, in the order of the page. */
const TITLES: Readonly<Record<string, string>> = {
  commands: "What commands say",
  editors: "What servers for editors say",
  render: "A conversation to be read",
  cycle: "What a run says of a document",
  agent: "What protects a document",
  parser: "What is wrong with a document",
  prompt: "Templates and attached files",
  config: "Settings and first blocks",
  lua: "Lua",
  tools: "What the model is told by tools, and previews",
  sandbox: "The sandbox",
  providers: "Providers",
  base: "Everywhere",
};

/** Files whose texts are told elsewhere, or are no words for a person: help, settings, names of files, the server for tests. */
const NO_WORDS: readonly string[] = [
  "commands/line/help.ts",
  "commands/line/manual.ts",
  "commands/line/rows/",
  "commands/line/table.ts",
  "base/media.ts",
  "config/schema/parameters.ts",
  "config/schema/schema.ts",
  "config/schema/tools.ts",
  "providers/replay/",
  "render/html/",
  "render/secrets.ts",
];

const HEAD = `# Messages

Every sentence that the program can print, read from the source by \`deno task generate\`. What stands in braces is put in; \`[one|other]\` is
one of both. First the sentences with a code, by which scripts know them (\`--json\`, \`--events\`, \`flemma check\`), each with what to do next;
then all others and the parts they are put together from, by what they are about and then by their text; single words and pairs of them are
left out.
`;

export async function generate(root: string = ROOT): Promise<{ path: string; text: string }[]> {
  const coded = new Map<string, Sentence[]>();
  const others: [title: string, texts: string[]][] = [];
  for (const room of rooms(root)) {
    const texts: string[] = [];
    for await (const path of walk(`${root}/${room}`, ".ts")) {
      const file = path.slice(root.length + 1);
      if (file.endsWith(".generated.ts") || NO_WORDS.some((start) => file.startsWith(start))) continue;
      for (const sentence of sentencesOf(await Deno.readTextFile(path))) {
        if (sentence.codes.length === 0) texts.push(sentence.text);
        for (const code of sentence.codes) coded.set(code, [...coded.get(code) ?? [], sentence]);
      }
    }
    others.push([TITLES[room]!, texts]);
  }
  return [{ path: "docs/messages.md", text: page(coded, others) }];
}

/** The rooms that are there, in the order of the page. Throws for one that nobody gave a title. */
function rooms(root: string): string[] {
  const there = Object.keys(ROOMS).filter((name) => !name.endsWith(".ts") && isThere(`${root}/${name}`));
  const nameless = there.find((room) => TITLES[room] === undefined);
  if (nameless !== undefined) {
    throw new Error(`give the room ${nameless} a title in scripts/generate/pages/messages.ts`);
  }
  return Object.keys(TITLES).filter((room) => there.includes(room));
}

function page(
  coded: ReadonlyMap<string, readonly Sentence[]>,
  others: readonly [string, readonly string[]][],
): string {
  const codes = [...coded].sort(([a], [b]) => byBytes(a, b));
  return [
    HEAD,
    "## By code",
    "",
    ...codes.flatMap(([code, sentences]) => [`### ${code}`, "", ...listed(sentences.map(line)), ""]),
    ...others.flatMap(([title, texts]) =>
      texts.length === 0 ? [] : [`## ${title}`, "", ...listed(texts.map(item)), ""]
    ),
  ].join("\n");
}

function line({ text, next }: Sentence): string {
  return next === null ? item(text) : `${item(text)}\n  Next: ${oneLine(next)}`;
}

function item(text: string): string {
  return `- ${oneLine(text)}`;
}

/** On one line, and nothing in it that Markdown would read. */
function oneLine(text: string): string {
  return text.trim().replace(/\s*\n\s*/g, " / ").replace(/[\\*_<>#`\[\]]/g, "\\$&");
}

/** Each line once. By its text: in which file of its room a sentence stands changes nothing here. */
function listed(lines: readonly string[]): string[] {
  return [...new Set(lines)].sort(byBytes);
}
