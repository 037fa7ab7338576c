// Documents with tools from sources: what waits for a source, what does not, and which names a list may contain.

import assert from "node:assert/strict";
import type { OwnTools } from "../../agent/types.ts";
import { approval, tools as processTools } from "../../advanced.ts";
import type { CycleEvent, Emit } from "../../cycle/types.ts";
import type { Replay } from "../../providers/replay/server.ts";
import type { ResolveTools, ToolSource } from "../../tools/registration/types.ts";
import { answer, answered, asking, codeOf, ECHO, testInPlace as test, textOf, withModel } from "./place.ts";

const ASKING = "@You:\nHello\n";
const FREE = { overrides: { tools: { require_approval: false } } };

/** A source with the tool `echo`, which answers when it is told to. */
function retained(): {
  readonly source: ToolSource;
  readonly asked: Promise<void>;
  answer(error?: string): void;
} {
  const asked = Promise.withResolvers<void>();
  let end: (error?: string) => void = () => {};
  const resolve: ResolveTools = (register, done) => {
    end = (error) => {
      if (error === undefined) register(ECHO);
      done(error);
    };
    asked.resolve();
  };
  return { source: { name: "the server", resolve }, asked: asked.promise, answer: (error) => end(error) };
}

/** The tools of a request, in its order. */
function offeredIn(replay: Replay, at = 0): string[] {
  const { tools = [] } = JSON.parse(replay.requests[at]!.body) as { tools?: { name: string }[] };
  return tools.map(({ name }) => name);
}

function heard(): { readonly emit: Emit; readonly events: CycleEvent[]; codes(): string[] } {
  const events: CycleEvent[] = [];
  return {
    emit: (event) => events.push(event),
    events,
    codes: () => events.flatMap((event) => event.event === "notice" ? [event.code] : []),
  };
}

test("a request waits until every tool source has responded, offers their tools, and reports once that all are ready", async (place) => {
  await withModel([{ reply: [{ text: "Hi." }] }], async (provider, replay) => {
    const { source, asked, answer } = retained();
    const { emit, events } = heard();
    await using session = await place.memory(ASKING, { provider, tools: [source], emit });
    const stop = session.advance();
    await asked;
    assert.equal(replay.requests.length, 0);
    answer();
    assert.equal((await stop).reason, "done");
    assert.ok(offeredIn(replay).includes("echo"), "the source's tool is offered");
    assert.equal(events.filter(({ event }) => event === "boot:complete").length, 1);
  });
});

test("if a request waits longer than a second for a tool source, flemma reports which source it is", async (place) => {
  await withModel([{ reply: [{ text: "Hi." }] }], async (provider) => {
    const { source, answer } = retained();
    const reported: string[] = [];
    const emit: Emit = (event) => {
      if (event.event !== "notice" || event.code !== "tools-waiting") return;
      reported.push(event.message);
      answer();
    };
    await using session = await place.memory(ASKING, { provider, tools: [source], emit });
    assert.equal((await session.advance()).reason, "done");
    assert.deepEqual(reported, ["Waiting for the tools of the server."]);
  });
});

test("a tool source that fails causes a notice, and the request is sent without its tools", async (place) => {
  await withModel([{ reply: [{ text: "Hi." }] }], async (provider, replay) => {
    const { emit, codes } = heard();
    const broken: ResolveTools = (_register, done) => done("no such program");
    await using session = await place.memory(ASKING, { provider, tools: [broken, ECHO], emit });
    assert.equal((await session.advance()).reason, "done");
    assert.deepEqual(codes(), ["tool-source-failed"]);
    assert.ok(offeredIn(replay).includes("echo"));
  });
});

test("if a request that waits for a tool source is cancelled, it ends and nothing is sent", async (place) => {
  await withModel([], async (provider, replay) => {
    const { source, asked } = retained();
    await using session = await place.memory(ASKING, { provider, tools: [source] });
    const stop = session.advance();
    await asked;
    assert.equal(session.cancel(), true);
    assert.deepEqual([(await stop).reason, replay.requests.length], ["cancelled", 0]);
  });
});

test("reading a document and deciding approvals start no tool source", async (place) => {
  const { source, asked } = retained();
  let begun = false;
  asked.then(() => begun = true);
  const text = answered(asking(["c1", "echo", `{"text":"x"}`]), answer("c1", "pending"));
  await using session = await place.memory(text, { tools: [source] });
  await session.calls();
  assert.equal(codeOf(await session.approve("c1")), "ok");
  await session.diagnose();
  await Promise.resolve();
  assert.equal(begun, false);
});

