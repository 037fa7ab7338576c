// Tool files with whole documents: found, described once, run in the sandbox, reported when broken.

import assert from "node:assert/strict";
import type { CycleEvent, Emit } from "../../cycle/types.ts";
import type { MemoryOptions } from "../../agent/types.ts";
import { filesIn, trustFiles } from "../../config/sources/tool_folders.ts";
import { asking, inPlace, type Place, textOf } from "./place.ts";

const FREE = { overrides: { tools: { require_approval: false } } };

/** Writes a file into the person's folder of tools. */
function userTool(place: Place, name: string, code: string): void {
  Deno.mkdirSync(`${place.folder}/config/flemma/tools`, { recursive: true });
  Deno.writeTextFileSync(`${place.folder}/config/flemma/tools/${name}`, code);
}

/** Runs one call and gives the text of its result, with what was told meanwhile. */
async function called(
  place: Place,
  tool: string,
  input: object = {},
  options: MemoryOptions = {},
): Promise<{ readonly text: string; readonly reason: string; readonly events: readonly CycleEvent[] }> {
  const events: CycleEvent[] = [];
  const emit: Emit = (event) => events.push(event);
  await using session = await place.memory(asking(["c1", tool, JSON.stringify(input)]), {
    settings: FREE,
    emit,
    ...options,
  });
  const stop = await session.execute("c1");
  return {
    text: session.chat.result("c1")?.content ?? "",
    reason: stop.problem?.message ?? stop.reason,
    events,
  };
}

Deno.test("a tool file in the style of the published example runs unchanged", async () => {
  await inPlace(async (place) => {
    userTool(
      place,
      "search_notes.ts",
      `import type { ToolContext, ToolExecutionResult } from "@vellumai/plugin-api";
export default {
  description: "Search saved notes for a phrase.",
  defaultRiskLevel: "low" as const,
  input_schema: {
    type: "object",
    properties: { query: { type: "string", description: "Text to search for." } },
    required: ["query"],
  },
  async execute(input: Record<string, unknown>, ctx: ToolContext): Promise<ToolExecutionResult> {
    const query = String((input as { query?: unknown }).query ?? "").trim();
    if (query.length === 0) return { content: "error: query must be non-empty", isError: true };
    console.log("this goes nowhere near the result");
    return { content: \`searched \${ctx.conversationId.length > 0} for \${query}\`, isError: false };
  },
};
`,
    );
    const { text, reason } = await called(place, "search_notes", { query: "milk" });
    assert.deepEqual([text, reason], ["searched true for milk", "stepped"]);
    const failed = await called(place, "search_notes", { query: " " });
    assert.match(failed.text, /error: query must be non-empty/);
    const invalid = await called(place, "search_notes", {});
    assert.match(invalid.text, /\/query: is missing/);
  });
});

Deno.test(
  "a tool file of a superuser who keeps privileges runs, and the runtime still refuses what the policy forbids",
  {
    ignore: Deno.uid() !== 0,
  },
  () =>
    inPlace(async (place) => {
      place.settings(`sandbox:\n  policy:\n    allow_privileged: true\n    rw_paths: ["urn:flemma:cwd"]\n`);
      userTool(
        place,
        "writes.ts",
        `export default {
  input_schema: { type: "object", properties: { path: { type: "string" } } },
  execute: (input: { path: string }) => {
    Deno.writeTextFileSync(input.path, "x");
    return { content: "written" };
  },
};
`,
      );
      assert.equal(
        (await called(place, "writes", { path: `${place.environment.cwd}/inside` })).text,
        "written",
      );
      assert.match((await called(place, "writes", { path: "/etc/flemma-outside" })).text, /write access/);
    }),
);

