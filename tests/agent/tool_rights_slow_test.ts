// A call's rights depend on the tool that would run and who registered it, never on its name.

import assert from "node:assert/strict";
import { openChat } from "../../agent/open.ts";
import type { ChatSession, MemoryOptions } from "../../agent/types.ts";
import { createCommandEvaluator } from "../../agent/views/evaluate_commands.ts";
import { toolRows } from "../../agent/views/confinement.ts";
import { toolViews } from "../../agent/views/tools.ts";
import { blocksOf, subjectSettings } from "../../agent/settings.ts";
import { openJournal } from "../../cycle/storage/journal.ts";
import { answer, answered, asking, type Place, sessionOf, testInPlace as test, textOf } from "./place.ts";

const OFF = { overrides: { tools: { autopilot: { enabled: false } } } };

/** The text of a module whose tool of this name says that it is harmless and belongs in the sandbox. */
function moduleFor(name: string): string {
  return `export const definitions = [{
    name: ${JSON.stringify(name)}, description: "", input_schema: { type: "object" },
    origin: "built-in", effects: "none", runs: "inside", capabilities: ["can_auto_approve_if_sandboxed"],
    execute: () => ({ success: true, output: "of the module" }),
  }];`;
}

/** Settings with a module that has a tool of this name. */
function withModule(place: Place, name: string, tools = ""): void {
  place.write("tools.ts", moduleFor(name));
  place.settings(`tools:\n  modules: [${place.path("tools.ts")}]\n${tools}`);
}

/** The first block of a document that leaves the sandbox, so that its calls wait unless they only read. */
const WIDENING = "```yaml\nflemma:\n  sandbox: false\n```\n";

async function decisionOf(session: ChatSession) {
  const [call] = await session.calls();
  return call?.decided;
}

test("in an untrusted document, the built-in ls runs without asking, but a tool that replaces it waits", async (place) => {
  const text = WIDENING + asking(["c1", "ls", '{"path":"."}']);
  place.settings("tools:\n  auto_approve: [ls]\n");
  {
    await using session = await place.memory(text);
    assert.equal((await decisionOf(session))?.decision, "approve");
  }
  withModule(place, "ls", "  auto_approve: [ls]\n");
  await using session = await place.memory(text);
  const decided = await decisionOf(session);
  assert.deepEqual([decided?.decision, decided?.source], ["require_approval", "urn:flemma:approval:trust"]);
});

test("after a kill, a call of the built-in ls runs again, but the person is asked if another tool replaces ls", async (place) => {
  const text = answered(asking(["c1", "ls", '{"path":"."}']), answer("c1", "approved"));
  const options = { environment: place.environment, settings: OFF };
  const started = async (name: string, effects: "reads" | "writes") => {
    place.write(name, text);
    const journal = await openJournal({ environment: place.environment, path: place.path(name) });
    assert.ok(journal.ok);
    await journal.value.recordStart("c1", "ls", effects);
    await using session = sessionOf(await openChat(place.path(name), options));
    await session.advance();
    return textOf(session);
  };
  assert.doesNotMatch(await started("own.chat", "reads"), /status=/);
  assert.match(await started("other.chat", "writes"), /status=pending/, "what ran then had effects");
  withModule(place, "ls");
  const replaced = await started("replaced.chat", "reads");
  assert.match(replaced, /status=pending/, "what would run now has effects");
  assert.doesNotMatch(replaced, /of the module/);
});

test("the record of a started call says what its tool may change", async (place) => {
  const noted = async (name: string) => {
    place.write(name, answered(asking(["c1", "ls", '{"path":"."}']), answer("c1", "approved")));
    await using session = sessionOf(
      await openChat(place.path(name), { environment: place.environment, settings: OFF }),
    );
    await session.advance();
    const files = Object.values(await place.files("state/flemma/journal"));
    await Deno.remove(`${place.folder}/state/flemma/journal`, { recursive: true });
    return /"kind":"start".*"effects":"(\w+)"/.exec(files.join("\n"))?.[1];
  };
  assert.equal(await noted("own.chat"), "reads");
  withModule(place, "ls");
  assert.equal(await noted("replaced.chat"), "writes");
});

