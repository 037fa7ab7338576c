// The examples of the plugin's documentation, in TypeScript: registered with the library, called in a document, with
// the documented results.

import assert from "node:assert/strict";
import { chatInMemory, type ChatSession, type MemoryOptions, tools } from "../../advanced.ts";
import type { CycleEvent } from "../../cycle/types.ts";
import { asking, bytesOf, type CallText, inPlace, type Place, withModel } from "../agent/place.ts";

/** Opens a document with these calls for the tools of this process. */
async function opened(
  place: Place,
  calls: readonly CallText[],
  options: MemoryOptions = {},
): Promise<ChatSession> {
  const session = await chatInMemory(bytesOf(asking(...calls)), {
    environment: place.environment,
    path: "notes/a.chat",
    settings: { overrides: { tools: { require_approval: false, autopilot: { enabled: false } } } },
    ...options,
  });
  assert.ok(session.ok, session.ok ? "" : session.problem.message);
  return session.value;
}

/** Runs calls one after the other; the text of their results, errors marked. */
async function results(
  place: Place,
  calls: readonly CallText[],
  options: MemoryOptions = {},
): Promise<string[]> {
  await using session = await opened(place, calls, options);
  for (const [id] of calls) await session.execute(id);
  return calls.map(([id]) => {
    const result = session.chat.result(id);
    return `${result?.status === "error" ? "(error) " : ""}${result?.content}`;
  });
}

/** A test in a place of its own, after which nothing is registered. */
function example(name: string, body: (place: Place) => Promise<void>): void {
  Deno.test(name, () =>
    inPlace(async (place) => {
      Deno.mkdirSync(place.path("notes"));
      try {
        await body(place);
      } finally {
        tools.clear();
      }
    }));
}

const ok = <T>(outcome: { readonly ok: boolean; readonly value?: T }) =>
  assert.ok(outcome.ok, JSON.stringify(outcome));

example(
  "my_tool: a single definition answers immediately, and its preview shows the input",
  async (place) => {
    ok(tools.register("my_tool", {
      name: "my_tool",
      description: "Does something useful",
      input_schema: {
        type: "object",
        properties: { query: { type: "string", description: "The input query" } },
        required: ["query"],
      },
      format_preview: (input, width) => `"${String(input.query).slice(0, width - 2)}"`,
      execute: (input) => ({ success: true, output: `done: ${input.query}` }),
    }));
    const call: CallText = ["c1", "my_tool", '{"query":"x"}'];
    assert.deepEqual(await results(place, [call]), ["done: x"]);
    await using session = await opened(place, [call], { settings: {} });
    assert.deepEqual((await session.calls()).map(({ preview }) => preview), ['my_tool: "x"']);
  },
);

