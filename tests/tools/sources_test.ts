// Sources of tools: started when needed, waited for, reported when they fail, and forgotten when the registry is
// cleared.

import assert from "node:assert/strict";
import type { Problem } from "../../base/problem.ts";
import type { Registration } from "../../tools/definition.ts";
import type { ResolveTools, ToolSource } from "../../tools/registration/types.ts";
import { type RegistryOptions, ToolRegistry } from "../../tools/registry.ts";

const TOOL: Registration = { input_schema: { type: "object" }, execute: () => ({ success: true }) };

function registryOf(options: RegistryOptions = {}) {
  const problems: Problem[] = [];
  const completed: string[] = [];
  const registry = new ToolRegistry({
    onProblem: (problem) => problems.push(problem),
    onComplete: () => completed.push("complete"),
    ...options,
  });
  return { registry, problems, completed, codes: () => problems.map(({ code }) => code) };
}

function states(registry: ToolRegistry): string[] {
  return registry.sources().map(({ state }) => state);
}

async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "flemma-tools-" }));
  try {
    await body(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("a tool source is queried once, when its tools are first needed, and its tools are available as soon as they are registered", async () => {
  const { registry, completed, problems } = registryOf();
  let asked = 0;
  const given = Promise.withResolvers<void>();
  registry.register((register, done) => {
    asked++;
    register("found", TOOL);
    given.promise.then(() => done());
  });
  assert.deepEqual([asked, registry.isReady(), states(registry)], [0, false, ["idle"]]);
  const ready = registry.whenReady();
  assert.deepEqual([asked, registry.has("found"), registry.isReady()], [1, true, false]);
  given.resolve();
  await ready;
  await registry.whenReady();
  assert.deepEqual([asked, registry.isReady(), states(registry)], [1, true, ["done"]]);
  assert.deepEqual([completed, problems], [["complete"], []]);
});

const ENDINGS: readonly (readonly [name: string, resolve: ResolveTools, state: string, codes: string[]])[] = [
  ["done is called immediately", (_register, done) => done(), "done", []],
  ["done is called with a text", (_register, done) => done("no such server"), "failed", [
    "tool-source-failed",
  ]],
  ["done is called twice, first without an error", (_register, done) => (done(), done("late")), "done", []],
  ["done is called twice, first with an error", (_register, done) => (done("bad"), done()), "failed", [
    "tool-source-failed",
  ]],
  [
    "it throws",
    (_register, _done) => {
      throw new Error("no such program");
    },
    "failed",
    ["tool-source-failed"],
  ],
  [
    "an exception is thrown after done",
    (_register, done) => {
      done();
      throw new Error("no such program");
    },
    "done",
    [],
  ],
  ["its promise is rejected", (_register, _done) => Promise.reject(new Error("gone")), "failed", [
    "tool-source-failed",
  ]],
  ["it takes no done parameter and returns", (register) => register("t", TOOL), "done", []],
  [
    "it takes no done parameter and its promise is fulfilled",
    async (register) => {
      await Promise.resolve();
      register("t", TOOL);
    },
    "done",
    [],
  ],
  [
    "one of its definitions is invalid",
    (register, done) => {
      register("bad", {} as Registration);
      register("t", TOOL);
      done();
    },
    "done",
    ["invalid-tool"],
  ],
];

for (const [name, resolve, state, codes] of ENDINGS) {
  Deno.test(`a tool source ends correctly when ${name}`, async () => {
    const found = registryOf();
    found.registry.register({ name: "the server", resolve });
    await found.registry.whenReady();
    assert.deepEqual([states(found.registry), found.codes()], [[state], codes]);
    assert.deepEqual(found.completed, ["complete"]);
    for (const { message } of found.problems) assert.match(message, /^the server\b/);
  });
}

Deno.test("a tool source that never responds counts as finished after its own or the registry's timeout, and may still add tools later", async () => {
  const { registry, codes, problems } = registryOf({ defaultTimeout: 0 });
  let late: Parameters<ResolveTools> | null = null;
  registry.register({ name: "slow", timeout: 0, resolve: (...given) => void (late = given) });
  registry.register(function mute(_register, _done) {});
  await registry.whenReady();
  assert.deepEqual([states(registry), codes()], [["timed-out", "timed-out"], [
    "tool-source-timeout",
    "tool-source-timeout",
  ]]);
  assert.match(problems.map(({ message }) => message).join(" "), /\bslow\b.*\bmute\b/);
  const [register, done] = late!;
  register("late", TOOL);
  assert.equal(registry.has("late"), true);
  done();
  assert.deepEqual(states(registry), ["done", "timed-out"]);
});

Deno.test("a tool source may request more time", async () => {
  const { registry } = registryOf({ defaultTimeout: 0 });
  registry.register((register, done, within) => {
    within(60);
    // A timer that was begun before this one fires before it.
    setTimeout(() => {
      register("t", TOOL);
      done();
    }, 1);
  });
  await registry.whenReady();
  assert.deepEqual(states(registry), ["done"]);
});

Deno.test("onReady calls its callback later, never immediately, even if everything is already ready", async () => {
  const { registry } = registryOf();
  registry.register((_register, done) => done());
  const order: string[] = [];
  for (const name of ["first", "second"]) {
    await new Promise<void>((resolve) => {
      registry.onReady(() => {
        order.push(name);
        resolve();
      });
      order.push(`after the call of ${name}`);
    });
  }
  assert.deepEqual(order, ["after the call of first", "first", "after the call of second", "second"]);
});

Deno.test("clear forgets all sources: their later tools are ignored, and sources registered afterwards work", async () => {
  const { registry, problems, completed } = registryOf();
  let late: Parameters<ResolveTools> | null = null;
  registry.register((...given) => void (late = given));
  const waiting = registry.whenReady();
  registry.clear();
  await waiting;
  const [register, done] = late!;
  register("ghost", TOOL);
  done("too late");
  assert.deepEqual([registry.count(), registry.sources(), problems, completed], [0, [], [], []]);
  registry.register((register, done) => (register("t", TOOL), done()));
  await registry.whenReady();
  assert.equal(registry.has("t"), true);
});

Deno.test("whenKnown queries only sources that may have the tool, and ends as soon as the tool exists", async () => {
  const { registry } = registryOf();
  const asked: string[] = [];
  const source = (prefix: string, resolve: ResolveTools): ToolSource => ({
    name: prefix,
    mayHave: (name) => name.startsWith(`${prefix}:`),
    resolve(register, done, within) {
      asked.push(prefix);
      return resolve(register, done, within);
    },
  });
  registry.register(source("a", (register, _done) => void register("a:t", TOOL)));
  registry.register(source("b", (_register, done) => done("broken")));
  assert.equal(registry.mayCome("c:t"), false);
  await registry.whenKnown("c:t");
  assert.deepEqual(asked, []);
  await registry.whenKnown("a:t");
  assert.deepEqual([asked, states(registry)], [["a"], ["pending", "idle"]]);
  assert.equal(registry.mayCome("a:other"), true, "its source has not answered");
  await registry.whenKnown("b:t");
  assert.equal(registry.mayCome("b:t"), false);
  assert.deepEqual(["a:t", "b:t", "c:t"].map((name) => registry.unaskedSource(name)), [null, "b", null]);
  registry.clear();
});

Deno.test("a cancelled wait for tool sources ends, but the sources continue", async () => {
  const { registry } = registryOf();
  let end = () => {};
  registry.register((_register, done) => void (end = done));
  const cancel = new AbortController();
  const waits = [registry.whenReady(cancel.signal), registry.whenKnown("t", cancel.signal)];
  cancel.abort();
  await Promise.all(waits);
  assert.deepEqual(states(registry), ["pending"]);
  end();
  await registry.whenReady();
});

Deno.test("a tool source that registers another source is ready when that source is ready", async () => {
  const { registry } = registryOf();
  registry.register((_register, done) => {
    registry.register((register, done) => (register("inner", TOOL), done()));
    done();
  });
  await registry.whenReady();
  assert.equal(registry.has("inner"), true);
});

Deno.test("an excluded tool source is never queried, and if one of its possible tools is missing, the error names the source", async () => {
  const { registry } = registryOf();
  registry.leaveOut({ name: "the project", mayHave: (name) => name === "deploy" }, "it is not trusted");
  await registry.whenReady();
  assert.deepEqual(registry.sources(), [{
    name: "the project",
    state: "left-out",
    reason: "it is not trusted",
  }]);
  assert.deepEqual(["deploy", "other"].map((name) => registry.unaskedSource(name)), ["the project", null]);
});

Deno.test("a registry also offers the tools and sources of lower registries, and its own tools take precedence", async () => {
  const below = new ToolRegistry();
  const lowest = new ToolRegistry();
  const described = (description: string): Registration => ({ ...TOOL, description });
  lowest.register("a", described("lowest"));
  lowest.register("b", described("lowest"));
  lowest.register("c", described("lowest"));
  below.register("b", described("below"));
  below.register("c", described("below"));
  below.register((register, done) => (register("d", described("found")), done()));
  const registry = new ToolRegistry({ below: [below, lowest] });
  const warned = registry.register("c", described("own"));
  assert.deepEqual(warned.ok && warned.value.map(({ code }) => code), ["tool-replaced"]);
  assert.equal(registry.isReady(), false);
  await registry.whenReady();
  assert.deepEqual(
    registry.getAll().map(({ name, description }) => `${name} ${description}`),
    ["a lowest", "b below", "c own", "d found"],
  );
  assert.equal(registry.closestMatch("dd"), "d");
  assert.equal(registry.unregister("a"), false);
  assert.equal(registry.unregister("c"), true);
  assert.equal(registry.get("c")?.description, "below");
  assert.equal(registry.count(), 4);
});

Deno.test("if the enabled field of a tool is a function, it gets the settings; if it throws, flemma reports this once and disables the tool", () => {
  const { registry, codes } = registryOf();
  registry.register("always", { ...TOOL, enabled: () => true });
  registry.register("broken", {
    ...TOOL,
    enabled: () => {
      throw new Error("oh");
    },
  });
  const names = (config?: object) => registry.getAll({ config: config as never }).map(({ name }) => name);
  assert.deepEqual([names({}), names({}), names(), codes()], [["always"], ["always"], [], ["tool-enabled"]]);
});

Deno.test("getAll returns copies of the definitions", () => {
  const { registry } = registryOf();
  registry.register("t", TOOL);
  Object.assign(registry.getAll()[0]!, { description: "changed" });
  assert.equal(registry.get("t")?.description, "");
});

Deno.test("every function of the registry also exists with its name in snake case", async () => {
  const { registry } = registryOf();
  registry.register("t", { ...TOOL, capabilities: ["c"] });
  assert.deepEqual(registry.get_all().map(({ name }) => name), ["t"]);
  assert.deepEqual(
    [
      registry.has_capability("t", "c"),
      registry.is_executable("t"),
      registry.is_ready(),
      registry.closest_match("tt"),
    ],
    [true, true, true, "t"],
  );
  await new Promise<void>((resolve) => registry.on_ready(resolve));
});

Deno.test("a code file either registers its tools directly or is a tool source with its own timeout", async () => {
  await inFolder(async (folder) => {
    const file = (name: string, code: string) => {
      Deno.writeTextFileSync(`${folder}/${name}`, code);
      return `${folder}/${name}`;
    };
    const schema = `{ type: "object" }`;
    const list = file("list.ts", `export const definitions = [{ name: "a", input_schema: ${schema} }];`);
    const source = file(
      "source.ts",
      `export const timeout = 45;
       export function resolve(register: any, done: any) { register("b", { input_schema: ${schema} }); done(); }`,
    );
    const whole = file(
      "default.ts",
      `export default { definitions: [{ name: "c", input_schema: ${schema} }] };`,
    );
    const bad = file("bad.ts", `export const definitions = [{ name: "d" }];`);
    const neither = file("neither.ts", `export const tools = [];`);
    const broken = file("broken.ts", `throw new Error("at the top");`);
    const { registry } = registryOf();
    for (const path of [list, source, `file://${whole}`]) {
      assert.equal((await registry.register(path)).ok, true, path);
    }
    await registry.whenReady();
    assert.deepEqual(registry.getAll().map(({ name }) => name), ["a", "b", "c"]);
    const failures = [
      [bad, "invalid-tool", /\bd\b/],
      [neither, "tool-module", /neither resolve nor definitions/],
      [broken, "tool-module", /at the top/],
      [`${folder}/missing.ts`, "tool-module", /missing\.ts/],
    ] as const;
    for (const [path, code, says] of failures) {
      const outcome = await registry.register(path);
      assert.ok(!outcome.ok, path);
      assert.equal(outcome.problem.code, code);
      assert.match(outcome.problem.message, says);
    }
    assert.equal(registry.count(), 3);
  });
});
