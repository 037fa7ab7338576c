import assert from "node:assert/strict";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import { failure, success } from "../../base/problem.ts";
import { builtinTools } from "../../tools/builtin/mod.ts";
import type { ToolDefinition } from "../../tools/definition.ts";
import { runTool } from "../../tools/run.ts";
import { openSandbox, testInScene as test } from "./scene.ts";

const plain: ToolDefinition = { name: "t", description: "", input_schema: { type: "object" } };
const bash = builtinTools().find(({ name }) => name === "bash")!;

function named(settings: Record<string, Record<string, unknown>>) {
  return { tools: { ...DEFAULT_SETTINGS.tools, named: settings } };
}

test("a tool's context contains the path of the document, or null if the document has none", (place) => {
  const context = place.context(plain);
  assert.deepEqual([context.document, context.filename, context.__filename], Array(3).fill(place.document));
  assert.deepEqual([context.dirname, context.__dirname], Array(2).fill(place.folder));
  assert.equal(context.timeout, 30);
  assert.deepEqual([context.toolId, context.tool_id], ["call_1", "call_1"]);
  assert.equal("bufnr" in context, false);
  const unsaved = place.context(plain, { document: null });
  assert.deepEqual(
    [unsaved.document, unsaved.filename, unsaved.dirname, unsaved.__dirname],
    Array(4).fill(null),
  );
  return Promise.resolve();
});

test("path.resolve works only on the text of a path, relative to the document's folder", async (place) => {
  await Deno.symlink("/etc", place.path("link"));
  const { resolve } = place.context(plain).path;
  assert.equal(resolve("a/b"), place.path("a/b"));
  assert.equal(resolve("./a//b/../c/"), place.path("a/c"));
  assert.equal(resolve("link/../x"), place.path("x"));
  assert.equal(resolve("/a//b/./../c/"), "/a/c");
  assert.equal(resolve("/../.."), "/");
  assert.equal(resolve("~"), place.path("home"));
  assert.equal(resolve("~/x"), place.path("home/x"));
  assert.equal(resolve("~user/x"), place.path("~user/x"));
  assert.equal(resolve("$HOME"), place.path("$HOME"));
  assert.throws(() => resolve(""), /empty/);
  const outside = place.context(plain, { document: "/elsewhere/talk.chat" });
  assert.equal(outside.path.resolve("a"), "/elsewhere/a");
  assert.equal(place.context(plain, { document: null }).path.resolve("a"), place.path("a"));
});

test("a tool's cwd is the expanded value of tools.NAME.cwd, or else the folder in which flemma was started", (place) => {
  const cwd = (value: unknown, document?: string | null): string =>
    place.context(plain, { ...named({ t: { cwd: value } }), document }).cwd;
  assert.equal(place.context(plain).cwd, place.folder);
  assert.equal(cwd("/a/../b"), "/b");
  assert.equal(cwd("sub"), place.path("sub"));
  assert.equal(cwd("~/x"), place.path("home/x"));
  assert.equal(cwd("$TMPDIR"), place.path("tmp"));
  assert.equal(cwd("$UNSET"), place.folder);
  assert.equal(cwd("urn:flemma:cwd"), place.folder);
  assert.equal(cwd("urn:flemma:buffer:path", "/tmp/talk.chat"), "/tmp");
  assert.equal(cwd("urn:flemma:buffer:path", null), place.folder);
  assert.throws(() => cwd("urn:other"), /tools\.t\.cwd.*urn:other/);
  return Promise.resolve();
});

test("bash runs in the document's folder, or for an unsaved document in the folder where flemma was started", (place) => {
  assert.equal(place.context(bash, { document: "/tmp/talk.chat" }).cwd, "/tmp");
  assert.equal(place.context(bash, { document: null }).cwd, place.folder);
  assert.equal(place.context(bash, named({ bash: { cwd: "/usr" } })).cwd, "/usr");
  return Promise.resolve();
});

