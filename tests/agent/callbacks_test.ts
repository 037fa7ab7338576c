// Whatever a function of a host does, the run ends with a value that names it. A rejection that nobody handles would
// end these tests.

import assert from "node:assert/strict";
import { chatInMemory, chatInMemoryOfHost } from "../../agent/open.ts";
import { guardCallbacks } from "../../agent/runtime/host/callbacks.ts";
import type { MemoryOptions } from "../../agent/types.ts";
import { MemoryStore } from "../../cycle/storage/memory_store.ts";
import type { CycleEvent, Stop } from "../../cycle/types.ts";
import type { Provider } from "../../providers/types.ts";
import { bytesOf, type Place, testInPlace as test, textOf, withModel } from "./place.ts";

/** What a function may do instead of its work. */
const MISDEEDS = {
  throws: () => {
    throw new Error("boom");
  },
  rejects: () => Promise.reject(new Error("boom")),
  nothing: () => undefined,
  number: () => 42,
  object: () => ({ a: 1 }),
  promise: () => Promise.resolve(42),
  never: () => new Promise(() => {}),
};
type Misdeed = keyof typeof MISDEEDS;
const ALL = Object.keys(MISDEEDS) as Misdeed[];
/** Of a function that is only informed, no answer is wrong. */
const ERRORS: readonly Misdeed[] = ["throws", "rejects"];

const TOOL = {
  name: "t",
  input_schema: { type: "object", properties: { word: { type: "string" } } },
  execute: () => ({ success: true, output: "ok" }),
};
const CALL = { tool_use: { id: "c", name: "t", input: { word: "hidden?" } } };
const DOCUMENT = "```lua\nprint('x')\n```\n\n@You:\nHi\n";

interface Seen {
  readonly stop: Stop;
  readonly text: string;
  readonly notices: readonly string[];
  readonly previews: readonly string[];
}

type Options = Partial<MemoryOptions>;

/** Runs a conversation in which the model calls `t` once. */
async function run(place: Place, options: (provider: Provider) => Options): Promise<Seen> {
  const notices: string[] = [];
  const emit = (event: CycleEvent) => {
    if (event.event === "notice") notices.push(event.message);
  };
  let seen: Seen | undefined;
  await withModel([{ reply: [CALL] }, { reply: [{ text: "Done." }] }], async (provider) => {
    const opened = await chatInMemoryOfHost(bytesOf(DOCUMENT), {
      environment: place.environment,
      provider,
      tools: [TOOL],
      settings: { approve: ["t"] },
      retry: false,
      emit,
      ...options(provider),
    });
    assert.ok(opened.ok);
    await using session = opened.value;
    const stop = await session.advance();
    const previews = (await session.calls()).map(({ preview }) => preview);
    seen = { stop, text: textOf(session), notices, previews };
  });
  return seen!;
}

/** The function, its misdeeds, and the failure of the run that names the function. */
const FAIL_THE_RUN:
  readonly (readonly [string, readonly Misdeed[], RegExp, (f: never, p: Provider) => Options])[] = [
    ["emit", ERRORS, /option emit of the program failed: boom/, (emit) => ({ emit })],
    ["print", ERRORS, /option print of the program failed: boom/, (print) => ({ print })],
    [
      "buildRequest",
      ALL,
      /provider replay \(buildRequest\) of the program failed: (?:boom|it must return \{ request, warnings \})/,
      (buildRequest, provider) => ({ provider: { ...provider, buildRequest } }),
    ],
    [
      "reader",
      ALL,
      /provider replay \(reader\) of the program failed: (?:boom|it must return a reader)/,
      (reader, provider) => ({ provider: { ...provider, reader } }),
    ],
    [
      "obstacle",
      ALL,
      /provider replay \(obstacle\) of the program failed: (?:boom|it must return null or a problem)/,
      (obstacle, provider) => ({ provider: { ...provider, obstacle } }),
    ],
    [
      "commit",
      ALL.filter((misdeed) => misdeed !== "never"),
      /document store \(commit\) of the program failed: (?:boom|it must return null or a problem)/,
      (commit) => ({ store: Object.assign(new MemoryStore(bytesOf(DOCUMENT), null), { commit }) }),
    ],
    [
      "fetch",
      ALL.filter((misdeed) => misdeed !== "never"),
      /failed: boom|The option fetch answered without a Response/,
      (fetch, provider) => ({ fetch, provider }),
    ],
  ];