test("an open call is decided only after the source that may have its tool has responded", async (place) => {
  await withModel([{ reply: [{ text: "Done." }] }], async (provider) => {
    const { source, asked, answer } = retained();
    const text = asking(["c1", "echo", `{"text":"from the source"}`]);
    await using session = await place.memory(text, { provider, tools: [source], settings: FREE });
    const stop = session.advance();
    await asked;
    assert.equal(textOf(session), text, "nothing is written about a call that cannot be decided yet");
    answer();
    assert.equal((await stop).reason, "done");
    assert.match(textOf(session), /from the source\n/);
  });
});

test("a call whose tool is available waits for no source", async (place) => {
  const { source, asked, answer } = retained();
  const { emit, events } = heard();
  const never: ToolSource = { ...source, mayHave: (name) => name !== "other" };
  const other: OwnTools = { ...ECHO, name: "other" };
  await withModel([{ reply: [{ text: "Done." }] }], async (provider) => {
    const text = asking(["c1", "other", `{"text":"at once"}`]);
    await using session = await place.memory(text, { provider, tools: [never, other], settings: FREE, emit });
    const stop = session.advance();
    await asked; // Only the send needs it.
    assert.match(textOf(session), /at once\n/);
    assert.ok(events.some(({ event }) => event === "tool:finished"));
    answer();
    assert.equal((await stop).reason, "done");
  });
});

test("cancelling a step that waits for a source writes nothing to the document", async (place) => {
  const { source, asked, answer } = retained();
  const text = asking(["c1", "echo", `{"text":"x"}`]);
  await using session = await place.memory(text, { tools: [source], settings: FREE });
  const stop = session.advance();
  await asked;
  assert.equal(session.cancel(), true);
  assert.equal((await stop).reason, "cancelled");
  assert.equal(textOf(session), text);
  answer();
});

for (const how of ["advance", "execute"] as const) {
  test(`if the source of a call's tool failed, the call waits for a person and does not run: ${how}`, async (place) => {
    const failed: ToolSource = { name: "the server", resolve: (_register, done) => done("down") };
    const text = answered(asking(["c1", "echo", `{"text":"x"}`]), answer("c1", "approved"));
    await using session = await place.memory(text, { tools: [failed], settings: FREE });
    const stop = how === "advance" ? await session.advance() : await session.execute("c1");
    if (how === "advance") {
      assert.deepEqual([stop.reason, stop.ids], ["pending", ["c1"]]);
      assert.match(textOf(session), /status=pending/);
    } else {
      assert.deepEqual([stop.reason, stop.problem?.code], ["failed", "tool-source-missing"]);
      assert.match(stop.problem?.message ?? "", /echo may come from the server/);
      assert.equal(textOf(session), text);
    }
  });
}

const LISTS: readonly {
  readonly what: string;
  readonly block: string;
  readonly offers: readonly string[] | null;
  readonly says?: RegExp;
}[] = [
  {
    what: "appends a tool of a source",
    block: "flemma: { tools: { $append: echo } }",
    offers: ["bash", "echo", "read"],
  },
  { what: "assigns a tool of a source", block: "flemma: { tools: [echo] }", offers: ["echo"] },
  { what: "names a disabled tool of a source", block: "flemma: { tools: [hidden] }", offers: ["hidden"] },
  {
    what: "removes a tool of a source",
    block: "flemma: { tools: { $remove: echo } }",
    offers: ["bash", "read"],
  },
  {
    what: "removes a built-in tool",
    block: "flemma: { tools: { $remove: bash } }",
    offers: ["echo", "read"],
  },
  { what: "assigns only built-in tools", block: "flemma: { tools: [read] }", offers: ["read"] },
  { what: "is empty", block: "flemma: { tools: [] }", offers: [] },
  {
    what: "names only a tool that does not exist",
    block: "flemma: { tools: [ecoh] }",
    offers: null,
    says: /"ecoh".*mean "echo"/,
  },
  {
    what: "names a tool of another program",
    block: "flemma: { tools: [nowhere] }",
    offers: null,
    says: /"nowhere", which does not exist$/,
  },
  { what: "misspells a built-in tool", block: "flemma: { tools: [bsh] }", offers: null, says: /mean "bash"/ },
];