test("the list of tools says who registered each tool, whatever the tool claims", async (place) => {
  withModule(place, "ls");
  const host = { environment: place.environment };
  const subject = await subjectSettings(host, { path: null, ...blocksOf(null) });
  assert.ok(subject.ok);
  const views = await toolViews({ environment: place.environment, path: null, subject: subject.value });
  assert.ok(views.ok);
  const sources = Object.fromEntries(views.value.map(({ name, source }) => [name, source]));
  assert.deepEqual([sources.ls, sources.read, sources.bash], ["module", "built-in", "built-in"]);
});

/** Where the one open call would run, as a person is shown it. */
async function shown(place: Place, text: string, options: MemoryOptions = {}) {
  await using session = await place.memory(text, options);
  const calls = await session.showOpen();
  assert.ok(calls.ok);
  const { sandboxed, wall, warnings } = calls.value[0]!;
  return { sandboxed, wall, warnings: warnings.join(" ") };
}

test("a call is shown together with where its tool would run", async (place) => {
  const inside = await shown(place, asking(["c1", "bash", '{"command":"true"}']));
  assert.equal(inside.sandboxed, !inside.wall.startsWith("outside"));
  const calculate = await shown(place, asking(["c1", "calculator", '{"expression":"1"}']));
  assert.deepEqual([calculate.sandboxed, calculate.wall], [inside.sandboxed, inside.wall]);
  withModule(place, "deploy");
  const module = await shown(place, asking(["c1", "deploy"]));
  assert.deepEqual([module.sandboxed, module.warnings], [false, ""]);
  assert.match(module.wall, /^outside the sandbox: .* in the flemma process$/);
  const nobody = await shown(place, asking(["c1", "nobody"]));
  assert.deepEqual([nobody.sandboxed, nobody.wall], [false, "nowhere: its tool does not exist here"]);
  assert.match(nobody.warnings, /This tool does not exist here/);
  place.settings("tools: {}\n");
  Deno.mkdirSync(`${place.folder}/config/flemma/tools`, { recursive: true });
  for (const target of ["host", "sandbox"]) {
    Deno.writeTextFileSync(
      `${place.folder}/config/flemma/tools/on_${target}.ts`,
      `export default { executionTarget: "${target}", effects: "none", runs: "inside", execute: () => "" };\n`,
    );
  }
  const file = await shown(place, asking(["c1", "on_host"]));
  assert.deepEqual([file.sandboxed, file.warnings], [false, ""]);
  assert.match(file.wall, /^outside the sandbox: .* in a separate process$/);
  const boundFile = await shown(place, asking(["c1", "on_sandbox"]));
  assert.deepEqual([boundFile.sandboxed, boundFile.wall], [inside.sandboxed, inside.wall]);
  const never = { name: "the server", mayHave: (name: string) => name === "far", resolve: () => {} };
  const far = await shown(place, asking(["c1", "far"]), { tools: [never] });
  assert.match(far.warnings, /may come from a source that has not listed its tools/);
  assert.deepEqual([far.sandboxed, far.wall], [
    false,
    "unknown: the source of its tool has not listed its tools yet",
  ]);
  const server = async (settings: string) => {
    place.settings(`mcp: { servers: { out: { ${settings} } } }\n`);
    return await shown(place, asking(["c1", "out:deploy"]));
  };
  const outside = "outside the sandbox: this tool runs in the MCP server out";
  for (const settings of ["command: cat, sandbox: false", "url: 'https://example.org/mcp'"]) {
    const call = await server(settings);
    assert.deepEqual([call.sandboxed, call.wall], [false, outside], settings);
  }
  const confined = await server("command: cat");
  assert.deepEqual([confined.sandboxed, confined.wall], [inside.sandboxed, inside.wall]);
});

test("the list of doctor and the trial of policy use the tool that would run", async (place) => {
  place.write(
    "replacing.ts",
    moduleFor("ls").replace('description: "",', 'description: "", path_input: "path",'),
  );
  place.settings(`tools:\n  modules: [${place.path("replacing.ts")}]\n`);
  Deno.mkdirSync(`${place.folder}/config/flemma/tools`, { recursive: true });
  Deno.writeTextFileSync(
    `${place.folder}/config/flemma/tools/on_host.ts`,
    `export default { executionTarget: "host", path_input: "path", execute: () => "" };\n`,
  );
  const host = { environment: place.environment };
  const subject = await subjectSettings(host, { path: null, ...blocksOf(null) });
  assert.ok(subject.ok);
  const rows = await toolRows({ environment: place.environment, path: null, subject: subject.value });
  assert.ok(rows.ok);
  const found = Object.fromEntries(
    rows.value.map(({ name, origin, decided }) => [name, [origin, decided.decision]]),
  );
  assert.deepEqual([found.ls, found.on_host], [["module", "require_approval"], ["file", "require_approval"]]);
  for (const tool of ["ls", "on_host"]) {
    const trial = await createCommandEvaluator({ host, environment: place.environment, tool, rules: [] });
    assert.ok(trial.ok, tool);
    assert.equal((await trial.value("x")).decision, "require_approval", tool);
  }
});

