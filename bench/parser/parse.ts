// The parser compared with reading, decoding and splitting the same file, and with Markdown parsers.
//
// A full parse is `parse` with the whole syntax tree. One update is `update`, the whole tree, all diagnostics, and the
// message at the edit with its lines, calls and results: what an editor needs after a key press. No text is decoded for
// it, because the editor has the text.

import { type Tree, TreeFragment } from "@lezer/common";
import { parser as markdown } from "@lezer/markdown";
import MarkdownIt from "markdown-it";
import { micromark } from "micromark";
import { type Chat, type Edit, parse, update } from "../../parser/mod.ts";
import { conversation, oneFence, onePage } from "../conversation.ts";
import { type Bench, type Figure, interleaved, median } from "../harness.ts";
import { compare, type Costs, type Pair } from "../pairs.ts";
import "../../parser/tree/trees.ts";

const SIZES: readonly (readonly [string, number])[] = [["50 KB", 50e3], ["1 MB", 1e6], ["10 MB", 10e6]];
const TEN = "10 MB";
const ROUNDS = { full: 15, others: 5, edits: 101, large: 15, cold: 7 };

const bench: Bench = {
  name: "parse",
  about:
    "medians; a full parse includes the tree, an update also the diagnostics and the message at the cursor",
  async run(brief = false): Promise<readonly Figure[]> {
    const folder = await Deno.makeTempDir({ prefix: "flemma-bench-" });
    try {
      const figures: Figure[] = [];
      for (const [size, bytes] of brief ? SIZES.slice(0, 1) : SIZES) {
        const path = `${folder}/${bytes}.chat`;
        await Deno.writeFile(path, conversation(bytes));
        figures.push(...await full(size, path), ...await edits(size, conversation(bytes)));
        figures.push(...await separately(size, path));
      }
      return brief ? figures : [...figures, ...await longOnes(), ...goals(figures)];
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
  async against(other): Promise<readonly Figure[]> {
    const cases: Record<string, Pair> = {};
    for (const [size, bytes] of SIZES) {
      for (const [name, rounds] of Object.entries(ONCE)) {
        const count = Math.max(5, Math.round(rounds * 50e3 / bytes));
        cases[`${name}, ${size}`] = {
          ours: () => once(new URL("../..", import.meta.url).pathname, [name, `${bytes}`, `${count}`]),
          theirs: () => once(`${other}/`, [name, `${bytes}`, `${count}`]),
        };
      }
    }
    return await compare(cases);
  },
};

export default bench;

/** Cases for comparing with another checkout, and their repetitions at 50 KB. */
const ONCE = {
  "full parse": 200,
  "full parse with all diagnostics": 200,
  "one character in the middle": 10_000,
};

/** Measures one case with the parser of a checkout, in a separate process. */
async function once(checkout: string, args: readonly string[]): Promise<Costs> {
  const { success, stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--quiet",
      `${import.meta.dirname}/once.ts`,
      `${checkout}parser/library.ts`,
      ...args,
    ],
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).output();
  if (!success) throw new Error(`failed: ${args.join(", ")} with the parser of ${checkout}`);
  return JSON.parse(new TextDecoder().decode(stdout));
}

/** Full parses, and the cost of other parsers for the same bytes. */
async function full(size: string, path: string): Promise<Figure[]> {
  const bytes = await Deno.readFile(path);
  const text = new TextDecoder().decode(bytes);
  const markdownIt = new MarkdownIt();
  const own = await interleaved({
    [`read and decode, ${size}`]: () => Deno.readTextFile(path),
    [`decode alone, ${size}`]: () => new TextDecoder().decode(bytes),
    [`split into lines, ${size}`]: () => text.split("\n"),
    [`full parse, ${size}`]: () => parse(bytes).tree,
    [`full parse with all diagnostics, ${size}`]: () => {
      const chat = parse(bytes);
      return [chat.tree, chat.diagnostics];
    },
    [`full parse with the whole typed view, ${size}`]: () => {
      const chat = parse(bytes);
      return [chat.tree, chat.diagnostics, chat.turns.map((turn) => turn.segments)];
    },
  }, ROUNDS.full);
  const others = await interleaved({
    [`@lezer/markdown, ${size}`]: () => markdown.parse(text),
    [`markdown-it, ${size}`]: () => markdownIt.parse(text, {}),
    // Ten times more would take ten seconds per round.
    ...(size === TEN ? {} : { [`micromark, ${size}`]: () => micromark(text) }),
  }, ROUNDS.others);
  return [
    ...rows(own, `read and decode, ${size}`, size === TEN ? { [`full parse, ${size}`]: { goal: 1 } } : {}),
    ...rows(
      others,
      `full parse, ${size}`,
      size === "1 MB" ? { [`@lezer/markdown, ${size}`]: { goal: 8, atLeast: true } } : {},
    ),
  ];
}

async function edits(size: string, bytes: Uint8Array): Promise<Figure[]> {
  const middle = proseLine(bytes, bytes.length >> 1);
  const text = new TextDecoder().decode(bytes);
  const quick = await interleaved({
    [`one character at the start, ${size}`]: typing(bytes, proseLine(bytes, 60), "x"),
    [`one character in the middle, ${size}`]: typing(bytes, middle, "x"),
    [`one character at the end, ${size}`]: typing(bytes, bytes.length, "x"),
    [`one character at both ends, ${size}`]: typing(bytes, proseLine(bytes, 60), "x", bytes.length),
    [`append 200 bytes, ${size}`]: appending(bytes),
    [`open and close a fence in the middle, ${size}`]: typing(bytes, middle, "\n```\nx\n```\n"),
    [`append 200 bytes and list all messages, calls and results, ${size}`]: appending(bytes, listAll),
  }, ROUNDS.edits);
  const slow = await interleaved({
    [`open an unclosed fence, ${size}`]: typing(bytes, middle, "\n``````\n"),
    [`one character in the middle, @lezer/markdown, ${size}`]: typingMarkdown(text),
  }, ROUNDS.large);
  return rows({ ...quick, ...slow }, undefined, {
    [`one character in the middle, ${TEN}`]: { goal: 0.4 },
    [`append 200 bytes, ${TEN}`]: { goal: 0.2 },
  });
}

/** Updates inside one message and one fence of 10 MB. */
async function longOnes(): Promise<Figure[]> {
  const page = onePage(10e6);
  const question = onePage(10e6, "You");
  const fence = oneFence(10e6);
  const times = await interleaved({
    "inside one reply of 10 MB of prose": typing(page, proseLine(page, page.length >> 1), "x"),
    "inside one question of 10 MB of prose": typing(question, proseLine(question, question.length >> 1), "x"),
    "inside a fence of 10 MB": typing(fence, proseLine(fence, fence.length >> 1), "x"),
  }, ROUNDS.edits);
  return Object.entries(times).map(([name, value]) => ({ case: name, value, unit: "ms", goal: 2 }));
}

/** A first parse in a separate process, and the memory that remains. */
async function separately(size: string, path: string): Promise<Figure[]> {
  const runs: { cold: number; kept: number; bytes: number }[] = [];
  for (let round = 0; round < ROUNDS.cold; round++) {
    const { success, stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--quiet", "--v8-flags=--expose-gc", `${import.meta.dirname}/cold.ts`, path],
      stdin: "null",
      stdout: "piped",
      stderr: "inherit",
    }).output();
    if (!success) throw new Error(`the first parse of ${path} failed`);
    runs.push(JSON.parse(new TextDecoder().decode(stdout)));
  }
  const kept = median(runs.map((run) => run.kept / run.bytes));
  return [
    { case: `cold first parse, ${size}`, value: median(runs.map((run) => run.cold)), unit: "ms" },
    {
      case: `memory of tree and index, ${size}`,
      value: kept,
      unit: "× the bytes",
      ...(size === "50 KB" ? {} : { goal: 1.5 }),
    },
  ];
}