Deno.test("a tool file finds its own modules as in the program that it is written for, and runs without what only that program has", async () => {
  await inPlace(async (place) => {
    const src = `${place.folder}/config/flemma/src/words`;
    Deno.mkdirSync(src, { recursive: true });
    Deno.writeTextFileSync(`${src}/../first.ts`, `export const first: string = "first";\n`);
    Deno.writeTextFileSync(
      `${src}/index.ts`,
      `import { RiskLevel, HOOKS as hooks } from "@vellumai/plugin-api";
export { getSecureKeyAsync } from "@vellumai/plugin-api";
import { first } from "../first.js";
export const words: string = [first, RiskLevel.Low].join();
export const hook = hooks.STOP;
`,
    );
    userTool(
      place,
      "published.ts",
      `import { first } from "../src/first";
import { getSecureKeyAsync, hook, words } from "../src/words";
import { ToolContext, assistantEventHub /* the hub */, type Message } from "@vellumai/plugin-api";
const { subscribe } = assistantEventHub;
class Hub extends assistantEventHub {}
export default {
  input_schema: { type: "object", properties: { what: { type: "string" } } },
  async execute({ what }: { what?: string }, ctx: ToolContext) {
    if (what === "key") await getSecureKeyAsync("token");
    if (what === "hub") subscribe({});
    if (what === "new") new Hub();
    if (what === "set") assistantEventHub.own = 1;
    return { content: [first, words, typeof hook].join(" "), isError: false };
  },
};
`,
    );
    const { text, events } = await called(place, "published");
    assert.equal(text, "first first,low function", JSON.stringify(events));
    for (
      const [what, name] of [["key", "getSecureKeyAsync"], ["hub", "assistantEventHub.subscribe"], [
        "new",
        "assistantEventHub",
      ], ["set", "assistantEventHub"]]
    ) {
      const refused = await called(place, "published", { what });
      assert.ok(
        refused.text.includes(`${name} of @vellumai/plugin-api does not exist in flemma`),
        refused.text,
      );
    }
  });
});

/** A tool file whose `execute` is this body. */
function file(body: string, members = ""): string {
  return `export default {\n  ${members}\n  async execute(input, ctx) {\n${body}\n  },\n};\n`;
}

Deno.test("output, processes and leftover files of a tool do not disturb any result", async () => {
  await inPlace(async (place) => {
    userTool(
      place,
      "noisy.ts",
      file(`
    console.log("line"); console.info({ a: 1 });
    Deno.stdout.writeSync(new TextEncoder().encode("half a line"));
    process.stdout.write("node's way\\n");
    await new Deno.Command("sh", { args: ["-c", "echo from a child"], stdout: "inherit" }).spawn().status;
    setInterval(() => {}, 1000);
    void Promise.reject(new Error("nobody waits"));
    await new Promise((resolve) => setTimeout(resolve, 1));
    return { content: "clean" };`),
    );
    assert.equal((await called(place, "noisy")).text, "clean");
  });
});

