import assert from "node:assert/strict";
import { documentSettings } from "../../config/frontmatter.ts";
import { loadSettingsLayers } from "../../config/load.ts";
import { parse } from "../../parser/mod.ts";
import { luaRunner } from "../lua/lua.ts";
import { REFUSED, WORKS } from "./restricting_blocks.ts";

async function evaluate(text: string) {
  const environment = { cwd: "/", home: "/", variables: {} };
  const overrides = { tools: { auto_approve: ["bash"] } };
  const loaded = await loadSettingsLayers({ environment, noConfig: true, overrides });
  assert.ok(loaded.ok);
  const { frontmatter, preamble } = parse(new TextEncoder().encode(text));
  const runLua = await luaRunner();
  return await documentSettings({ loaded: loaded.value, frontmatter, preamble, runLua });
}

/** The errors as `check` prints them. */
async function errors(block: string, spelt = (text: string) => text): Promise<string[]> {
  const { diagnostics } = await evaluate(spelt(`${block}\n@You:\nHi\n`));
  return diagnostics.filter(({ severity }) => severity === "error")
    .map(({ message, line, start }) => `:${line ?? start}:1: ${message}`);
}

async function warnings(block: string): Promise<string[]> {
  const { diagnostics } = await evaluate(`${block}\n@You:\nHi\n`);
  assert.deepEqual(diagnostics.filter(({ severity }) => severity === "error"), []);
  return diagnostics.map(({ code }) => code);
}

Deno.test("frontmatter that restricts is accepted, in every language and spelling", async () => {
  for (const [spelling, block] of WORKS) assert.deepEqual(await errors(block), [], spelling);
});

Deno.test("if frontmatter is meant to restrict but sets nothing, there is exactly one error, with the line and the right spelling", async () => {
  for (const [spelling, block, reported] of REFUSED) {
    const found = await errors(block);
    assert.equal(found.length, 1, `${spelling}: ${JSON.stringify(found)}`);
    assert.match(found[0]!, reported, spelling);
  }
});

Deno.test("in a document with CR LF or a byte order mark, a restriction without effect causes the same error as in any other", async () => {
  for (const [spelling, block, reported] of REFUSED) {
    for (
      const spelt of [(text: string) => text.replaceAll("\n", "\r\n"), (text: string) => `\ufeff${text}`]
    ) {
      const found = await errors(block, spelt);
      assert.equal(found.length, 1, `${spelling}: ${JSON.stringify(found)}`);
      assert.match(found[0]!, reported, spelling);
    }
  }
});

Deno.test("frontmatter that is never closed is an error if it contains settings", async () => {
  assert.match(
    (await errors("```yaml\nflemma:\n  tools: []\n"))[0] ?? "",
    /"flemma" in line 2 .*no closing line ```/,
  );
  assert.deepEqual(await warnings("```lua\nx = 1\n"), ["frontmatter_misplaced"]);
  for (const closing of ["  ```", "\t```"]) {
    assert.match(
      (await errors(`\`\`\`yaml\nflemma:\n  tools: []\n${closing}\n`))[0] ?? "",
      /"flemma" in line 2 has no effect: write only ``` in line 4, without indentation\.$/,
      closing,
    );
  }
});

Deno.test("a block that is not frontmatter and contains no settings causes at most a warning, and the document still runs", async () => {
  const reported = ["frontmatter_misplaced"];
  const rows: readonly (readonly [string, string, readonly string[]])[] = [
    ["variables after an info string", "```lua foo\nx = 1\n```\n", reported],
    ["variables in four backticks", "````lua\nx = 1\n````\n", reported],
    ["variables below a heading", "# Plan\n```yaml\nwho: QA\n```\n", reported],
    ["front matter of notes", "---\ntitle: Plan\n---\n", reported],
    [
      "a second block of any content",
      "```yaml\na: 1\n```\n```yaml\nflemma: { tools: [] }\n```\n",
      reported,
    ],
    ["code of another language", "Build it:\n```sh\nmake tools\n```\n", []],
    ["prose", "Tools: a hammer.\nThe model: none. Network is off.\n", []],
    ["prose after a line", "Plan\n---\ntools and sandbox\n", []],
    ["a list of words", "- tools: hammer\n", []],
  ];
  for (const [what, block, codes] of rows) assert.deepEqual(await warnings(block), codes, what);
});

Deno.test("a line above frontmatter is an error even if the frontmatter has no settings, because its variables would be lost", async () => {
  assert.match((await errors("\n```lua\nx = 1\n```\n"))[0] ?? "", /^:2:1: This block has no effect/);
  assert.deepEqual(await warnings("\n```sh\nx = 1\n```\n"), []);
});

Deno.test("frontmatter variables that only resemble settings remain variables", async () => {
  const data = {
    model_name: "x",
    tool: 1,
    limit: 2,
    networks: [],
    timeouts: 3,
    config: { color: "red" },
    path: "p",
  };
  assert.deepEqual(await errors(`\`\`\`json\n${JSON.stringify(data)}\n\`\`\`\n`), []);
  const lua =
    "model_name = 1\ntool = 2\nlocal tools = flemma.opt.tools\nlocal sandbox = true\nopts = { color = 1 }";
  assert.deepEqual(await errors(`\`\`\`lua\n${lua}\nreturn flemma.opt\n\`\`\`\n`), []);
});

Deno.test("in Lua, reading an unknown field of flemma gives nil, but is an error if the field has the name of a setting", async () => {
  assert.deepEqual(await errors("```lua\nif flemma.version then error('x') end\n```\n"), []);
  assert.match(
    (await errors("```lua\nlocal s = flemma.sandbox\n```\n"))[0] ?? "",
    /write flemma\.opt\.sandbox/,
  );
  assert.match((await errors("```lua\nflemma.x = 1\n```\n"))[0] ?? "", /"flemma" has no member "x"/);
  assert.match((await errors("```lua\nflemma[1] = 1\n```\n"))[0] ?? "", /"flemma" has no member/);
});

Deno.test("a key without a value below the key flemma is an error if it needs a list or could restrict, and is otherwise ignored", async () => {
  for (
    const key of [
      "tools",
      "tools.auto_approve",
      "sandbox.policy.rw_paths",
      "sandbox.policy.network",
      "sandbox.enabled",
    ]
  ) {
    for (
      const block of [
        `\`\`\`yaml\nflemma:\n  ${key}:\n\`\`\`\n`,
        `\`\`\`json\n{"flemma": {"${key}": null}}\n\`\`\`\n`,
      ]
    ) {
      assert.match((await errors(block))[0] ?? "", /has no value here/, block);
    }
  }
  assert.deepEqual(await errors("```yaml\nflemma:\n  model:\n  temperature:\n  sandbox:\n```\n"), []);
});
