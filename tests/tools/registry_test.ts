import assert from "node:assert/strict";
import type { Outcome, Problem } from "../../base/problem.ts";
import { builtinTools } from "../../tools/builtin/mod.ts";
import type { Registration } from "../../tools/definition.ts";
import { ToolRegistry } from "../../tools/registry.ts";

const schema = { type: "object", properties: {} };
const execute = () => ({ success: true });

function tool(name: string, members: Partial<Registration> = {}): Registration {
  return { name, description: name, input_schema: schema, execute, ...members };
}

function warnings(outcome: Outcome<readonly Problem[]>): string[] {
  assert.ok(outcome.ok, "registering failed");
  return outcome.value.map(({ code }) => code);
}

function problem(outcome: Outcome<readonly Problem[]>): Problem {
  assert.ok(!outcome.ok, "registering succeeded");
  return outcome.problem;
}

Deno.test("tools can be registered by name, by definition, or as a batch", () => {
  const registry = new ToolRegistry();
  assert.deepEqual(warnings(registry.register("a", { input_schema: schema })), []);
  assert.deepEqual(warnings(registry.register(tool("b"))), []);
  assert.deepEqual(warnings(registry.register([tool("c"), tool("d")])), []);
  assert.deepEqual(registry.getAll().map(({ name }) => name), ["a", "b", "c", "d"]);
  assert.equal(registry.get("a")?.description, "");
  assert.equal(registry.count(), 4);
});

Deno.test("the name given to register takes precedence over the name in the definition", () => {
  const registry = new ToolRegistry();
  registry.register("x", tool("y"));
  assert.equal(registry.get("x")?.name, "x");
  assert.equal(registry.has("y"), false);
});

Deno.test("if one definition of a batch is invalid, none is registered, and the problem names the tool", () => {
  const registry = new ToolRegistry();
  const outcome = registry.register([tool("good"), { name: "bad" } as unknown as Registration]);
  assert.match(problem(outcome).message, /\bbad\b/);
  assert.equal(registry.count(), 0);
});

Deno.test("register reports an error for a name with a dot and for a missing name, schema or definition", () => {
  const registry = new ToolRegistry();
  assert.match(problem(registry.register(tool("my.tool"))).message, /my\.tool.*dot/);
  assert.match(problem(registry.register(tool("my.server:tool"))).message, /my\.server:tool.*dot/);
  assert.match(problem(registry.register({ input_schema: schema })).message, /without a name/);
  assert.match(problem(registry.register("t", {} as Registration)).message, /\bt\b.*no input schema/);
  assert.match(problem(registry.register("t", undefined as unknown as Registration)).message, /\bt\b/);
  assert.match(problem(registry.register(tool("a`b"))).message, /backtick/);
  assert.equal(registry.count(), 0);
});

Deno.test("a tool name may contain dots only after its colon, in the MCP server's own name of the tool", () => {
  assert.ok(new ToolRegistry().register(tool("server:my.tool")).ok);
});

Deno.test("registering a name again replaces the tool and gives a warning, unless the tool is the same object", () => {
  const registry = new ToolRegistry();
  const first = tool("t");
  registry.register(first);
  assert.deepEqual(warnings(registry.register(first)), []);
  assert.deepEqual(warnings(registry.register(tool("t", { description: "new" }))), ["tool-replaced"]);
  assert.equal(registry.get("t")?.description, "new");
});

Deno.test("strict mode of a tool is kept if its schema follows the rules of strict mode, and otherwise dropped with a warning", () => {
  const registry = new ToolRegistry();
  const good = {
    type: "object",
    properties: {
      a: { type: ["string", "null"] },
      b: { type: "object", properties: {}, additionalProperties: false },
    },
    required: ["a", "b"],
    additionalProperties: false,
  };
  assert.deepEqual(warnings(registry.register(tool("good", { input_schema: good, strict: true }))), []);
  assert.equal(registry.get("good")?.strict, true);
  const bad = {
    open: { ...good, additionalProperties: true },
    optional: { ...good, required: ["a"] },
    nested: { ...good, properties: { ...good.properties, b: { type: "object", properties: {} } } },
    item: {
      ...good,
      properties: { ...good.properties, b: { type: "array", items: { type: "object", properties: {} } } },
    },
    branch: { ...good, properties: { ...good.properties, b: { anyOf: [{ type: "object" }] } } },
  };
  for (const [name, input_schema] of Object.entries(bad)) {
    assert.deepEqual(warnings(registry.register(tool(name, { input_schema, strict: true }))), [
      "tool-not-strict",
    ]);
    assert.equal(registry.get(name)?.strict, undefined);
    assert.equal(registry.get(name)?.input_schema, input_schema);
  }
  assert.deepEqual(warnings(registry.register(tool("loose", { input_schema: bad.open }))), []);
});