test('a rule for the sandbox approves only sandboxed calls, and "always" writes a rule for the sandbox only for sandboxed calls', async (place) => {
  const rules = (tool: string) => `  auto_approve: []\n  rules: [{ approve: ${tool}, sandboxed: true }]\n`;
  const asked = async (tool: string) => {
    await using session = await place.memory(asking(["c1", tool]));
    const proposed = await session.proposeRule("c1");
    return [(await decisionOf(session))?.decision, proposed.ok && proposed.value.written.sandboxed === true];
  };
  const works = await (await place.memory(asking())).sandbox.available();
  withModule(place, "deploy", rules("deploy"));
  assert.deepEqual(await asked("deploy"), ["require_approval", false]);
  place.settings(`tools:\n${rules("calculator")}`);
  assert.deepEqual(await asked("calculator"), works.ok ? ["approve", true] : ["require_approval", false]);
});

test("where the sandbox works, ls, find, grep and calculator run without asking, but not tools that replace them", async (place) => {
  const works = (await (await place.memory(asking())).sandbox.available()).ok;
  const decided = async (name: string) => {
    await using session = await place.memory(asking(["c1", name]));
    const decision = await decisionOf(session);
    return decision?.decision === "approve" ? decision.source : "asks";
  };
  for (const name of ["ls", "find", "grep", "calculator", "calculator_async"]) {
    place.settings("tools: {}\n");
    assert.equal(await decided(name), works ? "urn:flemma:approval:sandbox" : "asks", name);
    place.settings("tools:\n  auto_approve_sandboxed: false\n");
    assert.equal(await decided(name), "asks", `${name} if the person wants no approval by the sandbox`);
    place.settings("sandbox: false\n");
    assert.equal(await decided(name), "asks", `${name} without a sandbox`);
    place.write(`${name}.ts`, moduleFor(name));
    place.settings(`tools:\n  modules: [${place.path(`${name}.ts`)}]\n`);
    assert.equal(await decided(name), "asks", `a module in place of ${name}`);
  }
});

test("an open call is run by the module that replaces its tool, also if no request was sent before", async (place) => {
  const text = asking(["c1", "bash", '{"command":"echo of the program"}']);
  withModule(place, "bash", "  auto_approve: [bash]\n");
  {
    await using session = await place.memory(text, { settings: OFF });
    await session.advance();
    assert.match(textOf(session), /of the module\n/);
  }
  await using session = await place.memory(text);
  await session.execute("c1");
  assert.match(textOf(session), /of the module\n/);
  assert.equal((await session.tool("bash"))?.origin, "module");
});

test("if a module that may replace a tool fails to load, calls of the tool wait", async (place) => {
  place.write("tools.ts", "throw new Error('broken');\n");
  place.settings(`tools:\n  modules: [${place.path("tools.ts")}]\n  auto_approve: [bash]\n`);
  const call = asking(["c1", "bash", '{"command":"echo ran > ran.txt"}']);
  for (const text of [call, answered(call, answer("c1", "approved"))]) {
    await using session = await place.memory(text, { settings: OFF });
    assert.equal((await decisionOf(session))?.source, place.path("tools.ts"));
    await session.advance();
    assert.match(textOf(session), /status=pending/);
  }
});

test("a tool file with a different file name may replace a tool only if the person lists the file", async (place) => {
  Deno.mkdirSync(`${place.folder}/config/flemma/tools`, { recursive: true });
  Deno.writeTextFileSync(
    `${place.folder}/config/flemma/tools/other.ts`,
    `export default { name: "ls", execute: () => ({ content: "of the file" }) };\n`,
  );
  const ran = async (input: string) => {
    await using session = await place.memory(asking(["c1", "ls", input]), { settings: OFF });
    await session.execute("c1");
    return textOf(session);
  };
  assert.doesNotMatch(await ran('{"path":"."}'), /of the file/);
  place.settings("tools:\n  override: [ls]\n");
  assert.match(await ran("{}"), /of the file/);
});
