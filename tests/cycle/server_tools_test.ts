// Searches that the provider runs: how they come into a document, and how they go back.

import assert from "node:assert/strict";
import { DEFAULT_SETTINGS, type Settings } from "../../config/settings.generated.ts";
import { RunLimits } from "../../cycle/send/limits.ts";
import { serverToolBlocks } from "../../providers/replay/search.ts";
import type { ScriptedReply } from "../../providers/replay/server.ts";
import { type Conversation, converse, type WireBlock } from "./conversation.ts";

const PAGE = { url: "https://deno.com/blog/v2.9", title: "Deno 2.9" };
/** A page whose content is too long for the document. */
const LONG = { ...PAGE, content: "x".repeat(5000) };

const FOUND = { id: "srvtoolu_1", query: "deno 2.9", results: [PAGE] };
const SEARCHED: ScriptedReply = {
  reply: [
    { thinking: "I must search." },
    { web_search: FOUND },
    { thinking: "It is out." },
    { text: "It is out, " },
    { text: "since spring", cites: [PAGE] },
    { text: "." },
  ],
};
const SEARCHED_LONG: ScriptedReply = {
  reply: [{ web_search: { ...FOUND, results: [LONG] } }, { text: "It is out." }],
};
const YES: ScriptedReply = { reply: [{ text: "Yes." }] };

const SEARCH = { enabled: true, max_uses: 5, allowed_domains: null, blocked_domains: [] };

/** Uses the model of a provider, with its search. */
function use(talk: Conversation, provider: keyof typeof MODELS, own: Partial<typeof SEARCH> = {}): void {
  if (provider === "anthropic") talk.use(MODELS.anthropic);
  else talk.ask(provider, MODELS[provider]);
  talk.settings = {
    ...talk.settings,
    server_tools: {
      ...DEFAULT_SETTINGS.server_tools,
      web_search: { ...SEARCH, ...own },
    } as Settings["server_tools"],
  };
}

const MODELS = {
  anthropic: "claude-sonnet-5-5",
  openai: "gpt-6-sol",
  gemini: "gemini-3.1-pro-preview",
  openrouter: "x/model",
} as const;

/** The blocks of the model in the last request, without thinking. */
function replyBlocks(talk: Conversation): readonly WireBlock[] {
  const messages = talk.body.messages as readonly {
    readonly role: string;
    readonly content: readonly WireBlock[];
  }[];
  return messages.filter(({ role }) => role === "assistant").flatMap(({ content }) => content)
    .filter(({ type }) => type !== "thinking");
}

function typesOf(talk: Conversation): readonly unknown[] {
  return replyBlocks(talk).map(({ type }) => type);
}

/** Everything of the model in the last request, as text. */
function wireText(talk: Conversation): string {
  return talk.replay.requests.at(-1)!.body;
}

/** Forgets everything that this machine wrote. */
async function forget(talk: Conversation): Promise<void> {
  await Deno.remove(`${talk.folder}/state`, { recursive: true });
}

Deno.test("a search becomes readable lines, and goes back byte for byte with its citations", async () => {
  await converse({ replies: [SEARCHED, YES] }, async (talk) => {
    use(talk, "anthropic");
    await talk.sent();
    assert.match(
      talk.text,
      /<server_tool anthropic:blocks="[\w+/=]+">\nweb_search: deno 2\.9\n1\. Deno 2\.9 — https:\/\/deno\.com\/blog\/v2\.9\n<\/server_tool>/,
    );
    assert.match(
      talk.text,
      /\nIt is out, since spring\.\n\n<server_tool anthropic:citations="[\w+/=]+">\nSources:\n1\. Deno 2\.9 — /,
    );
    const shown = talk.events.flatMap((event) => event.event === "reply:tool" ? [event.what] : []);
    assert.deepEqual(shown, ["blocks", "citations"]);
    talk.say("Sure?");
    await talk.sent();
    const [call, result, ...texts] = replyBlocks(talk);
    assert.equal(JSON.stringify([call, result]), JSON.stringify(serverToolBlocks({ web_search: FOUND }, 1)));
    assert.deepEqual(texts.map(({ text }) => text), ["It is out, ", "since spring", "."]);
    assert.deepEqual(texts.map(({ citations }) => citations !== undefined), [false, true, false]);
    assert.deepEqual(talk.thinking, ["I must search.", "It is out."]);
    assert.deepEqual(talk.replay.problems, []);
  });
});