Deno.test("all built-in tools are strict and register without a warning", () => {
  const registry = new ToolRegistry();
  assert.deepEqual(warnings(registry.registerFrom("built-in", builtinTools())), []);
  const tools = registry.getAll();
  assert.ok(tools.length >= 10);
  assert.deepEqual(tools.filter(({ strict }) => strict !== true), []);
});

Deno.test("tools are offered in the byte order of their names, and disabled tools only on request", () => {
  const registry = new ToolRegistry();
  registry.register(["b", "a", "B", "a_", "é", "\u{1f389}", "\uff01"].map((name) => tool(name)));
  registry.register(tool("off", { enabled: false }));
  assert.deepEqual(registry.getAll().map(({ name }) => name), [
    "B",
    "a",
    "a_",
    "b",
    "é",
    "\uff01",
    "\u{1f389}",
  ]);
  assert.ok(registry.getAll({ includeDisabled: true }).some(({ name }) => name === "off"));
  assert.equal(registry.isExecutable("off"), true);
});

Deno.test("a tool without execute, or marked as not executable, cannot be executed", () => {
  const registry = new ToolRegistry();
  registry.register([tool("a"), tool("b", { execute: undefined }), tool("c", { executable: false })]);
  assert.deepEqual(["a", "b", "c", "d"].map((name) => registry.isExecutable(name)), [
    true,
    false,
    false,
    false,
  ]);
});

Deno.test("the registry says which capabilities a tool has, and its tools can be removed one by one or all together", () => {
  const registry = new ToolRegistry();
  registry.register(tool("a", { capabilities: ["x", "unknown"] }));
  assert.equal(registry.hasCapability("a", "unknown"), true);
  assert.equal(registry.hasCapability("a", "y"), false);
  assert.equal(registry.hasCapability("z", "x"), false);
  assert.equal(registry.unregister("a"), true);
  assert.equal(registry.unregister("a"), false);
  registry.register(tool("a"));
  registry.clear();
  assert.equal(registry.count(), 0);
});

Deno.test("the name suggested for an unknown tool differs by at most three edits", () => {
  const registry = new ToolRegistry();
  registry.register([tool("bash"), tool("calculator"), tool("read")]);
  assert.equal(registry.closestMatch("bsah"), "bash");
  assert.equal(registry.closestMatch("calculator_s"), "calculator");
  assert.equal(registry.closestMatch("calculation_x"), null);
  assert.equal(registry.closestMatch("zzzzzzzz"), null);
});

Deno.test("if a tool is an instance of a class, its methods run on that instance", () => {
  class Counter implements Registration {
    readonly name = "counter";
    readonly description = "";
    readonly input_schema = schema;
    #count = 0;
    execute() {
      return { success: true, output: ++this.#count };
    }
    format_preview(): string {
      return `${this.#count}`;
    }
  }
  const registry = new ToolRegistry();
  registry.register(new Counter());
  const { execute, format_preview } = registry.get("counter")!;
  assert.deepEqual(execute!({}, {} as never, () => {}), { success: true, output: 1 });
  assert.equal(format_preview!({}, 10), "1");
});

Deno.test("capabilities under their names in newer versions of flemma.nvim are the same capabilities", () => {
  const registry = new ToolRegistry();
  registry.register(tool("a", { capabilities: ["auto_approves_if_sandboxed", "emits_template", "other"] }));
  assert.deepEqual(registry.get("a")?.capabilities, [
    "can_auto_approve_if_sandboxed",
    "template_tool_result",
    "other",
  ]);
});