for (const [name, misdeeds, problem, options] of FAIL_THE_RUN) {
  test(`a run fails with a sentence about ${name} if that function errs or answers wrongly`, async (place) => {
    for (const misdeed of misdeeds) {
      const { stop } = await run(place, (provider) => options(MISDEEDS[misdeed] as never, provider));
      assert.equal(stop.reason, "failed", misdeed);
      assert.match(stop.problem?.message ?? "", problem, misdeed);
      assert.notEqual(stop.problem?.next ?? "", "", misdeed);
    }
  });
}

test("functions that are only informed may return anything", async (place) => {
  for (const misdeed of ALL.filter((each) => !ERRORS.includes(each))) {
    const observer = MISDEEDS[misdeed] as () => undefined;
    const { stop } = await run(place, () => ({ emit: observer, print: observer }));
    assert.equal(stop.reason, "done", misdeed);
  }
});

test("an error of emit does not keep the reply from the document", async (place) => {
  const { text } = await run(place, () => ({ emit: MISDEEDS.throws }));
  assert.match(text, /```\nok\n```\n\n@Assistant:\nDone\.\n/);
});

test("a fetch that ignores the signal does not keep a cancelled run from its end", async (place) => {
  const cancel = new AbortController();
  const fetch = () => {
    queueMicrotask(() => cancel.abort());
    return new Promise<Response>(() => {});
  };
  const { stop } = await run(place, () => ({ fetch, signal: cancel.signal }));
  assert.equal(stop.reason, "cancelled");
});

