// JSON output and event streams of the commands match, member by member, the JSON Schemas in the packages.

import assert from "node:assert/strict";
import { Ajv2020 } from "ajv/dist/2020.js";
import { COMMANDS } from "../../commands/line/table.ts";
import { outputSchema } from "../../scripts/generate/schemas.ts";
import { REPORTS } from "../../scripts/generate/schemas/reports.ts";
import { callsDocument, type Scene, testWithScene as test } from "./harness.ts";
import { startReplay } from "../../providers/replay/server.ts";

type Schema = { [name: string]: unknown };

const schema: Schema = outputSchema();

/** The schema without room for members that it does not name: what is printed and not described is a fault here. */
function strict(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strict);
  if (typeof value !== "object" || value === null) return value;
  const inner = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, strict(part)]));
  return inner.type === "object" && inner.additionalProperties === undefined
    ? { ...inner, additionalProperties: false }
    : inner;
}

const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
ajv.addSchema({ ...strict(schema) as Schema, $id: "output" });

/** What is wrong with a value by the schema of a command; none where nothing is. */
function faults(name: string, value: unknown): string[] {
  const validate = ajv.getSchema(`output#/$defs/${encodeURIComponent(name)}`);
  assert.ok(validate !== undefined, `there is no schema for ${name}`);
  if (validate(value)) return [];
  return [
    ...new Set(
      validate.errors!.map((error) =>
        `${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`
      ),
    ),
  ];
}

Deno.test("every command that prints JSON and every event stream has a schema", () => {
  const streams = ["advance", "approve", "reject", "execute", "send", "watch"];
  const missing = COMMANDS.filter(({ options }) => options.some(({ name }) => name === "json"))
    .map(({ name }) => name)
    .filter((name) =>
      !streams.includes(name) &&
      !Object.keys(REPORTS).some((key) => key === name || key.startsWith(`${name} `))
    );
  assert.deepEqual(missing, []);
});

const RICH = `\`\`\`yaml
flemma: { model: claude-sonnet-4-5 }
name: Ada
\`\`\`
@System:
Hello {{ name }} {%- local x = 1 -%} and more.

@You:
Look.

@Assistant:
<thinking anthropic:signature="abc">
I think.
</thinking>

I look.

**Tool Use:** \`bash\` (\`done_1\`)

\`\`\`json
{ "command": "ls" }
\`\`\`

**Tool Use:** \`bash\` (\`wait_1\`)

\`\`\`json
{ "command": "rm -r x" }
\`\`\`

@You:

**Tool Result:** \`done_1\` (error)

\`\`\`
none
\`\`\`

**Tool Result:** \`wait_1\`

\`\`\`flemma:tool status=pending
\`\`\`

@Wrong:
x
`;

/**
 * What is run for each report; what one leaves is there for the next. What cancels a run needs one, and an estimate a provider
 * that counts: their schemas are only read off the types.
 */