Deno.test("the tool context has every published member, and the members that flemma adds", async () => {
  await inPlace(async (place) => {
    userTool(
      place,
      "facts.ts",
      file(
        `
    const plain = Object.fromEntries(Object.entries(ctx).filter(([, value]) => typeof value !== "function" && typeof value !== "object"));
    return {
      content: JSON.stringify({
        plain,
        signal: ctx.signal instanceof AbortSignal && !ctx.signal.aborted,
        allowed: ctx.allowedToolNames instanceof Set && ctx.allowedToolNames.has("bash"),
        functions: Object.entries(ctx).filter(([, value]) => typeof value === "function").map(([name]) => name).sort(),
        absent: ["assistantId", "taskRunId", "skillId", "principal", "callSessionId", "transportInterface", "requestSecret"]
          .filter((name) => ctx[name] !== undefined),
        resolved: [ctx.path.resolve("a/../b"), ctx.path.resolve("~/x")],
        writable: [ctx.sandbox.isPathWritable(ctx.cwd + "/new/file"), ctx.sandbox.is_path_writable("/etc/passwd")],
        wrapped: await ctx.sandbox.wrapCommand(["true"]),
        cut: [ctx.truncate.truncateHead("a\\nb\\nc", { maxLines: 1 }).content, ctx.truncate.format_size(12345), ctx.truncate.MAX_LINES],
        config: [ctx.getConfig(), ctx.get_config()],
        same: ctx.env.HOME === Deno.env.get("HOME"),
      }),
    };`,
        `config_schema: { type: "object", properties: { word: { default: "moin" } } },`,
      ),
    );
    place.write("a.chat", "");
    const { text } = await called(place, "facts", {}, { path: "a.chat" });
    const found = JSON.parse(text);
    const { conversationId, requestId, ...plain } = found.plain;
    assert.match(conversationId, /^[0-9a-f]{64}$/);
    assert.match(requestId, /^[0-9a-f-]{36}$/);
    const home = place.environment.home;
    assert.deepEqual(plain, {
      forcePromptSideEffects: false,
      requireFreshApproval: false,
      isPlatformHosted: false,
      diskPressureCleanupModeActive: false,
      triggeredBySurfaceAction: false,
      batchAuthorizedByTask: false,
      workingDir: place.path("").slice(0, -1),
      isInteractive: false,
      toolUseId: "c1",
      trustClass: "guardian",
      approvedViaPrompt: false,
      executionChannel: "cli",
      document: place.path("a.chat"),
      filename: place.path("a.chat"),
      dirname: place.path("").slice(0, -1),
      __filename: place.path("a.chat"),
      __dirname: place.path("").slice(0, -1),
      cwd: place.path("").slice(0, -1),
      timeout: 30,
      toolId: "c1",
      tool_id: "c1",
    });
    const { plain: _plain, ...rest } = found;
    assert.deepEqual(rest, {
      signal: true,
      allowed: true,
      functions: ["getConfig", "get_config", "onOutput", "sendToClient"],
      absent: [],
      resolved: [place.path("b"), `${home}/x`],
      writable: [true, false],
      wrapped: { ok: true, argv: ["true"] },
      cut: ["a", "12.1KB", 2000],
      config: [{ word: "moin" }, { word: "moin" }],
      same: true,
    });
  });
});

const BROKEN: readonly (readonly [name: string, code: string, cause: RegExp])[] = [
  ["cannot be parsed", "export default {", /cannot be loaded/],
  ["throws at its top", `throw new Error("at the top"); export default {};`, /at the top/],
  ["imports a module that does not exist", `import "./nowhere.ts"; export default {};`, /nowhere\.ts/],
  ["has no default export", "export const tool = {};", /no default export/],
  ["exports a function", "export default () => {};", /not an object/],
  ["exports null", "export default null;", /not an object/],
  ["has a bad name", `export default { name: "a b" };`, /"a b"/],
  ["has an invalid schema", `export default { input_schema: { type: "nothing" } };`, /schema/],
  ["has a schema that is a string", `export default { input_schema: "x" };`, /input_schema is not an object/],
  [
    "has a schema that cannot be serialized",
    `const s = {}; s.s = s; export default { input_schema: s };`,
    /input_schema is not an object/,
  ],
  ["has an execute that is not a function", `export default { execute: 1 };`, /execute is not a function/],
  ["ends its process", "Deno.exit(3);", /exit code 3/],
];

Deno.test("a broken tool file affects only its own tool: one warning names the cause, and a call of the tool returns the same text", async () => {
  await inPlace(async (place) => {
    for (const [at, [, code]] of BROKEN.entries()) userTool(place, `broken_${at}.js`, code);
    userTool(place, "well.js", file(`return { content: "well" };`));
    const { text, events } = await called(place, "well");
    assert.equal(text, "well");
    const warnings = events.flatMap((event) => event.event === "notice" ? [event.message] : []);
    for (const [at, [name, , cause]] of BROKEN.entries()) {
      const about = warnings.filter((message) => message.includes(`broken_${at}.js`));
      assert.equal(about.length, 1, name);
      assert.match(about[0]!, cause, name);
    }
    assert.match((await called(place, "broken_1")).text, /broken_1\.js is broken: .*at the top/);
  });
});

Deno.test("a tool file with export default {} or only a JSON definition is offered, and calling it reports a missing implementation", async () => {
  await inPlace(async (place) => {
    userTool(place, "empty.ts", "export default {};");
    userTool(
      place,
      "data.json",
      JSON.stringify({ description: "d", input_schema: { type: "object" }, execute: "x" }),
    );
    for (const name of ["empty", "data"]) {
      assert.match((await called(place, name)).text, new RegExp(`The tool ${name} has no implementation`));
    }
    assert.match((await called(place, "empty", { a: 1 })).text, /\/a: is not a parameter of this tool/);
  });
});