Deno.test("a long result is stored; without the state folder, the model gets its lines once and nothing is refused", async () => {
  await converse({ replies: [SEARCHED_LONG, YES, YES, YES] }, async (talk) => {
    use(talk, "anthropic");
    await talk.sent();
    assert.match(talk.text, /<server_tool anthropic:blocks="sha256:[0-9a-f]{64}">\nweb_search: deno 2\.9\n/);
    talk.say("Sure?");
    await talk.sent();
    assert.deepEqual(typesOf(talk), ["server_tool_use", "web_search_tool_result", "text"]);
    await forget(talk);
    talk.say("Really?");
    await talk.sent(/line 5 has no stored data; the model gets the visible lines as text/);
    talk.say("And now?");
    await talk.sent();
    assert.deepEqual(typesOf(talk), ["text", "text", "text", "text"]);
    assert.ok(wireText(talk).includes("web_search: deno 2.9\\n1. Deno 2.9"));
    assert.deepEqual(talk.replay.problems, []);
  });
});

Deno.test("a short result of another machine is text until the document is trusted", async () => {
  await converse({ replies: [SEARCHED, YES, YES] }, async (talk) => {
    use(talk, "anthropic");
    await talk.sent();
    await forget(talk);
    talk.say("Sure?");
    await talk.sent(
      /line 9 is from another machine; .*flemma trust FILE/,
      /The citations at line 20 are not sent/,
    );
    assert.ok(!typesOf(talk).includes("server_tool_use"));
    talk.isTrusted = true;
    talk.say("Really?");
    await talk.sent();
    assert.ok(typesOf(talk).includes("server_tool_use"));
    assert.deepEqual(talk.replay.problems, []);
  });
});

Deno.test("edited lines are sent as they are, without the data behind them", async () => {
  await converse({ replies: [SEARCHED, YES] }, async (talk) => {
    use(talk, "anthropic");
    await talk.sent();
    talk.edit(
      "1. Deno 2.9 — https://deno.com/blog/v2.9\n</server_tool>\n\n<thinking",
      "1. Nothing\n</server_tool>\n\n<thinking",
    );
    talk.say("Sure?");
    await talk.sent(/line 9 has edited lines/);
    assert.ok(wireText(talk).includes("1. Nothing"));
    assert.ok(!typesOf(talk).includes("server_tool_use"));
    // The thinking around the block led to it or came from it.
    assert.deepEqual(talk.thinking, []);
    assert.deepEqual(talk.replay.problems, []);
  });
});

Deno.test("citations go only with their own text", async () => {
  await converse({ replies: [SEARCHED, YES] }, async (talk) => {
    use(talk, "anthropic");
    await talk.sent();
    talk.edit("since spring", "since autumn");
    talk.say("Sure?");
    await talk.sent(/The citations at line 20 are not sent/);
    assert.deepEqual(typesOf(talk), ["server_tool_use", "web_search_tool_result", "text"]);
    assert.ok(!wireText(talk).includes("encrypted_index"));
    assert.deepEqual(talk.replay.problems, []);
  });
});

Deno.test("after an edit of an earlier message the search still goes back, and later thinking is left out", async () => {
  await converse({ replies: [SEARCHED, YES] }, async (talk) => {
    use(talk, "anthropic");
    await talk.sent();
    talk.edit("One?", "Two?");
    talk.say("Sure?");
    await talk.sent(/2 blocks of earlier thinking no longer match/);
    assert.ok(typesOf(talk).includes("web_search_tool_result"));
    assert.deepEqual(talk.replay.problems, []);
  });
});

