// Git that flemma runs for itself: what it answers, when it is ended early, and that nothing of it stays.

import assert from "node:assert/strict";
import { failure, type Outcome, success } from "../../../base/problem.ts";
import { type GitRun, runGit } from "../../../sandbox/run/git.ts";
import type { PreparedCommand, SpawnOptions } from "../../../sandbox/types.ts";
import { withWaitInHand } from "../../waiting.ts";

interface Ending {
  readonly code?: number;
  readonly out?: string;
  readonly err?: string;
  /** Goes on until it is ended. */
  readonly hangs?: boolean;
}

const PROBLEM = { code: "some", message: "It is broken." };

/** A sandbox with a git that ends as given, and what happened to it. */
function sandboxOf({ code = 0, out = "", err = "", hangs = false }: Ending, parts: {
  readonly program?: Outcome<string>;
  readonly prepared?: Outcome<never>;
  readonly wrapped?: boolean;
  readonly started?: Outcome<never>;
} = {}) {
  const happened: string[] = [];
  const given: SpawnOptions[] = [];
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => end = resolve);
  if (!hangs) end();
  const prepared: PreparedCommand = {
    argv: [],
    wrapped: parts.wrapped ?? true,
    start: (options) => {
      given.push(options);
      if (parts.started !== undefined) return parts.started;
      return success({
        pid: 1,
        stdout: new Blob([out]).stream(),
        stderr: new Blob([err]).stream(),
        status: ended.then(() => ({ code: hangs ? 143 : code, signal: null })),
        kill: () => {
          happened.push("killed");
          end();
          return Promise.resolve();
        },
        endGently: () => Promise.resolve(),
      });
    },
    handOut: () => success(undefined),
    setupFailure: () => Promise.resolve(null),
    dispose: () => Promise.resolve(void happened.push("disposed")),
  };
  const sandbox = {
    enabled: true,
    prepare: () => Promise.resolve(parts.prepared ?? success(prepared)),
    host: { program: () => parts.program ?? success("/usr/bin/git") },
  };
  const run = async (more: Partial<GitRun> = {}) => {
    const answer = await runGit(
      sandbox as unknown as Parameters<typeof runGit>[0],
      { cwd: "/", home: "/home", variables: { PATH: "/bin", GIT_DIR: "/elsewhere" } },
      { cwd: "/", args: ["status"], ...more },
    );
    return answer.ok ? new TextDecoder().decode(answer.value) : `failed: ${answer.why}`;
  };
  return { run, happened, given };
}

Deno.test("what git writes is the answer; if it fails, the first line that it complains with, or its exit code", async () => {
  const rows: readonly (readonly [Ending, string])[] = [
    [{ out: "text" }, "text"],
    [{ out: "text", err: "warning" }, "text"],
    [{ code: 128, out: "text", err: "fatal: no.\nmore" }, "failed: fatal: no"],
    [{ code: 128 }, "failed: git ended with exit code 128"],
  ];
  for (const [ending, answer] of rows) {
    const { run, happened } = sandboxOf(ending);
    assert.equal(await run(), answer);
    assert.deepEqual(happened, ["killed", "disposed"], "what git left is ended before the sandbox goes");
  }
});

Deno.test("git does not run without its program or its sandbox, and what was prepared is disposed of", async () => {
  const broken = { ok: false, problem: PROBLEM } as const;
  const rows: readonly (readonly [Parameters<typeof sandboxOf>[1], string, string[]])[] = [
    [{ program: failure("missing", "There is no git.") }, "failed: There is no git.", []],
    [{ prepared: broken }, "failed: It is broken.", []],
    [{ wrapped: false }, "failed: no sandbox works here", ["disposed"]],
    [{ started: broken }, "failed: It is broken.", ["disposed"]],
  ];
  for (const [parts, answer, left] of rows) {
    const { run, happened } = sandboxOf({ out: "text" }, parts);
    assert.equal(await run(), answer);
    assert.deepEqual(happened, left, answer);
  }
});

Deno.test("git gets its input, and neither the person's settings nor variables that lead it elsewhere", async () => {
  const { run, given } = sandboxOf({});
  await run({ input: ["a", "b"], config: { "safe.directory": "*" } });
  const [{ env, stdin } = assert.fail()] = given;
  assert.equal(await new Response(stdin as ReadableStream<Uint8Array>).text(), "a\nb\n");
  assert.equal(env.GIT_DIR, undefined);
  assert.deepEqual([env.GIT_CONFIG_GLOBAL, env.GIT_CONFIG_NOSYSTEM], ["/dev/null", "1"]);
  const count = Number(env.GIT_CONFIG_COUNT);
  const settings = Array.from({ length: count }, (_, at) => env[`GIT_CONFIG_KEY_${at}`]);
  assert.ok(settings.includes("core.hooksPath") && settings.includes("safe.directory"));
});

Deno.test("git that does not answer in time is ended, and the answer says so", () =>
  withWaitInHand(5000, async (due) => {
    const { run, happened, given } = sandboxOf({ hangs: true });
    const answer = run({ patience: 5000 });
    while (given.length === 0) await new Promise((resolve) => setTimeout(resolve));
    due();
    assert.equal(await answer, "failed: it did not answer within 5 seconds");
    assert.deepEqual(happened, ["killed", "killed", "disposed"]);
  }));

Deno.test("git is ended by a signal that aborts before it or meanwhile", async () => {
  for (const isBefore of [true, false]) {
    const { run, happened, given } = sandboxOf({ hangs: true });
    const abort = new AbortController();
    if (isBefore) abort.abort();
    const answer = run({ signal: abort.signal });
    while (given.length === 0) await new Promise((resolve) => setTimeout(resolve));
    abort.abort();
    assert.equal(await answer, "failed: git ended with exit code 143");
    assert.deepEqual(happened, ["killed", "killed", "disposed"]);
  }
});

Deno.test("after git has ended, neither its time limit nor the signal ends anything", () =>
  withWaitInHand(5000, async (due) => {
    const { run, happened } = sandboxOf({ out: "text" });
    const abort = new AbortController();
    assert.equal(await run({ signal: abort.signal, patience: 5000 }), "text");
    due();
    abort.abort();
    assert.deepEqual(happened, ["killed", "disposed"]);
  }));