Deno.test("status, yieldToUser, errors, data and additional texts of a result have their documented effects", async () => {
  await inPlace(async (place) => {
    userTool(
      place,
      "answers.ts",
      file(
        `
    const answers = {
      status: { content: "c", status: "all well" },
      yield: { content: "c", yieldToUser: true },
      error: { content: "went wrong", isError: true },
      empty: { content: "" },
      data: { content: { a: [1] } },
      blocks: { content: "c", contentBlocks: [{ type: "text", text: "more" }, { type: "odd" }] },
      image: { content: "a picture", contentBlocks: [{ type: "image", source: { type: "base64", media_type: "image/png", data: "aGVsbG8=" } }] },
      thrown: null,
      nothing: undefined,
      words: "only words",
      list: ["a"],
    };
    if (input.what === "thrown") throw new Error("thrown by the tool");
    return answers[input.what];`,
        `input_schema: { type: "object" },`,
      ),
    );
    const whats = [
      "status",
      "empty",
      "error",
      "data",
      "blocks",
      "image",
      "thrown",
      "nothing",
      "words",
      "list",
      "yield",
    ];
    const calls = whats.map((what): [string, string, string] => [what, "answers", JSON.stringify({ what })]);
    const events: CycleEvent[] = [];
    const settings = { overrides: { tools: { require_approval: false, max_concurrent: 0 } } };
    await using session = await place.memory(asking(...calls), {
      settings,
      emit: (event) => events.push(event),
    });
    assert.equal((await session.advance()).reason, "yield");
    const stated = (what: string) => session.chat.result(what)?.content ?? "";
    assert.equal(stated("status"), "c");
    assert.ok(events.some((event) => event.event === "tool:finished" && event.note === "all well"));
    assert.equal(stated("empty"), "");
    assert.equal(stated("error"), "went wrong");
    assert.equal(stated("data"), `{"a":[1]}`);
    assert.equal(stated("blocks"), "c\n\nmore");
    assert.match(stated("image"), /^a picture\n\[image\/png, 5B; saved as \S+\/attachments\/[0-9a-f]{64}\]$/);
    assert.equal(stated("thrown"), "thrown by the tool");
    assert.match(stated("nothing"), /without a result/);
    assert.match(stated("words"), /returned a string instead of \{ content, isError \}/);
    assert.match(stated("list"), /returned a list instead of/);
  });
});

Deno.test("a tool's output appears while the tool runs and is not part of its result", async () => {
  await inPlace(async (place) => {
    userTool(
      place,
      "stream.ts",
      file(`
    for (let at = 0; at < 2000; at++) ctx.onOutput("step " + at + "\\n");
    ctx.sendToClient({ type: "open_url", url: "https://example.org/" });
    return { content: "done" };`),
    );
    const { text, events } = await called(place, "stream");
    assert.equal(text, "done");
    const output = events.flatMap((event) => event.event === "tool:output" ? [event.text] : []).join("");
    assert.ok(output.startsWith("step 0\n") && output.endsWith("step 1999\n"));
    assert.deepEqual(events.filter(({ event }) => event === "tool:message"), [
      { event: "tool:message", id: "c1", content: { type: "open_url", url: "https://example.org/" } },
    ]);
  });
});

Deno.test("a long result of a tool file is shortened like that of any other tool", async () => {
  await inPlace(async (place) => {
    userTool(place, "long.ts", file(`return { content: "line\\n".repeat(5000) };`));
    const { text } = await called(place, "long");
    assert.ok(text.split("\n").length < 2010);
    assert.match(text.slice(-400), /5000|5001/);
  });
});

/** MiB of what a tool says: more than one message may have. */
const MUCH = 96;

