import assert from "node:assert/strict";
import * as flemma from "../../advanced.ts";

Deno.test("the library reads a document and its calls without a file system or Deno", () => {
  const text = '@Assistant:\n**Tool Use:** `read` (`r1`)\n\n```json\n{"path":"a"}\n```\n';
  const chat = flemma.parse(new TextEncoder().encode(text));
  assert.deepEqual(chat.calls.map(({ id, name, input }) => ({ id, name, input })), [
    { id: "r1", name: "read", input: { path: "a" } },
  ]);
});

Deno.test("the functions of the process's sandbox work under both spellings of their names", () => {
  assert.equal(flemma.sandbox.isEnabled(), true);
  assert.equal(flemma.sandbox.isPathWritable("/etc/passwd", null), false);
  assert.equal(
    flemma.sandbox.is_path_writable("/tmp/x", null),
    flemma.sandbox.isPathWritable("/tmp/x", null),
  );
  flemma.sandbox.setEnabled(false);
  try {
    assert.equal(flemma.sandbox.is_enabled(), false);
    assert.equal(flemma.sandbox.getOverride(), false);
  } finally {
    flemma.sandbox.resetEnabled();
  }
  assert.equal(flemma.sandbox.isEnabled(), true);
});

Deno.test("a program that uses the library can register its own sandbox backend, which then wraps commands", async () => {
  const name = "library-test";
  flemma.sandbox.register(name, {
    priority: 1,
    available: () => flemma.success(undefined),
    probe: () => Promise.resolve(flemma.success(undefined)),
    wrap: (_policy, _config, inner) => flemma.success(["/usr/bin/env", ...inner]),
  });
  try {
    const sandbox = flemma.createSandboxApi<string>({
      settings: () => ({ ...flemma.DEFAULT_SETTINGS.sandbox, backend: name }),
      path: (document) => document,
      environment: flemma.processEnvironment(),
      registry: flemma.backends,
    });
    const wrapped = await sandbox.wrapCommand(["true"], null);
    assert.ok(wrapped.ok, wrapped.ok ? "" : wrapped.error);
    assert.deepEqual(wrapped.argv, ["/usr/bin/env", "true"]);
    await wrapped.dispose();
  } finally {
    assert.ok(flemma.sandbox.unregister(name));
  }
});

Deno.test("an unknown option, also in settings, is refused with the name that was meant", async () => {
  const bytes = new TextEncoder().encode("@You:\n");
  const refused = async (options: object) => {
    const opened = await flemma.chatInMemory(bytes, options);
    return opened.ok ? "opened" : `${opened.problem.code}: ${opened.problem.message} ${opened.problem.next}`;
  };
  assert.match(await refused({ resolver: [] }), /^options-invalid: .*"resolver".*Did you mean resolvers\?$/);
  assert.match(
    await refused({ settings: { tools: { auto_approve: [] } } }),
    /^options-invalid: .*no member "tools".*settings\.overrides\.$/,
  );
  const file = await flemma.openChat("missing.chat", { readonly: true } as object);
  assert.equal(file.ok || file.problem.code, "options-invalid");
  const loaded = await flemma.loadSettings(
    { environment: flemma.processEnvironment(), overide: {} } as never,
  );
  assert.equal(loaded.ok || loaded.problem.code, "options-invalid");
});