Deno.test("a search that is switched off becomes text above, with one notice", async () => {
  await converse({ replies: [SEARCHED, YES] }, async (talk) => {
    use(talk, "anthropic");
    await talk.sent();
    use(talk, "anthropic", { enabled: false });
    talk.say("Sure?");
    await talk.sent(/The server_tool block at line 9 is of a tool that is not offered; the model/);
    assert.ok(!wireText(talk).includes("server_tool_use"));
    assert.deepEqual(talk.replay.problems, []);
  });
});

Deno.test("a block that the document contains twice goes back once", async () => {
  await converse({ replies: [SEARCHED, YES] }, async (talk) => {
    use(talk, "anthropic");
    await talk.sent();
    const turn = talk.text.slice(talk.text.indexOf("@Assistant:"), talk.text.lastIndexOf("@You:"));
    talk.say("Again?");
    talk.text += `\n${turn}`;
    talk.say("Sure?");
    const { reported } = await talk.send();
    assert.ok(reported.some((words) => /in the document twice/.test(words)), reported.join("\n"));
    assert.equal(typesOf(talk).filter((type) => type === "server_tool_use").length, 1);
    assert.deepEqual(talk.replay.problems, []);
  });
});

Deno.test("a paused reply with an open search goes back unchanged and is completed", async () => {
  const { results, ...asked } = FOUND;
  const paused = { reply: [{ text: "Let me see." }, { web_search: asked }], stop_reason: "pause_turn" };
  const rest = { reply: [{ web_search: { id: asked.id, results } }, { text: "Found." }] };
  await converse({ replies: [paused, rest, YES] }, async (talk) => {
    use(talk, "anthropic");
    await talk.sent();
    assert.equal(talk.replay.requests.length, 2);
    assert.deepEqual(typesOf(talk), ["text", "server_tool_use"]);
    talk.say("Sure?");
    await talk.sent();
    assert.deepEqual(typesOf(talk), ["text", "server_tool_use", "web_search_tool_result", "text"]);
    assert.deepEqual(talk.replay.problems, []);
  });
});

const { results: RESULTS, ...OPEN } = FOUND;
/** A turn with a search and a call of the person's tool; the search runs with the result of the call. */
const MIXED: ScriptedReply = {
  reply: [{ web_search: OPEN }, { tool_use: { id: "c1", name: "bash", input: { command: "ls" } } }],
};
const MIXED_REST: ScriptedReply = {
  reply: [{ web_search: { id: OPEN.id, results: RESULTS } }, { text: "Both." }],
};
const BASH = { name: "bash", description: "Runs.", input_schema: { type: "object" } };

Deno.test("a search waits for the person's call in the same turn, and both go back together", async () => {
  await converse({ replies: [MIXED, MIXED_REST, YES, YES] }, async (talk) => {
    use(talk, "anthropic");
    talk.tools = [BASH];
    await talk.sent();
    talk.answer("c1", "a.txt");
    await talk.sent();
    assert.deepEqual(typesOf(talk), ["server_tool_use", "tool_use"]);
    talk.say("Sure?");
    await talk.sent();
    assert.deepEqual(typesOf(talk), ["server_tool_use", "tool_use", "web_search_tool_result", "text"]);
    // Without its first half, the second half is left out too.
    talk.edit("web_search: deno 2.9", "web_search: deno 3");
    talk.say("Really?");
    const { reported } = await talk.send();
    assert.equal(
      reported.filter((words) => /edited lines|has no result/.test(words)).length,
      2,
      reported.join("\n"),
    );
    assert.deepEqual(talk.replay.problems, []);
  });
});