test("getConfig returns a deep copy of the tool's settings merged over its defaults, or null", (place) => {
  assert.equal(place.context(plain).getConfig(), null);
  const settings = { t: { deep: { list: [1] } } };
  const context = place.context(plain, named(settings));
  const { getConfig, get_config } = context;
  (getConfig()?.deep as { list: number[] }).list.push(2);
  assert.deepEqual(get_config(), { deep: { list: [1] } });
  assert.equal(place.context(bash).getConfig()?.shell, "bash");
  assert.equal(place.context(bash, named({ bash: { shell: "dash" } })).getConfig()?.shell, "dash");
  return Promise.resolve();
});

test("the environment for child processes has no provider credentials, and tools.NAME.env is added to it", (place) => {
  const variables = { PATH: "/bin", ANTHROPIC_API_KEY: "secret", SSH_AUTH_SOCK: "/s" };
  const { env } = place.context(bash, {
    ...named({ bash: { env: { EXTRA: "1", ODD: 5 } } }),
    variables,
    sandbox: openSandbox([]),
  });
  assert.equal(env.ANTHROPIC_API_KEY, undefined);
  assert.equal(env.SSH_AUTH_SOCK, undefined);
  assert.deepEqual([env.PATH, env.PAGER, env.EXTRA, env.ODD], ["/bin", "cat", "1", undefined]);
  return Promise.resolve();
});

test("the functions of a context work the same under the plugin's names and under flemma's", async (place) => {
  const { sandbox, truncate } = place.context(plain, { sandbox: openSandbox(["/tmp/x"]) });
  const { is_path_writable, isPathWritable, enabled } = sandbox;
  assert.deepEqual([enabled, is_path_writable("/tmp/x/y"), isPathWritable("/tmp/x/y")], [true, true, true]);
  assert.equal(sandbox.is_path_writable("/tmp/z"), false);
  assert.deepEqual(await sandbox.wrap_command(["a", "b"]), { ok: true, argv: ["a", "b"] });
  assert.deepEqual([truncate.MAX_LINES, truncate.MAX_BYTES, truncate.MAX_LINE_CHARS], [2000, 51200, 500]);
  assert.equal(truncate.truncate_tail("a\nb", { maxLines: 1 }).content, "b");
  assert.equal(truncate.truncate_head("a\nb", { maxLines: 1 }).content, "a");
  assert.equal(truncate.truncate_line("abc", 2), "ab");
  assert.equal(truncate.format_size(12345), "12.1KB");
  const overflowing = await truncate.truncate_with_overflow("a\nb", { direction: "tail", maxLines: 1 });
  assert.match(overflowing, /^b\n\n\[.*\/tmp\/flemma_t_.*talk\.chat_call_1\.txt\]$/);
});

test("when a tool ends, the sandboxed commands that it prepared are released; a refused command is reported as text", async (place) => {
  let disposed = 0;
  const prepared = {
    argv: ["wrapped"],
    wrapped: true,
    start: () => failure("unused", "Nothing is started here."),
    handOut: () => success(undefined),
    setupFailure: () => Promise.resolve(null),
    dispose: () => Promise.resolve(void disposed++),
  };
  const wrapping = { ...openSandbox(), prepare: () => Promise.resolve(success(prepared)) };
  const tool: ToolDefinition = {
    ...plain,
    async execute(_input, context) {
      const { sandbox } = context as ReturnType<typeof place.context>;
      const wrapped = await sandbox.wrapCommand(["x"]);
      assert.equal(disposed, 0);
      return { success: true, output: wrapped };
    },
  };
  const result = await runTool(tool, {}, place.context(tool, { sandbox: wrapping }));
  assert.deepEqual(result.output, { ok: true, argv: ["wrapped"] });
  assert.equal(disposed, 1);
  const problem = { code: "x", message: "No sandbox.", next: "Install it." };
  const refusing = { ...openSandbox(), prepare: () => Promise.resolve({ ok: false as const, problem }) };
  const refused = await place.context(plain, { sandbox: refusing }).sandbox.wrapCommand(["x"]);
  assert.deepEqual(refused, { ok: false, error: "No sandbox. Install it." });
});

test("if a progress listener throws, it is not called again, and the tool continues", (place) => {
  let reported = 0;
  const onOutput = (): void => {
    reported++;
    throw new Error("the screen is gone");
  };
  const context = place.context(plain, { onOutput });
  context.onOutput("a");
  context.onOutput("b");
  assert.equal(reported, 1);
  return Promise.resolve();
});