for (const { what, block, offers, says } of LISTS) {
  test(`the right tools are offered or reported if a document's list of tools ${what}`, async (place) => {
    await withModel(offers === null ? [] : [{ reply: [{ text: "Hi." }] }], async (provider, replay) => {
      const source: ToolSource = {
        name: "the server",
        resolve(register, done) {
          register(ECHO);
          register({ ...ECHO, name: "hidden", enabled: false });
          done();
        },
      };
      const text = `\`\`\`yaml\n${block}\n\`\`\`\n\n${ASKING}`;
      await using session = await place.memory(text, { provider, tools: [source] });
      const stop = await session.advance();
      if (offers === null) {
        assert.equal(stop.reason, "diagnostics");
        assert.match(stop.problem?.message ?? "", says!);
        assert.equal(replay.requests.length, 0);
        assert.equal((await session.diagnose()).blocked, true);
      } else {
        assert.equal(stop.reason, "done", stop.problem?.message);
        const shown = ["bash", "echo", "hidden", "read"];
        assert.deepEqual(offeredIn(replay).filter((name) => shown.includes(name)), offers);
      }
    });
  });
}

test("settings may list tools from the code files that they name, and set options for these tools", async (place) => {
  Deno.mkdirSync(`${place.folder}/config/flemma`, { recursive: true });
  Deno.writeTextFileSync(
    `${place.folder}/config/flemma/tools.ts`,
    `export const definitions = [{
         name: "greet", description: "", input_schema: { type: "object" },
         execute: (_input: unknown, context: any) => ({ success: true, output: context.getConfig()?.word }),
       }];`,
  );
  place.settings("tools:\n  greet: { word: moin }\n  auto_approve: [greet]\n  modules: [./tools.ts]\n");
  await withModel([{ reply: [{ text: "Hi." }] }], async (provider, replay) => {
    await using session = await place.memory(asking(["c1", "greet"]), { provider });
    assert.equal((await session.advance()).reason, "done");
    assert.match(textOf(session), /moin\n/);
    assert.ok(offeredIn(replay).includes("greet"));
  });
});

test("if settings name a code file that does not exist, this is reported at the start", async (place) => {
  place.settings("tools:\n  modules: [./nowhere.ts]\n");
  await assert.rejects(place.memory(ASKING), /nowhere\.ts, which does not exist/);
});

test("a tool that a program registers once exists in every document it opens, and a document's own tool takes precedence", async (place) => {
  const stated = async (tools: readonly OwnTools[]) => {
    await using session = await place.memory(asking(["c1", "echo", `{"text":"x"}`]), {
      tools,
      settings: FREE,
    });
    assert.equal((await session.execute("c1")).reason, "stepped");
    return textOf(session);
  };
  try {
    processTools.register({ ...ECHO, execute: () => ({ success: true, output: "of the process" }) });
    assert.match(await stated([]), /of the process\n/);
    assert.match(await stated([ECHO]), /\nx\n/);
  } finally {
    processTools.clear();
  }
});

test("a tool that decides by settings whether it is offered gets the settings of the document", async (place) => {
  await withModel(
    [{ reply: [{ text: "Hi." }] }, { reply: [{ text: "Hi." }] }],
    async (provider, replay) => {
      const tool: OwnTools = { ...ECHO, enabled: ({ tools }) => tools.autopilot.max_turns === 7 };
      for (const block of ["", "```yaml\nflemma: { tools: { autopilot: { max_turns: 7 } } }\n```\n\n"]) {
        await using session = await place.memory(`${block}${ASKING}`, { provider, tools: [tool] });
        assert.equal((await session.advance()).reason, "done");
      }
      assert.deepEqual([0, 1].map((at) => offeredIn(replay, at).includes("echo")), [false, true]);
    },
  );
});

test("a resolver that a program registers once is used in every document it opens", async (place) => {
  try {
    assert.equal(
      codeOf(approval.register("echo is fine", { resolve: (tool) => tool === "echo" ? "approve" : null })),
      "ok",
    );
    await using session = await place.memory(asking(["c1", "echo", `{"text":"x"}`]), { tools: [ECHO] });
    const [call] = await session.calls();
    assert.deepEqual([call?.decided.decision, call?.decided.source], ["approve", "echo is fine"]);
  } finally {
    approval.clear();
  }
});

test("a closed session keeps no process alive for a source that has not responded", async (place) => {
  await withModel([], async (provider) => {
    const { source, asked, answer } = retained();
    const { emit, codes } = heard();
    const session = await place.memory(ASKING, { provider, tools: [source], emit });
    const stop = session.advance();
    await asked;
    await session[Symbol.asyncDispose]();
    assert.equal((await stop).reason, "cancelled");
    answer("too late");
    assert.deepEqual(codes(), [], "later answers are ignored");
  });
});
