// The page for the browser test: a document in CodeMirror, checked as a person would see it.

import { ensureSyntaxTree, foldable, forceParsing, syntaxTree } from "@codemirror/language";
import type { Tree } from "@lezer/common";
import { basicSetup, EditorView } from "codemirror";
import { chatLanguage, chatParser } from "../../../parser/lezer/mod.ts";
import { Random } from "../hostile.ts";
import { change, outline } from "./random.ts";

/** As much of a browser as is used here: all of its types would change those of the whole program. */
interface Browser {
  readonly document: {
    readonly body: never;
    createTreeWalker(root: unknown, show: number): { nextNode(): Shown | null };
  };
  getComputedStyle(element: unknown): { readonly color: string; readonly fontWeight: string };
}

interface Shown {
  readonly textContent: string | null;
  readonly parentElement: unknown;
}

const { document, getComputedStyle } = globalThis as unknown as Browser;
const TEXT_ALONE = 4;

/** Longest that the browser may take for a tree, in milliseconds. */
const PATIENCE = 20_000;

const TEXT = "```yaml\na: 1\n```\n@You:\n# Title\nHello 👍🏽\n\n@Assistant:\nI will.\n\n" +
  '**Tool Use:** `bash` (`c`)\n\n```json\n{ "command": "ls" }\n```\n';

function editor(doc: string): EditorView {
  return new EditorView({ doc, extensions: [basicSetup, chatLanguage], parent: document.body });
}

/** The tree of all of the text, which is the text as the editor has it. */
function treeOf(view: EditorView): Tree {
  const tree = ensureSyntaxTree(view.state, view.state.doc.length, PATIENCE);
  if (tree === null) throw new Error("no tree in time");
  return tree;
}

/** The colour in which the first occurrence of a word is shown. */
function colorOf(view: EditorView, word: string): string {
  const walker = document.createTreeWalker(view.contentDOM, TEXT_ALONE);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const { parentElement } = node;
    if (node.textContent?.includes(word) && parentElement !== null) {
      const { color, fontWeight } = getComputedStyle(parentElement);
      return `${color} ${fontWeight}`;
    }
  }
  throw new Error(`${word} is not shown`);
}

function looks() {
  const view = editor(TEXT);
  if (!forceParsing(view, TEXT.length, PATIENCE)) throw new Error("no tree in time");
  const { doc } = view.state;
  const folded = (line: number) => {
    const { from, to } = doc.line(line);
    const range = foldable(view.state, from, to);
    return range === null ? null : doc.sliceString(range.from, range.to);
  };
  const words = ["@You:", "Title", "Hello", '"ls"', "I will."];
  const colors = Object.fromEntries(words.map((word) => [word, colorOf(view, word)]));
  const folds = { block: folded(1), turn: folded(4), text: folded(6), call: folded(11) };
  view.destroy();
  return { colors, folds };
}

/** Pastes a document of 1 MB and types behind it. */
function pasted() {
  const view = editor("@You:\nx\n");
  const message = `@You:\n${"Some words of *ordinary* length.\n".repeat(40)}\n@Assistant:\n${
    "A reply.\n".repeat(40)
  }\n`;
  const insert = message.repeat(Math.ceil(2 ** 20 / message.length));
  const begin = performance.now();
  view.dispatch({ changes: { from: view.state.doc.length, insert } });
  const length = treeOf(view).length;
  const paste = performance.now() - begin;
  view.dispatch({ changes: { from: 20, insert: "y" } });
  const after = performance.now();
  const typed = treeOf(view).length;
  const key = performance.now() - after;
  view.destroy();
  return { expected: insert.length + 8, length, typed: typed - length, paste, key };
}

/** Edits at random places: how many ended in another tree than a parse from nothing. */
function edits(count: number) {
  const view = editor(TEXT);
  const random = new Random(2026);
  let different = 0;
  for (let each = 0; each < count; each++) {
    view.dispatch({ changes: change(view.state.doc.length, random) });
    const whole = outline(chatParser.parse(view.state.doc.toString()));
    if (outline(treeOf(view)) !== whole || syntaxTree(view.state).length !== view.state.doc.length) {
      different++;
    }
  }
  view.destroy();
  return { count, different };
}

let report: unknown;
try {
  report = { looks: looks(), pasted: pasted(), edits: edits(1000) };
} catch (error) {
  report = { error: error instanceof Error ? error.stack : String(error) };
}
await fetch("/report", { method: "POST", body: JSON.stringify(report) });
