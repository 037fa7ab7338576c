import assert from "node:assert/strict";
import { testWithScene as test } from "./harness.ts";

test("tools list shows where each tool comes from, whether it is offered, who decides about it, and a preview", async (place) => {
  const { stdout } = await place.exits(0, ["tools", "list"]);
  assert.match(stdout, /^bash +built-in +offered +runs \(the sandbox\) +bash: \$ COMMAND {2}# LABEL$/m);
  const notOffered =
    /^calculator_async +built-in +not offered +runs \(the sandbox\) +calculator_async: EXPRESSION$/m;
  assert.match(stdout, notOffered);
  assert.match(stdout, /^write +built-in +offered +runs \(your settings\) +write: PATH/m);
  const names = stdout.trimEnd().split("\n").map((line) => line.split(" ")[0]);
  assert.deepEqual(names, [...names].sort());
  place.settings("sandbox: { enabled: false }\n");
  const bare = await place.exits(0, ["tools", "list"]);
  assert.match(bare.stdout, /^ls +built-in +offered +asks \(no rule matches\) +ls: PATH {2}# LABEL$/m);
});

test("tools list applies the document's list of tools, its approval lists, and rules that depend on the input", async (place) => {
  const block = '{"flemma": {"tools": ["calculator_async", "bash"], "tools.auto_approve": ["ls"]}}';
  place.write("a.chat", `\`\`\`json\n${block}\n\`\`\`\n\n@You:\nhello\n`);
  const json = async (...words: string[]) =>
    JSON.parse((await place.run(["tools", ...words, "--json"])).stdout);
  const rows: Record<string, unknown>[] = await json("list", "a.chat", "--approve", "bash(git log **)");
  const row = (name: string) => rows.find((each) => each.name === name);
  assert.deepEqual(rows.filter(({ offered }) => offered).map(({ name }) => name), [
    "bash",
    "calculator_async",
  ]);
  assert.equal(row("ls")?.decision, "approve");
  assert.equal(row("ls")?.decided_by, "urn:flemma:approval:frontmatter");
  assert.equal(row("bash")?.by_input, true);
  assert.equal(row("read")?.by_input, false);
});

test("tools show prints description, input, settings and the names of withheld environment variables, but not their values", async (place) => {
  const env = { ANTHROPIC_API_KEY: "sk-secret-value" };
  const shown = await place.exits(0, ["tools", "show", "bash"], { env });
  const cases = [
    /^bash\n\nRuns a command in a new shell/,
    /tools\.bash\.max_timeout {2}600/,
    /withheld .*ANTHROPIC_API_KEY/,
  ];
  for (const part of cases) {
    assert.match(shown.stdout, part);
  }
  assert.match(shown.stdout, /^input schema\n\{\n {2}"type": "object"/m);
  assert.ok(!shown.stdout.includes("sk-secret-value"));
  const whole = JSON.parse((await place.run(["tools", "show", "grep", "--json"], { env })).stdout);
  assert.deepEqual(Object.keys(whole.input_schema.properties), [
    "label",
    "pattern",
    "path",
    "glob",
    "limit",
  ]);
  assert.equal(whole.strict, true);
  assert.deepEqual(whole.settings.exclude.slice(0, 2), [".git", "node_modules"]);
  assert.equal(whole.withheld, null);
});

test("tools list reports an error in the frontmatter in addition to the tools", async (place) => {
  place.write("a.chat", '```json\n{"flemma": {"tools": ["grpe"]}}\n```\n\n@You:\nhello\n');
  const { stdout, stderr } = await place.exits(0, ["tools", "list", "a.chat"]);
  assert.match(stdout, /^grep /m);
  assert.match(stderr, /a\.chat:2:1: error config_unknown_tool .*grep/);
});

test("an unknown tool or document is reported with similar names", async (place) => {
  const unknown = await place.exits(2, ["tools", "show", "grpe"]);
  assert.match(unknown.stderr, /There is no tool named grpe\.\n {2}Did you mean grep\?/);
  assert.match((await place.run(["tools", "show", "zzzzzzz"])).stderr, /flemma tools list/);
  await place.exits(2, ["tools", "show"]);
  assert.match((await place.exits(0, ["tools"])).stdout, /^grep /m);
  const missing = await place.exits(1, ["tools", "list", "none.chat"]);
  assert.match(missing.stderr, /There is no file none\.chat/);
});

/** Facts of tools from each kind of source, in the order file, target, risk, category. */
const STATED: readonly (readonly [string, string | null, string | null, string | null, string | null])[] = [
  ["bash", null, "sandbox", null, null],
  ["calculator", null, "program", null, null],
  ["stated", "config/flemma/tools/stated.json", "sandbox", "high", "notes"],
  ["silent", "config/flemma/tools/silent.json", "sandbox", null, null],
  ["odd", "config/flemma/tools/odd.json", "sandbox", null, null],
  ["host_clock", "config/flemma/tools/host_clock.json", "host", "low", null],
  ["broken", "config/flemma/tools/broken.json", null, null, null],
  ["of_module", "tools.js", "program", null, "clocks"],
];

test("tools show says where a tool comes from and runs, and the risk and category that its author states: one row per source", async (place) => {
  const folder = `${place.folder}/config/flemma/tools`;
  Deno.mkdirSync(folder, { recursive: true });
  const files: Record<string, object> = {
    stated: { defaultRiskLevel: "high", category: "notes" },
    silent: {},
    odd: { defaultRiskLevel: "dire", category: 3 },
    host_clock: { defaultRiskLevel: "low" },
    broken: { input_schema: 4, defaultRiskLevel: "low" },
  };
  for (const [name, members] of Object.entries(files)) {
    Deno.writeTextFileSync(`${folder}/${name}.json`, JSON.stringify(members));
  }
  place.write(
    "tools.js",
    `export const definitions = [{
      name: "of_module", category: "clocks", file: "/lie", fault: "a lie", input_schema: { type: "object" },
      execute: () => ({ success: true }),
    }];`,
  );
  place.settings(`tools: { modules: [${JSON.stringify(place.path("tools.js"))}] }\n`);
  for (const [name, file, target, risk, category] of STATED) {
    const { stdout } = await place.exits(0, ["tools", "show", name, "--json"]);
    const shown = JSON.parse(stdout);
    const expected = file === null
      ? null
      : file === "tools.js"
      ? place.path(file)
      : `${place.folder}/${file}`;
    assert.deepEqual(
      [shown.file, shown.target, shown.risk, shown.category],
      [expected, target, risk, category],
      name,
    );
    assert.equal(shown.fault !== null, name === "broken", name);
  }
  const text = async (name: string) => (await place.run(["tools", "show", name])).stdout;
  assert.match(
    await text("silent"),
    /^ {2}file +\/.*\/silent\.json$[^]*^ {2}target +the sandbox$[^]*^ {2}risk +not stated \(treated as medium\)$[^]*^ {2}category +not stated$/m,
  );
  assert.match(await text("host_clock"), /^ {2}target +outside the sandbox/m);
  assert.match(await text("bash"), /^ {2}risk +not stated$/m);
  assert.match(await text("broken"), /^ {2}fault +.*input_schema is not an object/m);
});

test("tools list and show name the tools that the provider runs, who runs them, and why one is not offered", async (place) => {
  place.settings(
    "server_tools:\n  web_search: { max_uses: 3, blocked_domains: [spam.example] }\n  web_fetch: true\n",
  );
  for (const provider of ["anthropic", "openai"]) {
    place.write(
      `${provider}.chat`,
      `\`\`\`yaml\nflemma: { provider: ${provider} }\n\`\`\`\n\n@You:\nhello\n`,
    );
  }
  const list = async (...words: string[]) => (await place.exits(0, ["tools", "list", ...words])).stdout;
  const anthropic = await list("anthropic.chat");
  assert.match(
    anthropic,
    /^web_search +provider anthropic \([^)]+\) +offered +runs \(server_tools\) +up to 3 uses a request; not spam\.example$/m,
  );
  assert.match(anthropic, /^web_fetch .* +offered .*up to 5 uses a request$/m);
  const names = anthropic.trimEnd().split("\n").map((line) => line.split(" ")[0]);
  assert.deepEqual(names, [...names].sort());
  const openai = await list("openai.chat");
  assert.match(openai, /^web_search +provider openai .* +not offered .*cannot block domains/m);
  assert.match(openai, /^web_fetch .* +not offered .*OpenAI has no such tool that flemma can use\.$/m);

  const shown = await place.exits(0, ["tools", "show", "web_fetch", "openai.chat"]);
  assert.match(shown.stdout, /source +provider openai\n +fault +OpenAI has no such tool/);
  assert.match(shown.stdout, /target +the provider at /);
  assert.match(shown.stdout, /offered +no\n/);
  assert.doesNotMatch(shown.stdout, /input schema/);
  const json = JSON.parse((await place.run(["tools", "show", "web_search", "--json"])).stdout);
  assert.deepEqual([json.source, json.target, json.offered, json.decided_by], [
    "provider",
    "provider",
    true,
    "server_tools",
  ]);

  place.settings("server_tools: { web_search: false }\n");
  assert.doesNotMatch(await list(), /web_/);
});