Deno.test("in an open turn, an edited search takes all thinking of the turn with it, and nothing is refused", async () => {
  const first = {
    reply: [{ thinking: "A." }, { tool_use: { id: "c1", name: "bash", input: { command: "ls" } } }],
  };
  const second = {
    reply: [
      { thinking: "B." },
      { text: "Hm." },
      { thinking: "C." },
      { web_search: FOUND },
      { thinking: "D." },
      { tool_use: { id: "c2", name: "bash", input: { command: "pwd" } } },
    ],
  };
  await converse({ replies: [first, second, YES] }, async (talk) => {
    use(talk, "anthropic");
    talk.tools = [BASH];
    await talk.sent();
    talk.answer("c1", "a.txt");
    await talk.sent();
    talk.answer("c2", "/");
    talk.edit("1. Deno 2.9 — https://deno.com/blog/v2.9", "1. Nothing");
    await talk.sent(/has edited lines/);
    assert.deepEqual(talk.thinking, []);
    assert.deepEqual(talk.replay.problems, []);
  });
});

Deno.test("an open turn with a search goes on only with its own provider and its data", async () => {
  await converse({ replies: [MIXED, MIXED_REST] }, async (talk) => {
    use(talk, "anthropic");
    talk.tools = [BASH];
    await talk.sent();
    talk.answer("c1", "a.txt");
    use(talk, "openai");
    const switched = await talk.send();
    assert.equal(switched.outcome.kind, "failed");
    assert.ok(switched.outcome.kind === "failed");
    assert.match(switched.outcome.problem.message, /line 5 belongs to anthropic/);
    assert.equal(switched.outcome.problem.next, "Switch back, or delete the block to go on.");
    use(talk, "anthropic");
    await forget(talk);
    const lost = await talk.send();
    assert.ok(lost.outcome.kind === "failed");
    assert.match(lost.outcome.problem.message, /line 5 is from another machine/);
    assert.equal(talk.replay.requests.length, 1);
    // The next step works when followed.
    talk.text = talk.text.replace(/<server_tool[^]*?<\/server_tool>\n/, "");
    const { outcome } = await talk.send();
    assert.equal(outcome.kind, "completed");
  });
});

Deno.test("a reply that is cut within a search leaves nothing that a request could not contain", async () => {
  for (const cut of [300, 500, 600, 700, 800, 900, 1000, 1200, 1500, 1800, 2100, 2500]) {
    await converse({ replies: [{ ...SEARCHED, fault: { cut } }, YES] }, async (talk) => {
      use(talk, "anthropic");
      await talk.send();
      talk.say("Go on.");
      const { outcome } = await talk.send();
      assert.equal(outcome.kind, "completed", `cut at ${cut}\n${talk.text}`);
      assert.deepEqual(talk.replay.problems, [], `cut at ${cut}\n${talk.text}`);
    });
  }
});

Deno.test("an error of the search is a readable result and goes back", async () => {
  const failed = {
    reply: [{ web_search: { query: "deno", error: "max_uses_exceeded" } }, { text: "No luck." }],
  };
  await converse({ replies: [failed, YES] }, async (talk) => {
    use(talk, "anthropic");
    await talk.sent();
    assert.match(talk.text, /\nweb_search: deno\nError: max_uses_exceeded\n<\/server_tool>/);
    talk.say("Sure?");
    await talk.sent();
    assert.deepEqual(typesOf(talk), ["server_tool_use", "web_search_tool_result", "text"]);
  });
});

Deno.test("blocks that the provider refuses are sent as text, and are refused once only", async () => {
  await converse({ replies: [SEARCHED, YES, YES] }, async (talk) => {
    use(talk, "anthropic");
    await talk.sent();
    // The document now names content that its provider never made.
    const [, value] = /anthropic:blocks="([^"]+)"/.exec(talk.text)!;
    const [first] = serverToolBlocks({ web_search: { ...FOUND, results: undefined } }, 1);
    const page = { type: "web_search_result", ...PAGE, encrypted_content: "Zm9yZ2Vk" };
    const forged = btoa(
      JSON.stringify([first, { type: "web_search_tool_result", tool_use_id: FOUND.id, content: [page] }]),
    );
    talk.edit(value!, forged);
    talk.isTrusted = true;
    talk.say("Sure?");
    const { reported } = await talk.send();
    assert.ok(
      reported.some((words) => /refused the request .*without the blocks of its own tools/.test(words)),
    );
    assert.equal(talk.replay.problems.length, 1);
    talk.say("Really?");
    await talk.send();
    assert.equal(talk.replay.problems.length, 1);
    assert.ok(!wireText(talk).includes("server_tool_use"));
  });
});