for (
  const [what, body, expected] of [
    [
      "answers with",
      `return { content: block.repeat(count), contentBlocks: [{ type: "text", text: "the end" }], status: "said" };`,
      /^\[Nothing shown: line 1 is longer than the limit of 50\.0KB \(96\.0MB\)\. First 1\.0MB of the output: \S+\]$/,
    ],
    [
      "throws",
      `throw new Error("line\\n" + block.repeat(count));`,
      /^line\n\n\[Showing lines 1-1 of 2 \(limit 50\.0KB\)\. First 1\.0MB of the output: \S+\]$/,
    ],
    [
      "has shortened",
      `return { content: await ctx.truncate.truncateWithOverflow(block.repeat(count) + "\\nend", { direction: "tail" }) };`,
      /^end\n\n\[Showing lines 2-2 of 2 \(limit 50\.0KB\)\. First 1\.0MB of the output: \S+\]$/,
    ],
  ] as const
) {
  Deno.test(`what a tool ${what} may be larger than one message, and is never completely in memory`, async () => {
    await inPlace(async (place) => {
      userTool(
        place,
        "much.ts",
        file(`const block = "x".repeat(1024 * 1024); const count = ${MUCH};\n${body}`),
      );
      const settings = {
        overrides: { tools: { require_approval: false, truncate: { max_file_size: 1024 * 1024 } } },
      };
      const { text } = await called(place, "much", {}, { settings });
      assert.match(text, expected);
      const path = /output: (\S+)\]$/.exec(text)![1]!;
      assert.equal((await Deno.stat(path)).size, 1024 * 1024);
    });
  });
}

Deno.test("the output of a running tool may be larger than one message of the tool process", async () => {
  await inPlace(async (place) => {
    userTool(
      place,
      "much.ts",
      file(`ctx.onOutput("x".repeat(${MUCH} * 1024 * 1024)); return { content: "done" };`),
    );
    let heard = 0;
    const emit: Emit = (event) => {
      if (event.event === "tool:output") heard += event.text.length;
    };
    const { text } = await called(place, "much", {}, { emit });
    assert.deepEqual([text, heard], ["done", MUCH * 1024 * 1024]);
  });
});

for (
  const [what, body] of [
    [
      "listens to its signal",
      `await new Promise((resolve) => { ctx.signal.addEventListener("abort", resolve); ctx.onOutput("begun"); }); return { content: "tidied up" };`,
    ],
    ["does not listen", `ctx.onOutput("begun"); await new Promise(() => setInterval(() => {}, 1000));`],
    [
      "never lets go",
      `ctx.onOutput("begun"); await new Promise((resolve) => setTimeout(resolve, 50)); for (;;);`,
    ],
  ] as const
) {
  Deno.test(`cancelling ends a tool that ${what}, no process of it remains, and the next call works`, async () => {
    await inPlace(async (place) => {
      userTool(
        place,
        "slow.ts",
        file(`if (input.quick) return { content: "quick" };\n${body}`, `input_schema: { type: "object" },`),
      );
      const begun = Promise.withResolvers<void>();
      const emit: Emit = (event) => event.event === "tool:output" && begun.resolve();
      const text = asking(["c1", "slow"]) + "\n" +
        `**Tool Use:** \`slow\` (\`c2\`)\n\n\`\`\`json\n{"quick":true}\n\`\`\`\n`;
      await using session = await place.memory(text, { settings: FREE, emit });
      const stop = session.execute("c1");
      await begun.promise;
      assert.equal(session.cancelCall("c1"), true);
      await stop;
      assert.match(session.chat.result("c1")?.content ?? "", /stopped/i);
      await session.execute("c2");
      assert.equal(session.chat.result("c2")?.content, "quick");
    });
  });
}

Deno.test("a tool that exceeds its time limit is ended, and the result says so", async () => {
  await inPlace(async (place) => {
    userTool(place, "slow.ts", file(`await new Promise(() => setInterval(() => {}, 1000));`));
    const { text } = await called(place, "slow", {}, {
      settings: { overrides: { tools: { require_approval: false, file_timeout: 1 } } },
    });
    assert.match(text, /timed out after 1 second\./);
  });
});

