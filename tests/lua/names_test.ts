import assert from "node:assert/strict";
import { DEFAULT_LIMITS } from "../../lua/vm/budget.ts";
import { runLua } from "./lua.ts";
import { Templates } from "../../prompt/template/run.ts";
import { luaSession } from "../../prompt/template/document_lua.ts";
import { parse } from "../../parser/mod.ts";
import { processEnvironment } from "../../base/environment.ts";

Deno.test("a variable name may contain letters of any language, wherever Lua accepts a name", async () => {
  const rows: readonly (readonly [string, string])[] = [
    ["a global", "größe = 5"],
    ["a local", "local größe = 5; out = größe"],
    ["a member that is read", 'local t = { ["größe"] = 5 }; out = t.größe'],
    ["a member that is written", "local t = {}; t.größe = 5; out = t['größe']"],
    ["a member of a table constructor", "local t = { größe = 5 }; out = t['größe']"],
    ["a function and its argument", "local function verdopple(größe) return größe end; out = verdopple(5)"],
    ["a method", "local t = { zähle = function(self) return 5 end }; out = t:zähle()"],
    ["a label", "goto schluß; error('not skipped'); ::schluß:: out = 5"],
    ["a loop", "for größe = 5, 5 do out = größe end"],
    ["a name of only non-ASCII letters", "名前 = 5"],
    ["a name that begins with a letter beyond the first plane", "𝑥 = 5"],
    ["a name that a digit and a low line follow", "ä1_ = 5"],
  ];
  for (const [what, code] of rows) {
    const { variables, problems } = await runLua(code);
    assert.deepEqual(problems, [], what);
    assert.deepEqual(Object.values(variables ?? {}).filter((value) => typeof value === "number"), [5], what);
  }
});

Deno.test("a number directly before a letter of any language is invalid, as it is before an ASCII letter", async () => {
  for (const code of ["x = 5ä", "x = 5a"]) {
    assert.deepEqual((await runLua(code)).codes, ["frontmatter_lua_syntax"], code);
  }
});

Deno.test("for a misspelled name with non-ASCII letters, the error contains the whole name and the nearest known one", async () => {
  const { problems } = await runLua("größe = 5\nx = grösse");
  assert.equal(problems[0]?.message, 'the variable "grösse" is not defined');
});

Deno.test("templates can use a variable with non-ASCII letters, also one from JSON or YAML", async () => {
  assert.deepEqual(await sent("{{ größe }} {{ maße.höhe }}", { größe: 5, maße: { höhe: 7 } }), [
    "5",
    " ",
    "7",
  ]);
});

Deno.test("the limit on code size applies to the code in all tags together, not to the text around the tags", async () => {
  const long = "x".repeat(300 * 1024);
  assert.equal((await sent(`${long}{{ 1 + 1 }}`, {})).at(-1), "2", "one tag in much text");
  assert.equal((await sent("{{ 1 }} ".repeat(6_000), {})).length, 12_000, "many small tags");
  assert.match((await fault(`{{ [==[${long}]==] }}`)) ?? "", /longer than 256 KiB/, "one tag of much code");
  assert.match((await fault("{{1}}".repeat(40_000))) ?? "", /longer than 256 KiB/, "tags without end");
});

async function run(text: string, variables: Readonly<Record<string, unknown>>) {
  const session = luaSession({
    document: null,
    environment: processEnvironment(),
    limits: { ...DEFAULT_LIMITS, seconds: 60 },
    print: () => {},
    isReadable: () => true,
  });
  const templates = await Templates.start(session, variables);
  const chat = parse(new TextEncoder().encode(`@You:\n${text}\n`));
  return { turn: chat.turns[0]!, ...templates.run(chat.turns[0]!, chat) };
}

/** The texts that are put out. */
async function sent(text: string, variables: Readonly<Record<string, unknown>>): Promise<string[]> {
  const { turn, pieces, diagnostics } = await run(text, variables);
  assert.deepEqual(diagnostics, []);
  return pieces.map((piece) => {
    if (piece.kind === "text") return piece.text;
    const segment = piece.kind === "segment" ? turn.segments[piece.index] : undefined;
    return segment?.kind === "text" ? segment.value : "";
  });
}

async function fault(text: string): Promise<string | undefined> {
  return (await run(text, {})).diagnostics[0]?.message;
}