/** Goals that compare figures of different sizes. */
function goals(figures: readonly Figure[]): Figure[] {
  const value = figures.find((figure) => figure.case === `one character in the middle, ${TEN}`)!.value;
  return [{
    case: `… the same against 1 MB`,
    value,
    unit: "ms",
    against: "one character in the middle, 1 MB",
    goal: 3,
  }];
}

function rows(
  times: Readonly<Record<string, number>>,
  against: string | undefined,
  goals: Readonly<Record<string, Partial<Figure>>>,
): Figure[] {
  return Object.entries(times).map(([name, value]) => ({
    case: name,
    value,
    unit: "ms",
    ...(against === undefined || name === against ? {} : { against }),
    ...goals[name],
  }));
}

/** The end of a line of prose at or after an offset, where a person might type. */
function proseLine(bytes: Uint8Array, from: number): number {
  for (let at = from;;) {
    const feed = bytes.indexOf(10, at);
    const next = bytes.indexOf(10, feed + 1);
    if (next - feed > 40) return next;
    at = next;
  }
}

/** Alternately inserts and removes a text, at one or two places. */
function typing(bytes: Uint8Array, at: number, text: string, also?: number): () => unknown {
  const length = text.length;
  let chat = parse(bytes);
  look(chat, at);
  let typed = false;
  return () => {
    const places = also === undefined ? [at] : [at, typed ? also + length : also];
    const edits: Edit[] = places.map((from) =>
      typed ? { from, to: from + length, insert: "" } : { from, to: from, insert: text }
    );
    typed = !typed;
    chat = update(chat, edits);
    return look(chat, at);
  };
}

/** Appends to the end, as a streamed reply does. */
function appending(bytes: Uint8Array, also: (chat: Chat, at: number) => unknown = look): () => unknown {
  const text = "and so on, word after word, until there are two hundred bytes.\n".repeat(4).slice(0, 200);
  let chat = parse(bytes);
  look(chat, 0);
  return () => {
    chat = update(chat, [{ from: chat.byteLength, to: chat.byteLength, insert: text }]);
    return [look(chat, chat.byteLength), also(chat, chat.byteLength)];
  };
}

/** What the cycle reads after a commit. */
function listAll(chat: Chat): unknown {
  return [chat.turns, chat.calls, chat.results];
}

/** What an editor reads after an edit. */
function look(chat: Chat, at: number): unknown {
  const turn = chat.turnAt(at);
  return [chat.tree, chat.diagnostics, turn?.place, turn?.calls, turn?.results];
}

/** Types and removes text with Lezer's Markdown parser and its own incremental parsing. */
function typingMarkdown(text: string): () => unknown {
  const at = text.length >> 1;
  const long = `${text.slice(0, at)}x${text.slice(at)}`;
  let tree: Tree = markdown.parse(text);
  let fragments = TreeFragment.addTree(tree);
  let typed = false;
  return () => {
    const change = typed
      ? { fromA: at, toA: at + 1, fromB: at, toB: at }
      : { fromA: at, toA: at, fromB: at, toB: at + 1 };
    typed = !typed;
    tree = markdown.parse(typed ? long : text, TreeFragment.applyChanges(fragments, [change]));
    fragments = TreeFragment.addTree(tree, fragments);
    return tree;
  };
}