const RUNS: readonly (readonly [string, readonly string[]])[] = [
  ["parse", ["parse", "rich.chat", "--json"]],
  ["check", ["check", "rich.chat", "calls.chat", "--json"]],
  ["status", ["status", "calls.chat", "--json"]],
  ["status --pending", ["status", "--pending", "calls.chat", "--json"]],
  ["approval explain", ["approval", "explain", "calls.chat", "--json"]],
  ["approval show", ["approval", "show", "calls.chat", "--json"]],
  ["approval test", ["approval", "test", "--json", "ls | wc"]],
  ["auth show", ["auth", "show", "--json"]],
  ["ask", ["ask", "--json", "Is it written?"]],
  ["batch fetch", ["batch", "fetch", "--json"]],
  ["batch send", ["batch", "send", "long.chat", "--json"]],
  ["batch status", ["batch", "status", "--json"]],
  ["cancel --list", ["cancel", "--list", "--json"]],
  ["compact --dry-run", ["compact", "long.chat", "--dry-run", "--json"]],
  ["compact", ["compact", "long.chat", "--json"]],
  ["config show", ["config", "show", "calls.chat", "--json"]],
  ["config get", ["config", "get", "model", "--json"]],
  ["doctor", ["doctor", "--json"]],
  ["editor", ["editor", "--json"]],
  ["fork", ["fork", "talk.chat", "--json"]],
  ["git setup", ["git", "setup", "--json"]],
  ["import", ["import", "request.json", "--json"]],
  ["migrate --dry-run", ["migrate", "old.chat", "--dry-run", "--json"]],
  ["models list", ["models", "list", "--json"]],
  ["recover --list", ["recover", "--list", "--json"]],
  ["sandbox compare", ["sandbox", "compare", "--json", "--", "true"]],
  ["sandbox status", ["sandbox", "status", "--json"]],
  ["skills check", ["skills", "check", "SKILL.md", "--json"]],
  ["skills list", ["skills", "list", "--json"]],
  ["skills show", ["skills", "show", "sums", "--json"]],
  ["subagents clean", ["subagents", "clean", "--json"]],
  ["subagents list", ["subagents", "list", "--json"]],
  ["tools list", ["tools", "list", "--json"]],
  ["tools show", ["tools", "show", "bash", "--json"]],
  ["undo --list", ["undo", "talk.chat", "--list", "--json"]],
  ["replay run", ["replay", "run", "talk.chat", "--json"]],
  ["hooks list", ["hooks", "list", "--json"]],
  ["hooks test", ["hooks", "test", "calls.chat", "call_1", "--json"]],
  ["list", ["list", "--json"]],
  ["usage", ["usage", "--json"]],
  ["usage FILE", ["usage", "talk.chat", "--json"]],
  ["undo", ["undo", "talk.chat", "--json"]],
];

function plant(place: Scene): void {
  place.write("rich.chat", RICH);
  place.write(
    "calls.chat",
    callsDocument([{ id: "call_1", command: "ls", status: "pending" }, { id: "call_2", command: "true" }]),
  );
  place.write("old.chat", "@You: Hello\n");
  place.write(
    "long.chat",
    "@You:\nOne.\n\n@Assistant:\nOne.\n\n@You:\nTwo.\n\n@Assistant:\nTwo.\n\n@You:\nThree?\n",
  );
  place.write("request.json", '{ "model": "m", "messages": [{ "role": "user", "content": "Hello" }] }');
  place.write("SKILL.md", "---\nname: Sums\n---\nAdd.\n");
  const skill = `${place.folder}/home/.agents/skills/sums`;
  Deno.mkdirSync(skill, { recursive: true });
  Deno.writeTextFileSync(`${skill}/SKILL.md`, "---\nname: sums\ndescription: Adds numbers.\n---\nAdd.\n");
  place.write("talk.chat", "@You:\nWrite a.txt.\n");
}

test("each report of a real run matches its schema and has only fields that the schema defines", async (place) => {
  plant(place);
  assert.equal((await place.shell("git init --quiet")).code, 0);
  await using replay = await startReplay({
    replies: [
      { reply: [{ tool_use: { id: "call_1", name: "write", input: { path: "a.txt", content: "x\n" } } }] },
      { reply: [{ text: "Done." }] },
      { reply: [{ text: "Yes." }] },
      { reply: [{ text: "A person counts." }] },
    ],
  });
  const env = { FLEMMA_ANTHROPIC_BASE_URL: replay.url, ANTHROPIC_API_KEY: "replay" };
  const advanced = await place.run(["advance", "talk.chat", "--json", "--approve", "write"], { env });
  const events = advanced.stdout.trim().split("\n").map((line) => JSON.parse(line));
  assert.ok(events.length > 5, advanced.stdout + advanced.stderr);
  // Of several documents each event says which it is about.
  const many = await place.run(["advance", "talk.chat", "calls.chat", "--json"], { env });
  const ofMany = many.stdout.trim().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(new Set(ofMany.map(({ document }) => document)), new Set(["talk.chat", "calls.chat"]));
  const reported: string[] = [];
  for (const event of [...events, ...ofMany]) {
    for (const fault of faults("event", event)) reported.push(`${event.event}: ${fault}`);
  }
  for (const [name, words] of RUNS) {
    const { stdout, stderr } = await place.run(words, { env });
    if (stdout === "") reported.push(`${name}: nothing is printed: ${stderr}`);
    else for (const fault of faults(name, JSON.parse(stdout))) reported.push(`${name}: ${fault}`);
  }
  assert.equal(reported.join("\n"), "");
});