Deno.test("a sandboxed tool writes only where policy allows, and keeps its data in its storage folder", async () => {
  await inPlace(async (place) => {
    userTool(
      place,
      "writes.ts",
      file(`
    const storage = Deno.env.get("VELLUM_WORKSPACE_DIR");
    const tried = {};
    for (const path of [ctx.cwd + "/here", storage + "/kept", Deno.env.get("XDG_STATE_HOME") + "/flemma/state", "/etc/flemma-test"]) {
      try { Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true }); Deno.writeTextFileSync(path, "x"); tried[path] = true; } catch { tried[path] = false; }
    }
    return { content: JSON.stringify(Object.values(tried)) };`),
    );
    // A default path that is missing is not made, so the folder for data has to be there.
    await Deno.mkdir(`${place.environment.home}/.local/share`, { recursive: true });
    const { text } = await called(place, "writes");
    assert.equal(text, "[true,true,false,false]");
  });
});

Deno.test("a tool file marked for the host runs with the person's rights, outside the sandbox", async () => {
  await inPlace(async (place) => {
    userTool(
      place,
      "host_writes.ts",
      file(
        `
    Deno.mkdirSync(Deno.env.get("XDG_STATE_HOME") + "/elsewhere", { recursive: true });
    const wrapped = await ctx.sandbox.wrapCommand(["true"]);
    return { content: String(wrapped.ok && wrapped.argv.length > 1) };`,
        `capabilities: ["can_auto_approve_if_sandboxed"],`,
      ),
    );
    const { text } = await called(place, "host_writes");
    assert.equal(text, "true");
    assert.equal(Deno.statSync(`${place.folder}/state/elsewhere`).isDirectory, true);
    await using session = await place.memory(asking(["c1", "host_writes"]));
    await session.advance();
    assert.match(textOf(session), /status=pending/, "no sandbox confines it, so none approves it");
  });
});

Deno.test("processes started by a host tool end when the document is closed, even in a separate process session", async () => {
  await inPlace(async (place) => {
    const seconds = `3600.${Math.floor(Math.random() * 1e9)}`;
    userTool(
      place,
      "host_starts.ts",
      file(
        `
    await new Deno.Command("sh", { args: ["-c", "setsid sleep ${seconds} >/dev/null 2>&1 & echo"] }).output();
    const { code } = await new Deno.Command("pgrep", { args: ["-f", "^sleep ${seconds}$"] }).output();
    return { content: String(code) };`,
      ),
    );
    const { text } = await called(place, "host_starts");
    assert.equal(text, "0", "it runs while the tool does");
    const { code } = await new Deno.Command("pgrep", { args: ["-f", `^sleep ${seconds}$`] }).output();
    assert.equal(code, 1);
  });
});

Deno.test("if a tool needs a secret and a person can be asked, flemma asks for the secret and does not store it", async () => {
  await inPlace(async (place) => {
    userTool(
      place,
      "secret.ts",
      file(`
    if (!ctx.requestSecret) return { content: "nobody to ask" };
    const { value, delivery, reason } = await ctx.requestSecret({ label: "The key of the shop" });
    return { content: [value === null ? "none" : value.length, delivery, reason].join(" ") };`),
    );
    assert.equal((await called(place, "secret")).text, "nobody to ask");
    const asked: string[] = [];
    const askSecret = (question: string) => {
      asked.push(question);
      return Promise.resolve("s3cr3t-value");
    };
    assert.equal((await called(place, "secret", {}, { askSecret })).text, "12 transient_send ");
    assert.deepEqual(asked, ["The key of the shop"]);
    const cancelled = await called(place, "secret", {}, { askSecret: () => Promise.resolve(null) });
    assert.equal(cancelled.text, "none transient_send cancelled");
    for (const [path, content] of Object.entries(await place.files("state"))) {
      assert.ok(!content.includes("s3cr3t-value"), path);
    }
  });
});

