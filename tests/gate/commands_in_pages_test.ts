// Every command line of this program on a page is accepted by the program; examples_slow_test.ts really runs the
// smaller part.

import assert from "node:assert/strict";
import { readArguments } from "../../commands/line/arguments.ts";
import { fencesOf } from "../../scripts/gate/examples.ts";
import { documentationPages } from "../../scripts/gate/documentation.ts";
import { ROOT } from "../../scripts/gate/root.ts";
import { collectMessages } from "../../scripts/generate/messages.ts";

/** Blocks that hold commands of a shell. */
const SHELL = /^(?:sh|console|make|bash)\b/;

interface Printed {
  readonly place: string;
  readonly words: readonly string[];
  /** Whether it stands in running text, where it may be a name alone. */
  readonly inText: boolean;
}

/** The words of a command up to where the shell would end it; quotes are taken off. */
function wordsOf(text: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let quote = "";
  for (const char of text) {
    if (quote !== "") {
      if (char === quote) quote = "";
      else word = (word ?? "") + char;
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= "";
    } else if (/[|;&<>()`\n#]/.test(char)) break;
    else if (/\s/.test(char)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? "") + char;
  }
  if (word !== null) words.push(word);
  return words;
}

/** The commands of this program in a text, from the name on. */
function commandsIn(text: string, place: string, inText: boolean): Printed[] {
  return [...text.matchAll(/(?<![\w./:=-])flemma (?=[a-z-])/g)].map(({ index }) => ({
    place,
    words: wordsOf(text.slice(index)).slice(1),
    inText,
  }));
}

async function printedBy(page: string): Promise<Printed[]> {
  const text = await Deno.readTextFile(`${ROOT}/${page}`);
  const fences = fencesOf(text).filter(({ info }) => SHELL.test(info));
  const inFences = fences.flatMap(({ info, body, line }) =>
    body.replaceAll("\\\n", " ").split("\n").flatMap((each, at) => {
      if (info.startsWith("console") && !each.startsWith("$ ")) return [];
      return /^\s*#/.test(each) ? [] : commandsIn(each, `${page}:${line + at + 1}`, false);
    })
  );
  const spans = text.replace(/^(`{3,}).*\n[\s\S]*?^\1`*$/gm, "").matchAll(/(?<!`)`([^`\n]+)`(?!`)/g);
  const inSpans = [...spans].flatMap(([, span = ""]) =>
    span.startsWith("flemma ") ? commandsIn(span, `${page}, \`${span}\``, true) : []
  );
  return [...inFences, ...inSpans];
}

async function pages(): Promise<string[]> {
  return ["SECURITY.md", "CONTRIBUTING.md", ...await documentationPages()].sort();
}

/** Why the program would not take these words; null when it would. */
function refusal({ words, inText }: Pick<Printed, "words" | "inText">): string | null {
  // A word in capitals stands for the reader's own, a bracket for what may be left out.
  const own = words.filter((word) => !/^\[|\]$|^…$|…/.test(word));
  const read = readArguments(own, (word) => /\.chat$|^[A-Z]+$/.test(word));
  if (read.kind !== "mistake") return null;
  const { message } = read.mistake;
  const isName = inText && / needs (?:one of: |[A-Z]|a command )/.test(message);
  const isPlaceholder = own.some((word) => /^[A-Z][A-Z_]*$/.test(word) && message.includes(word)) ||
    /needs a (?:value|number)|takes a/.test(message);
  return isName || isPlaceholder ? null : message;
}

Deno.test("every command on a page of the docs uses an existing command name and existing options", async () => {
  const printed = (await Promise.all((await pages()).map(printedBy))).flat();
  assert.ok(printed.length > 200, `hardly any were found: ${printed.length}`);
  const faults = printed.flatMap((each) => {
    const why = refusal(each);
    return why === null ? [] : [`${each.place}: ${why}`];
  });
  assert.deepEqual(faults, []);
});

Deno.test("every command at the end of a message is accepted by the program", async () => {
  const texts = (await collectMessages()).flatMap(({ text, next }) => next === null ? [text] : [text, next]);
  const endings = new Set(texts.flatMap((text) => /: flemma ([a-z][^:]*)$/.exec(text)?.[1] ?? []));
  const advised = [...endings].map((text) =>
    // What is put in stands for a file or a name; of a choice the first branch is as good as any.
    text.replace(/\[([^\]|]*)\|[^\]]*\]/g, "$1").replace(/\{[^}]*\}/g, "a.chat").replace(/\.+$/, "")
  );
  assert.ok(advised.length > 40, `hardly any were found: ${advised.length}`);
  const faults = advised.flatMap((text) => refusal({ words: wordsOf(text), inText: false }) ?? []);
  assert.deepEqual(faults, []);
});

Deno.test("the check of commands finds an unknown command and an option of another command", () => {
  assert.deepEqual(wordsOf(`flemma new "a b.chat" -m 'x | y' | cat`), [
    "flemma",
    "new",
    "a b.chat",
    "-m",
    "x | y",
  ]);
  for (
    const [line, wrong] of [["approv a.chat", true], ["approve a.chat --keep 1", true], [
      "approve a.chat",
      false,
    ]] as const
  ) {
    assert.equal(refusal({ words: line.split(" "), inText: false }) !== null, wrong, line);
  }
});