Deno.test("payloads of other blocks, and values without data, are text", async () => {
  const other = btoa(JSON.stringify([{ type: "tool_use", id: "x", name: "bash", input: {} }]));
  for (const value of [other, "%%%", btoa("no json"), btoa("[]"), "sha256:../../etc/passwd", ""]) {
    const text =
      `@You:\nOne?\n\n@Assistant:\nHi\n<server_tool anthropic:blocks="${value}">\nweb_search: x\n</server_tool>\n\n@You:\nTwo?\n`;
    await converse({ replies: [YES], text }, async (talk) => {
      use(talk, "anthropic");
      talk.isTrusted = true;
      const { outcome, reported } = await talk.send();
      assert.equal(outcome.kind, "completed", value);
      assert.equal(reported.length, 1, `${value}: ${reported.join("\n")}`);
      assert.ok(wireText(talk).includes("web_search: x"), value);
    });
  }
});

Deno.test("the cost of searches counts before and after a request", async () => {
  await converse(
    { replies: [{ ...SEARCHED, usage: { input_tokens: 10, output_tokens: 10 } }] },
    async (talk) => {
      use(talk, "anthropic");
      talk.takesKey = true;
      const most = (dollars: number) => {
        talk.settings = { ...talk.settings, run: { ...talk.settings.run, max_cost: dollars } };
        talk.limits = new RunLimits(talk.settings);
      };
      most(0.04);
      const { outcome } = await talk.send();
      assert.ok(outcome.kind === "failed");
      assert.equal(outcome.problem.code, "budget-reached");
      most(0.06);
      await talk.sent();
      const record =
        talk.events.flatMap((event) => event.event === "request:finished" ? [event.record] : [])[0];
      assert.equal(record?.usage.searches, 1);
      assert.ok(record!.cost! > 0.01 && record!.cost! < 0.011, String(record!.cost));
    },
  );
});

for (const provider of ["openai", "gemini", "openrouter"] as const) {
  Deno.test(`a search of ${provider} is written and goes back, and its sources are shown`, async () => {
    await converse({ replies: [SEARCHED, YES] }, async (talk) => {
      use(talk, provider);
      await talk.sent();
      assert.match(
        talk.text,
        new RegExp(`<server_tool ${provider}:citations="">\\nSources:\\n1\\. Deno 2\\.9 — `),
      );
      assert.equal(talk.text.includes(`<server_tool ${provider}:blocks=`), provider !== "openrouter");
      const record = talk.events.flatMap((event) =>
        event.event === "request:finished" ? [event.usage] : []
      )[0];
      assert.equal(record?.searches, 1);
      talk.say("Sure?");
      const { outcome, reported } = await talk.send();
      assert.equal(outcome.kind, "completed", JSON.stringify(outcome));
      assert.deepEqual(reported, []);
      assert.deepEqual(talk.replay.problems, []);
      const sent = wireText(talk);
      if (provider === "openai") assert.match(sent, /"type":"web_search_call"/);
      if (provider === "gemini") assert.match(sent, /"toolCall".*"toolResponse"/);
      assert.ok(!sent.includes("Sources:"));
    });
  });
}