Deno.test("if tool files share a name, a warning says which is used: that of the earlier folder, else code before data, else .js before .ts", async () => {
  await inPlace(async (place) => {
    const says = (text: string) => file(`return { content: ${JSON.stringify(text)} };`);
    const dir = `${place.folder}/place/more`;
    Deno.mkdirSync(dir);
    Deno.writeTextFileSync(`${dir}/twice.ts`, says("from the setting"));
    userTool(place, "twice.ts", says("from the person's folder"));
    userTool(place, "both.ts", says("ts"));
    userTool(place, "both.js", says("js"));
    userTool(place, "bash.ts", says("not bash"));
    userTool(place, "ls.removed", "");
    userTool(place, "_notes.ts", "no tool");
    userTool(place, "x.test.ts", "no tool");
    userTool(
      place,
      "named.ts",
      `export default { name: "other-name", execute: () => ({ content: "named" }) };`,
    );
    const settings = { overrides: { tools: { require_approval: false, dirs: [dir] } } };
    const stated = async (tool: string, input = {}) => await called(place, tool, input, { settings });
    const first = await stated("twice");
    assert.equal(first.text, "from the setting");
    const reported = first.events.flatMap((event) =>
      event.event === "notice" && event.code === "tool-file" ? [event.message] : []
    ).join("\n");
    assert.match(reported, /flemma\/tools\/twice\.ts is not used.*more\/twice\.ts/);
    assert.match(reported, /both\.ts is not used, because both\.js exists/);
    assert.match(reported, /bash\.ts is not used.*tools\.override/);
    assert.equal(reported.split("\n").length, 3, reported);
    assert.equal((await stated("both")).text, "js");
    assert.equal((await stated("other-name")).text, "named");
    assert.match((await stated("named")).reason, /no tool named named/);
    assert.match((await stated("ls", { path: ".", label: "l" })).reason, /no tool named ls/);
    const replaced = { overrides: { tools: { require_approval: false, override: ["bash"] } } };
    assert.equal((await called(place, "bash", {}, { settings: replaced })).text, "not bash");
  });
});

Deno.test("a project's tool files are used only in the trusted version: not before trust, and not after a change", async () => {
  await inPlace(async (place) => {
    const folder = `${place.folder}/place/.flemma/tools`;
    Deno.mkdirSync(folder, { recursive: true });
    Deno.writeTextFileSync(`${folder}/deploy.ts`, file(`return { content: "deployed" };`));
    const before = await called(place, "deploy");
    assert.match(before.reason, /may come from the tool files of .*\.flemma\/tools/);
    assert.match(
      before.events.map((event) => event.event === "notice" ? event.message : "").join(),
      /flemma trust/,
    );
    const names = await filesIn(folder);
    assert.ok(names.ok);
    assert.ok((await trustFiles(place.environment, folder, names.value)).ok);
    assert.equal((await called(place, "deploy")).text, "deployed");
    Deno.writeTextFileSync(`${folder}/helper.ts`, "export const x = 1;");
    assert.match((await called(place, "deploy")).reason, /may come from/, "a file more");
    Deno.removeSync(`${folder}/helper.ts`);
    Deno.writeTextFileSync(`${folder}/deploy.ts`, file(`return { content: "changed" };`));
    assert.match((await called(place, "deploy")).reason, /may come from/, "another text");
  });
});

Deno.test("flemma reads the definition in a tool file again only if the content of the file changed", async () => {
  await inPlace(async (place) => {
    userTool(place, "plain.ts", file(`return { content: "ran" };`, `description: "first",`));
    assert.equal((await called(place, "plain")).text, "ran");
    const kept = `${place.folder}/state/flemma/tool_files.json`;
    const before = Deno.readTextFileSync(kept);
    assert.match(before, /"first"/);
    await called(place, "plain");
    assert.equal(Deno.readTextFileSync(kept), before);
    userTool(place, "plain.ts", file(`return { content: "ran" };`, `description: "second",`));
    await called(place, "plain");
    assert.match(Deno.readTextFileSync(kept), /"second"/);
  });
});

