import assert from "node:assert/strict";
import type { ExecutionResult, ToolDefinition } from "../../tools/definition.ts";
import { NO_RESULT, notExecutable, STOPPED } from "../../tools/definition.ts";
import { runTool } from "../../tools/run.ts";
import { inScene } from "./scene.ts";

type Execute = NonNullable<ToolDefinition["execute"]>;

async function run(
  execute: Execute | undefined,
  members: Partial<ToolDefinition> = {},
  signal?: AbortSignal,
): Promise<ExecutionResult> {
  const definition = { name: "t", description: "", input_schema: { type: "object" }, execute, ...members };
  let result: ExecutionResult | undefined;
  await inScene(async (place) => {
    result = await runTool(definition, { a: 1 }, place.context(definition, { signal }));
  });
  assert.ok(result !== undefined);
  return result;
}

const fine = { success: true, output: "fine" };
const async = { async: true };

Deno.test("a tool may return its result, return a promise of it, or pass it to the callback", async () => {
  assert.deepEqual(await run(() => fine), fine);
  assert.deepEqual(await run(() => Promise.resolve(fine)), fine);
  assert.deepEqual(
    await run((_input, _context, callback) => void queueMicrotask(() => callback(fine)), async),
    fine,
  );
  assert.deepEqual(await run(() => Promise.resolve(fine), async), fine);
  assert.deepEqual(
    await run((_input, _context, callback) => {
      callback(fine);
    }),
    fine,
  );
});

Deno.test("an asynchronous function that uses the callback resolves with undefined first, and this does not count as its result", async () => {
  const execute: Execute = async (_input, _context, callback) => {
    await Promise.resolve();
    queueMicrotask(() => queueMicrotask(() => callback(fine)));
  };
  assert.deepEqual(await run(execute, async), fine);
});

Deno.test("if the error of a tool is not a string, the error is converted to a string", async () => {
  const given = (error: unknown): Execute => () => ({ success: false, error }) as ExecutionResult;
  assert.deepEqual(await run(given(new Error("late"))), { success: false, error: "late" });
  assert.deepEqual(await run(given({ code: 7 })), { success: false, error: '{"code":7}' });
  assert.deepEqual(await run(given(null)), { success: false });
});

Deno.test("if a tool gives several results, the first is used and later ones are ignored", async () => {
  const twice: Execute = (_input, _context, callback) => {
    callback(fine);
    callback({ success: false, error: "late" });
    throw new Error("later still");
  };
  assert.deepEqual(await run(twice, async), fine);
});

Deno.test("any value that a tool throws becomes an error with its message on one line", async () => {
  const thrown = (value: unknown): Execute => () => {
    throw value;
  };
  assert.deepEqual(await run(thrown(new Error("kaput\n  at x"))), { success: false, error: "kaput at x" });
  assert.deepEqual(await run(thrown("text")), { success: false, error: "text" });
  assert.match((await run(thrown(new Error("")))).error ?? "", /failed/);
  assert.deepEqual(await run(() => Promise.reject(new Error("no"))), { success: false, error: "no" });
});

Deno.test("if a tool returns nothing, or something that is not an object, a missing result is reported", async () => {
  for (const value of [undefined, null, "text", 1, [fine]]) {
    const result = await run((() => value) as unknown as Execute);
    assert.deepEqual(result, { success: false, error: NO_RESULT }, String(value));
  }
  assert.deepEqual(await run(() => Promise.resolve(), async), { success: false, error: NO_RESULT });
});

Deno.test("a result whose success is not true is a failure, and its other fields are kept", async () => {
  const odd = { success: 1, error: "e", yieldToUser: true } as unknown as ExecutionResult;
  assert.deepEqual(await run(() => odd), { success: false, error: "e", yieldToUser: true });
});

Deno.test("calling a tool that is only a definition gives an error that names the tool", async () => {
  assert.deepEqual(await run(undefined), { success: false, error: notExecutable("t") });
  assert.deepEqual(await run(() => fine, { executable: false }), {
    success: false,
    error: notExecutable("t"),
  });
});

Deno.test("error messages of tools fit into a fence of three backticks", () => {
  for (const sentence of [NO_RESULT, STOPPED, notExecutable("bash")]) assert.doesNotMatch(sentence, /[`\n]/);
});

Deno.test("aborting a call runs its cancel function, ignores errors of that function, and ends the call", async () => {
  const controller = new AbortController();
  let cancelled = 0;
  const running = run(
    () => {
      queueMicrotask(() => controller.abort());
      return () => {
        cancelled++;
        throw new Error("ignored");
      };
    },
    async,
    controller.signal,
  );
  assert.deepEqual(await running, { success: false, error: STOPPED });
  assert.equal(cancelled, 1);
});

Deno.test("if a tool provides its cancel function after the abort, the function is still called", async () => {
  const controller = new AbortController();
  let cancelled = false;
  const execute: Execute = () => {
    controller.abort();
    return () => {
      cancelled = true;
    };
  };
  assert.deepEqual(await run(execute, async, controller.signal), { success: false, error: STOPPED });
  assert.equal(cancelled, true);
});

Deno.test("a tool that watches the abort signal may finish its work properly", async () => {
  const controller = new AbortController();
  const execute: Execute = (_input, context) =>
    new Promise((resolve) => {
      context.signal.addEventListener("abort", () => resolve({ success: false, error: "cleaned up" }));
      queueMicrotask(() => controller.abort());
    });
  assert.deepEqual(await run(execute, async, controller.signal), { success: false, error: "cleaned up" });
});

Deno.test("a call that is stopped before its start does not start", async () => {
  let began = false;
  const result = await run(
    () => {
      began = true;
      return fine;
    },
    {},
    AbortSignal.abort(),
  );
  assert.deepEqual(result, { success: false, error: STOPPED });
  assert.equal(began, false);
});