test("a tool's wrong answer is an error result", async (place) => {
  for (const misdeed of ALL.filter((each) => each !== "never")) {
    const execute = MISDEEDS[misdeed] as never;
    const { stop, text } = await run(place, () => ({ tools: [{ ...TOOL, execute }] }));
    assert.equal(stop.reason, "done", misdeed);
    assert.match(
      text,
      /\*\*Tool Result:\*\* `c` \(error\)\n\n```\n(?:boom|The tool (?:ended|failed) without)/,
      misdeed,
    );
  }
});

test("a preview that fails or has the wrong shape shows the whole input", async (place) => {
  for (const misdeed of [...ALL, "label"] as const) {
    const format_preview = (misdeed === "label" ? () => ({ label: 1 }) : MISDEEDS[misdeed]) as never;
    const options = { tools: [{ ...TOOL, format_preview }], settings: {} };
    const { previews } = await run(place, () => options);
    assert.deepEqual(previews, ['t: word="hidden?"'], misdeed);
  }
});

test("a tool whose enabled function does not answer true or false is not offered, and a notice says why", async (place) => {
  for (const misdeed of ALL) {
    const enabled = MISDEEDS[misdeed] as never;
    const { notices } = await run(place, () => ({ tools: [{ ...TOOL, enabled }] }));
    const why = misdeed === "throws" ? "failed: boom" : "must return true or false.";
    assert.ok(notices.includes(`The tool t is not offered: its enabled function ${why}`), misdeed);
  }
});

test("a resolver that errs or answers wrongly approves nothing, and a notice names it", async (place) => {
  for (const misdeed of ALL.filter((each) => each !== "nothing" && each !== "never")) {
    const resolvers = [{ name: "mine", resolve: MISDEEDS[misdeed] as never }];
    const { stop, notices } = await run(place, () => ({ resolvers, settings: {} }));
    assert.equal(stop.reason, "pending", misdeed);
    assert.ok(
      notices.some((line) => line.startsWith("The resolver mine failed to decide a call: ")),
      misdeed,
    );
  }
});

test("a source of tools that errs is named, and the run goes on without its tools", async (place) => {
  for (const misdeed of ERRORS) {
    const mine = { name: "mine", resolve: MISDEEDS[misdeed] as never };
    const { notices } = await run(place, () => ({ tools: [TOOL, mine] }));
    assert.ok(notices.some((line) => /could not list its tools: boom/.test(line)), `${misdeed}: ${notices}`);
  }
});

test("options of the wrong shape are refused when the document is opened, one row per option", async (place) => {
  const rows: readonly (readonly [option: string, values: readonly unknown[]])[] = [
    ...["fetch", "emit", "print", "askSecret"].map((name) => [name, [null, 7, {}]] as const),
    ["environment", [null, 7, {}, { cwd: 7, variables: {} }, { cwd: "/" }]],
    ["settings", [null, 7, []]],
    ["tools", [null, {}, [null], [7]]],
    ["resolvers", [null, "x", [null], [{ resolve: () => null }], [{ name: "r", resolve: 7 }]]],
    ["provider", [null, "openai", {}, { buildRequest: 7 }]],
    ["signal", [null, {}]],
    ["store", [null, {}, { chat: {} }, { commit: () => null }]],
    ["path", [7]],
  ];
  for (const [option, values] of rows) {
    for (const value of values) {
      const options = { environment: place.environment, [option]: value };
      const opened = await chatInMemoryOfHost(bytesOf(DOCUMENT), options as never);
      const row = `${option}: ${JSON.stringify(value)}`;
      assert.ok(!opened.ok, row);
      assert.equal(opened.problem.code, "options-invalid", row);
      assert.ok(opened.problem.message.startsWith(`The option ${option} of chatInMemory is not `), row);
    }
  }
});

test("a tool whose functions are none is refused by name when the document is opened", async (place) => {
  for (const member of ["execute", "format_preview", "rewrites"]) {
    const tools = [{ ...TOOL, [member]: 7 }] as never;
    const opened = await chatInMemoryOfHost(bytesOf(DOCUMENT), { environment: place.environment, tools });
    assert.ok(!opened.ok, member);
    assert.equal(opened.problem.message, `The member ${member} of the tool t is not a function.`);
  }
});

test("a store that does not answer does not keep an aborted run from ending", async (place) => {
  for (const isAborted of [false, true]) {
    const abort = new AbortController();
    const never = new Promise<null>(() => {});
    let commits = 0;
    const commit = () => {
      commits++;
      if (!isAborted) abort.abort();
      return never;
    };
    const store = Object.assign(new MemoryStore(bytesOf("@You:\nHi\n"), null), { commit, extend: commit });
    await withModel([{ reply: [CALL] }], async (provider) => {
      const { environment } = place;
      const options = guardCallbacks({ environment, provider, store, signal: abort.signal }, { patience: 1 });
      const opened = await chatInMemory(bytesOf(""), options);
      assert.ok(opened.ok);
      await using chat = opened.value;
      if (isAborted) abort.abort();
      const problem = isAborted
        ? await chat.edit([{ from: 0, to: 0, insert: "x" }]).catch((thrown) => thrown.problem)
        : (await chat.advance()).problem;
      assert.match(
        problem?.message ?? "none",
        /document store \((?:commit|extend)\) .*it gave no answer after/,
      );
    });
    assert.equal(commits, 1);
  }
});

test("the answer that a store gives after an abort counts", async (place) => {
  const abort = new AbortController();
  abort.abort();
  const store = new MemoryStore(bytesOf("@You:\nHi\n"), null);
  const { signal } = abort;
  const options = guardCallbacks({ environment: place.environment, store, signal });
  const opened = await chatInMemory(bytesOf(""), options);
  assert.ok(opened.ok);
  await using chat = opened.value;
  assert.equal(await chat.edit([{ from: 0, to: 0, insert: "x" }]), null);
  assert.equal(textOf(store), "x@You:\nHi\n");
});