Deno.test("tools of categories that are not selected, or without a category, are not offered but can still be called", async () => {
  await inPlace(async (place) => {
    userTool(place, "wanted.ts", file(`return { content: "w" };`, `category: "notes",`));
    userTool(place, "other.ts", file(`return { content: "o" };`, `category: "shop",`));
    userTool(
      place,
      "none.ts",
      file(`return { content: [...ctx.allowedToolNames].filter((name) => name.length > 4).join() };`),
    );
    const settings = { overrides: { tools: { require_approval: false, allowed_categories: ["notes"] } } };
    const { text } = await called(place, "none", {}, { settings });
    assert.ok(text.includes("wanted") && !text.includes("other") && text.includes("write"), text);
  });
});

Deno.test("if one of two parallel calls in a shared host process ends the process, the other call also becomes an error", async () => {
  await inPlace(async (place) => {
    userTool(
      place,
      "waits.ts",
      file(`ctx.onOutput("begun"); await new Promise(() => setInterval(() => {}, 1000));`),
    );
    userTool(place, "exits.ts", file(`Deno.exit(7);`));
    const text = asking(["c1", "waits"], ["c2", "exits"]);
    await using session = await place.memory(text, {
      settings: { overrides: { tools: { require_approval: false, autopilot: false } } },
    });
    await session.advance();
    for (const id of ["c1", "c2"]) assert.match(session.chat.result(id)?.content ?? "", /exit code 7/, id);
  });
});

Deno.test("flemma uses the text for prompts in a tool file, and reports and ignores the function format_preview", async () => {
  await inPlace(async (place) => {
    const says =
      `personalities: { "coding-assistant": { snippet: "looks up tides", guidelines: ["Ask for a place."] } },`;
    userTool(
      place,
      "tides.ts",
      file(`return { content: "high" };`, `${says} format_preview: () => "all is well",`),
    );
    userTool(place, "wrong.ts", file(`return { content: "ran" };`, `personalities: { a: "b" },`));
    const warned: string[] = [];
    await using session = await place.memory(
      '@System:\n{{ include("urn:flemma:personality:coding-assistant") }}\n\n@You:\nHello.\n',
      { emit: (event) => event.event === "notice" && warned.push(event.message) },
    );
    const prepared = await session.request();
    assert.ok(prepared.kind === "ready");
    const system: string = JSON.parse(prepared.request.body).system[0].text;
    assert.match(system, /- tides: looks up tides\n/);
    assert.match(system, /- Ask for a place\.\n/);
    assert.equal(warned.filter((text) => /tides\.ts.*format_preview is ignored/.test(text)).length, 1);
    assert.equal(
      warned.filter((text) => /wrong\.ts: its personalities has the wrong type/.test(text)).length,
      1,
    );
    assert.equal((await called(place, "wrong")).text, "ran");
    await using asked = await place.memory(asking(["c1", "tides"]));
    await asked.advance();
    assert.deepEqual((await asked.calls()).map(({ preview }) => preview), ["tides"]);
  });
});

for (const enabled of [true, false]) {
  Deno.test(
    `a tool fetches a web page only where policy allows the network, ${
      enabled ? "in the sandbox" : "without one"
    }`,
    async () => {
      await inPlace(async (place) => {
        await using server = Deno.serve(
          { port: 0, hostname: "127.0.0.1", onListen() {} },
          () => new Response("<h1>High water</h1>"),
        );
        userTool(
          place,
          "fetch_page.ts",
          file(
            `
    const response = await fetch(input.url, { signal: ctx.signal });
    return { content: (await response.text()).replace(/<[^>]*>/g, ""), status: String(response.status) };`,
            `description: "Fetch a page as text.", input_schema: { type: "object", properties: { url: { type: "string" } } },`,
          ),
        );
        const url = `http://127.0.0.1:${server.addr.port}/`;
        const fetched = async (network: boolean) => {
          const overrides = { tools: { require_approval: false }, sandbox: { enabled, policy: { network } } };
          return await called(place, "fetch_page", { url }, { settings: { overrides } });
        };
        const allowed = await fetched(true);
        assert.equal(allowed.text, "High water");
        assert.ok(allowed.events.some((event) => event.event === "tool:finished" && event.note === "200"));
        assert.match((await fetched(false)).text, /net access|NotCapable|not allowed/i);
      });
    },
  );
}
