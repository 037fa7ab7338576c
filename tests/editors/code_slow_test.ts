// From code to a conversation and back in real editors: asking about a selection, switching the model, copying a code
// block, showing and hiding the conversation.

import assert from "node:assert/strict";
import { type Runtime, RUNTIMES } from "./runtime.ts";
import { onStage, QUESTION, readOr, type Stage } from "./stage.ts";
import { missingPrograms } from "./terminal.ts";

const missing = await missingPrograms();
const CODE = Array.from({ length: 20 }, (_, at) => `line_${at + 1}();\n`).join("");
const FENCE = "```";
const REPLY = `Try:\n\n${FENCE}js\none();\ntwo();\n${FENCE}\n\nand that is it.`;

interface Keys {
  /** Opens a file in place of the document. */
  open(file: string): readonly string[];
  /** Selects lines 5 to 3, upward. */
  readonly select: readonly string[];
  readonly ask: readonly string[];
  /** Asks about the line at the cursor in a document. */
  askIn(name: string): readonly string[];
  readonly toggle: readonly string[];
  readonly yank: readonly string[];
  readonly paste: readonly string[];
  /** Begins to name a model, up to a list of what fits. */
  readonly nameModel: readonly string[];
  /** Takes the first one of the list. */
  readonly takeModel: readonly string[];
}

const VIM: Keys = {
  open: (file) => [`:write | edit ${file.replace(/[ %]/g, "\\$&")}`, "Enter"],
  select: ["5G", "V", "kk"],
  ask: [":Flemma ask", "Enter"],
  askIn: (name) => [`:Flemma ask ${name}`, "Enter"],
  toggle: [":Flemma toggle", "Enter"],
  yank: ["gy"],
  paste: ["P"],
  nameModel: [":Flemma model claude-op", "Tab"],
  takeModel: ["Enter"],
};

const KEYS: Readonly<Record<string, Keys>> = {
  "Vim": VIM,
  "Neovim": VIM,
  "Kakoune": {
    open: (file) => [`:write; edit '${file}'`, "Enter"],
    select: ["5g", "x", "KK"],
    ask: [":flemma-ask", "Enter"],
    askIn: (name) => [`:flemma-ask ${name}`, "Enter"],
    toggle: [":flemma-toggle", "Enter"],
    yank: [" ", "m", "y"],
    paste: ["P"],
    nameModel: [" ", "m", "o", "claude-op"],
    takeModel: ["Tab", "Enter"],
  },
};

for (const [name, more] of Object.entries(KEYS)) {
  const runtime = RUNTIMES[name]!;
  const { keys, complete } = runtime;
  const test = (
    what: string,
    replies: readonly string[],
    play: (stage: Stage, runtime: Runtime) => Promise<void>,
  ) =>
    Deno.test({
      name: `${name}: ${what}`,
      ignore: missing.includes(runtime.program),
      fn: () => onStage(runtime, replies.map((text) => [text]), (stage) => play(stage, runtime)),
    });
  const question = async ({ place, does }: Stage) => {
    Deno.mkdirSync(place.path("src"));
    place.write("src/a 50%.js", CODE);
    await does(more.open(place.path("src/a 50%.js")), "line_20");
  };

  test(
    "asking about selected lines appends a reference to the conversation used last, and the model gets these lines",
    ["Fine."],
    async (stage) => {
      const { session, server, does, sees, saved } = stage;
      await question(stage);
      await does(more.select);
      await does(more.ask, "@./src/a%2050%25.js#L3-5");
      await does(["What is this?", "Escape"], "What is this?");
      const text = await saved((text) => text.includes("What is this?"));
      assert.equal(text.trimEnd(), `${QUESTION}\n@./src/a%2050%25.js#L3-5\nWhat is this?`);
      await does(keys.advance);
      await sees(complete);
      const sent = JSON.stringify(server.requests[0]!.messages);
      assert.match(sent, /line_3\(\);.*line_5\(\);/);
      assert.doesNotMatch(sent, /line_2\(\)|line_6\(\)/);
      await session.until(async () => (await session.screen()).includes("Fine."), "the reply is shown");
    },
  );

  test("asking in a document that does not exist creates it", [], async (stage) => {
    const { place, session, does } = stage;
    await question(stage);
    await does(more.askIn(place.path("other")), "@./src/a%2050%25.js#L");
    await does(["Why?", "Escape"], "Why?");
    await session.type(keys.save);
    let text = "";
    await session.until(() => (text = readOr(place, "other.chat", "")).includes("Why?"), "it is saved");
    assert.match(
      text,
      /^@System:\n[^]*\n@You:\n@\.\/src\/a%2050%25\.js#L\d+\nWhy\?\n+$/,
    );
    assert.equal(place.read("q.chat"), QUESTION);
  });

  test("one command hides the conversation, and shows it again", [], async (stage) => {
    const { session, does, sees } = stage;
    await question(stage);
    await does(more.toggle, "How are you?");
    await does(more.toggle);
    await session.until(async () => !(await session.screen()).includes("How are you?"), "it is hidden");
    await sees("line_20");
  });

  test("one key copies the nearest code block of a reply", [REPLY], async ({ does, sees, saved }) => {
    await does(keys.advance);
    await sees(complete);
    await does([...keys.end, ...more.yank], "copied");
    await does([...keys.top, ...more.paste]);
    const text = await saved((text) => text.startsWith("one();"));
    assert.ok(text.startsWith(`one();\ntwo();\n${QUESTION}`), text);
  });

  test("a model is completed, and the next request goes to it", ["Fine."], async ({ server, does, sees }) => {
    await does(more.nameModel, "claude-opus-5-5");
    await does(more.takeModel, "model = claude-opus-");
    await does(keys.advance);
    await sees(complete);
    assert.match(String(server.requests[0]!.model), /^claude-opus-/);
  });
}