Deno.test("a conversation with searches goes through four providers and back, and nothing is refused", async () => {
  const round = ["anthropic", "openai", "gemini", "openrouter"] as const;
  const replies = [...round, ...round].map((_, at): ScriptedReply => ({
    reply: [
      { thinking: `Thought ${at}.` },
      { web_search: { id: `srvtoolu_${at}`, query: `query ${at}`, results: [at === 0 ? LONG : PAGE] } },
      { text: `Answer ${at}`, cites: [PAGE] },
    ],
  }));
  await converse({ replies: [...replies, ...replies] }, async (talk) => {
    const told: string[] = [];
    const step = async (provider: typeof round[number], at: number) => {
      use(talk, provider);
      talk.say(`Question ${at}?`);
      const { outcome, reported } = await talk.send();
      assert.equal(
        outcome.kind,
        "completed",
        `${provider}: ${JSON.stringify(outcome)}\n${talk.replay.problems.join("\n")}`,
      );
      told.push(...reported);
    };
    for (const [at, provider] of [...round, ...round].entries()) await step(provider, at);
    assert.deepEqual(talk.replay.problems, []);
    assert.ok(told.some((words) => /from another provider/.test(words)), told.join("\n"));
    // An edit, then the loss of everything that this machine remembers.
    talk.edit("Answer 1", "Answer one");
    await step("anthropic", 8);
    await forget(talk);
    for (const [at, provider] of round.entries()) await step(provider, 9 + at);
    assert.ok(told.some((words) => /has no stored data|have no stored data/.test(words)));
    assert.ok(told.some((words) => /from another machine/.test(words)), told.join("\n"));
    assert.deepEqual(talk.replay.problems, []);
  });
});

Deno.test("a model that refuses the tool is asked without it, and is not asked with it again", async () => {
  const refusal: ScriptedReply = {
    fault: {
      status: 400,
      body: {
        type: "error",
        error: {
          type: "invalid_request_error",
          message: "tools.0: 'web_search_20260318' is not supported by this model",
        },
      },
    },
  };
  await converse({ replies: [refusal, YES, YES] }, async (talk) => {
    use(talk, "anthropic");
    await talk.sent(/refused the request .*without the tools that it runs itself/);
    assert.equal(talk.body.tools, undefined);
    talk.say("Sure?");
    await talk.sent(/go without the tools that it runs itself, which .* refused on/);
    assert.equal(talk.replay.requests.length, 3);
  });
});

for (const provider of ["openai", "gemini"] as const) {
  Deno.test(`a search of ${provider} whose data cannot go back is text, and nothing is refused`, async () => {
    const ways: readonly (readonly [says: RegExp, change: (talk: Conversation) => unknown])[] = [
      [/has edited lines/, (talk) => talk.edit("web_search: deno 2.9\n", "web_search: deno 3\n")],
      [/from another machine/, forget],
      [/of a tool that is not offered/, (talk) => use(talk, provider, { enabled: false })],
      [/has unreadable data/, (talk) => talk.edit(`${provider}:blocks="`, `${provider}:blocks="x`)],
    ];
    for (const [says, change] of ways) {
      await converse({ replies: [SEARCHED, YES] }, async (talk) => {
        use(talk, provider);
        await talk.sent();
        await change(talk);
        talk.say("Sure?");
        await talk.sent(says);
        assert.match(wireText(talk), /web_search: deno/);
        assert.doesNotMatch(wireText(talk), /web_search_call"|toolCall|toolResponse/);
        assert.deepEqual(talk.replay.problems, []);
      });
    }
  });

  Deno.test(`a reply of ${provider} that is cut within a search leaves nothing that a request could not contain`, async () => {
    for (let cut = 200; cut < 4000; cut += 300) {
      await converse({ replies: [{ ...SEARCHED, fault: { cut } }, YES] }, async (talk) => {
        use(talk, provider);
        await talk.send();
        talk.say("Go on.");
        const { outcome } = await talk.send();
        assert.equal(outcome.kind, "completed", `cut at ${cut}\n${talk.text}`);
        assert.deepEqual(talk.replay.problems, [], `cut at ${cut}\n${talk.text}`);
      });
    }
  });
}