example(
  "my_search: the preview shows the query and any limit on one line that fits",
  async (place) => {
    ok(tools.register("my_search", {
      name: "my_search",
      description: "Search a knowledge base",
      input_schema: {
        type: "object",
        properties: {
          query: { type: "string", description: "Search query" },
          limit: { type: ["number", "null"], description: "Max results" },
        },
        required: ["query", "limit"],
        additionalProperties: false,
      },
      format_preview: (input, _width) =>
        `"${input.query}"${input.limit === null ? "" : ` (limit ${input.limit})`}`,
      async: true,
      execute(input, _context, callback) {
        const timer = setTimeout(() => callback({ success: true, output: `found ${input.query}` }));
        return () => clearTimeout(timer);
      },
    }));
    const calls: readonly CallText[] = [
      ["c1", "my_search", '{"query":"tides","limit":5}'],
      ["c2", "my_search", '{"query":"tides","limit":null}'],
      ["c3", "my_search", '{"query":"two\\nlines","limit":null}'],
      ["c4", "my_search", `{"query":"${"long ".repeat(40)}","limit":null}`],
    ];
    await using session = await opened(place, calls, { settings: {} });
    const previews = (await session.calls()).map(({ preview }) => preview);
    assert.deepEqual(previews.slice(0, 3), [
      'my_search: "tides" (limit 5)',
      'my_search: "tides"',
      'my_search: "two↵lines"',
    ]);
    assert.match(previews[3]!, /^my_search: "long .*…$/);
    assert.deepEqual((await results(place, calls)).slice(0, 2), ["found tides", "found tides"]);
    assert.match(
      (await results(place, [["c1", "my_search", '{"query":1,"limit":null}']]))[0]!,
      /^\(error\) .*\/query/s,
    );
  },
);

example(
  "export: saves below the document's folder, refuses paths that the sandbox refuses, and reads its own setting",
  async (place) => {
    ok(tools.register("export", {
      name: "export",
      description: "Save content to a file in the project",
      input_schema: {
        type: "object",
        properties: {
          path: { type: "string", description: "Output file path (relative or absolute)" },
          content: { type: "string", description: "Content to write" },
        },
        required: ["path", "content"],
        additionalProperties: false,
      },
      strict: true,
      async: false,
      async execute(input, context) {
        const path = context.path.resolve(String(input.path));
        if (!context.sandbox.isPathWritable(path)) {
          return { success: false, error: `Sandbox: write denied for ${input.path}` };
        }
        const limit = Number(context.getConfig()?.max_size ?? context.truncate.MAX_BYTES);
        const content = String(input.content);
        if (content.length > limit) {
          return { success: false, error: `Content exceeds ${context.truncate.formatSize(limit)} limit` };
        }
        await Deno.writeTextFile(path, content);
        return { success: true, output: `Saved ${content.length} bytes to ${input.path}` };
      },
    }));
    const call = (
      path: string,
      content: string,
    ): CallText => ["c1", "export", JSON.stringify({ path, content })];
    assert.deepEqual(await results(place, [call("out.txt", "hello")]), ["Saved 5 bytes to out.txt"]);
    assert.equal(place.read("notes/out.txt"), "hello");
    assert.deepEqual(await results(place, [call("/etc/out.txt", "x")]), [
      "(error) Sandbox: write denied for /etc/out.txt",
    ]);
    assert.deepEqual(await results(place, [call("big.txt", "x".repeat(51_201))]), [
      "(error) Content exceeds 50.0KB limit",
    ]);
    place.settings(
      "tools:\n  require_approval: false\n  autopilot: { enabled: false }\n  export:\n    max_size: 3\n",
    );
    assert.deepEqual(await results(place, [call("out.txt", "four")], { settings: {} }), [
      "(error) Content exceeds 3B limit",
    ]);
  },
);

example("batch: an array of definitions registers each", async (place) => {
  const input_schema = { type: "object", properties: {} };
  const execute = () => ({ success: true, output: "ran" });
  ok(tools.register([
    { name: "tool_a", description: "…", input_schema, execute },
    { name: "tool_b", description: "…", input_schema, execute },
  ]));
  assert.deepEqual(await results(place, [["c1", "tool_a"], ["c2", "tool_b"]]), ["ran", "ran"]);
});

example(
  "function form: a send waits for tools that are found at run time, and offers them",
  async (place) => {
    const asked = Promise.withResolvers<void>();
    ok(tools.register((register, done) => {
      void asked.promise.then(() => {
        register("discovered_tool", {
          description: "Found",
          input_schema: { type: "object", properties: {} },
          execute: () => ({ success: true, output: "discovered" }),
        });
        done();
      });
    }));
    const expect = { tools: ["discovered_tool"] };
    await withModel([{ expect, reply: [{ text: "I see it." }] }], async (provider, replay) => {
      const session = await chatInMemory(bytesOf("@You:\nHello\n"), {
        environment: place.environment,
        provider,
      });
      assert.ok(session.ok);
      await using chat = session.value;
      const advancing = chat.advance();
      assert.equal(replay.requests.length, 0);
      asked.resolve();
      assert.equal((await advancing).reason, "done");
      assert.deepEqual(replay.problems, []);
    });
    assert.deepEqual(await results(place, [["c1", "discovered_tool"]]), ["discovered"]);
  },
);

example(
  "async function: an exception has the same effect as an error given to done: a warning and no stop",
  async (place) => {
    ok(tools.register(async (register) => {
      await Promise.resolve("asks a program");
      register("before", {
        input_schema: { type: "object" },
        execute: () => ({ success: true, output: "kept" }),
      });
      throw new Error("the program is not there");
    }));
    const events: CycleEvent[] = [];
    await withModel([{ expect: { tools: ["before"] }, reply: [{ text: "Well." }] }], async (provider) => {
      const session = await chatInMemory(bytesOf("@You:\nHello\n"), {
        environment: place.environment,
        provider,
        emit: (event) => events.push(event),
      });
      assert.ok(session.ok);
      await using chat = session.value;
      assert.equal((await chat.advance()).reason, "done");
    });
    assert.deepEqual(await results(place, [["c1", "before"]]), ["kept"]);
    assert.ok(
      events.some((event) => event.event === "notice" && /the program is not there/.test(event.message)),
    );
  },
);

example(
  "table form: a source that never calls done delays a send no longer than its own timeout",
  async (place) => {
    ok(tools.register({
      timeout: 0.2,
      resolve(register) {
        register("remote_tool", {
          input_schema: { type: "object" },
          execute: () => ({ success: true, output: "remote" }),
        });
      },
    }));
    await withModel(
      [{ expect: { tools: ["remote_tool"] }, reply: [{ text: "Well." }] }],
      async (provider) => {
        const session = await chatInMemory(bytesOf("@You:\nHello\n"), {
          environment: place.environment,
          provider,
        });
        assert.ok(session.ok);
        await using chat = session.value;
        assert.equal((await chat.advance()).reason, "done");
      },
    );
    assert.equal(tools.isReady(), true);
  },
);

example("module form: a file exports definitions, or resolve and a timeout", async (place) => {
  const code = 'execute: () => ({ success: true, output: "from a file" })';
  place.write(
    "search.ts",
    `export const definitions = [{ name: "search", input_schema: { type: "object" }, ${code} }];`,
  );
  place.write(
    "tools.ts",
    `export const timeout = 45;
export function resolve(register, done) {
  register("my_tool", { input_schema: { type: "object" }, ${code} });
  done();
  done("a second time is nothing");
}`,
  );
  ok(await tools.register(place.path("search.ts")));
  ok(await tools.register(place.path("tools.ts")));
  assert.deepEqual(await results(place, [["c1", "search"], ["c2", "my_tool"]]), [
    "from a file",
    "from a file",
  ]);
  const missing = await tools.register(place.path("nowhere.ts"));
  assert.ok(!missing.ok && /nowhere\.ts/.test(missing.problem.message));
  place.write("neither.ts", "export const tool = 1;");
  const neither = await tools.register(place.path("neither.ts"));
  assert.ok(!neither.ok && /definitions/.test(neither.problem.message));
});

example(
  "callback form: the first answer counts, and the returned function cancels it",
  async (place) => {
    const cancelled: string[] = [];
    ok(tools.register("twice", {
      input_schema: { type: "object" },
      async: true,
      execute(_input, _context, callback) {
        callback({ success: true, output: "first" });
        callback({ success: true, output: "second" });
      },
    }));
    const begun = Promise.withResolvers<void>();
    ok(tools.register("waits", {
      input_schema: { type: "object" },
      async: true,
      execute(_input, _context, callback) {
        begun.resolve();
        return () => {
          cancelled.push("waits");
          callback({ success: true, output: "too late" });
        };
      },
    }));
    assert.deepEqual(await results(place, [["c1", "twice"]]), ["first"]);
    await using session = await opened(place, [["c2", "waits"]]);
    const running = session.execute("c2");
    await begun.promise;
    assert.ok(session.cancelCall("c2"));
    await running;
    assert.deepEqual(cancelled, ["waits"]);
    assert.match(session.chat.result("c2")?.content ?? "", /stopped/);
  },
);

example("the plugin's snake_case names work too", async (place) => {
  ok(tools.register("old_names", {
    input_schema: { type: "object" },
    execute(_input, context) {
      const { sandbox, truncate } = context as unknown as {
        sandbox: { is_path_writable(path: string): boolean };
        truncate: {
          format_size(bytes: number): string;
          truncate_tail(text: string): { output_lines: number; total_lines: number };
        };
      };
      const tail = truncate.truncate_tail(`${"a\n".repeat(2000)}a`);
      const says = [
        sandbox.is_path_writable("/etc/passwd"),
        truncate.format_size(12_345),
        tail.output_lines,
        tail.total_lines,
      ];
      return { success: true, output: JSON.stringify(says) };
    },
  }));
  assert.deepEqual(await results(place, [["c1", "old_names"]]), ['[false,"12.1KB",2000,2001]']);
});
