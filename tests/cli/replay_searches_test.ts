// Conversations with searches by the provider: recorded as a script, and replayed.

import assert from "node:assert/strict";
import { recordingOf } from "../../commands/run/replay/recording.ts";
import type { Settings } from "../../config/settings.generated.ts";
import { parse } from "../../parser/mod.ts";
import { parseReplayScript, type ScriptedReply } from "../../providers/replay/server.ts";
import { readBlocks, renderBlocks } from "../../providers/server_tools/blocks.ts";
import { type Conversation, converse } from "../cycle/conversation.ts";
import { testWithScene as test } from "./harness.ts";

const PAGE = { url: "https://deno.com/blog/v2.9", title: "Deno 2.9 — the news" };
const OTHER = { url: "https://a.b/c", title: "" };

function recordedReplies(text: string): readonly ScriptedReply[] {
  const { steps } = recordingOf(parse(new TextEncoder().encode(text)));
  return steps.flatMap((step) => step.do === "reply" ? [{ reply: step.blocks }] : []);
}

/** The document without the data of the provider. */
function visibleLines(text: string): string {
  return text.replace(/="[^"]*">$/gm, ">");
}

function withSearch(talk: Conversation): void {
  const on = { enabled: true, max_uses: 5, allowed_domains: null, blocked_domains: [] };
  talk.settings = {
    ...talk.settings,
    server_tools: { web_search: on, web_fetch: on } as Settings["server_tools"],
  };
}

const CALL = { tool_use: { id: "c1", name: "bash", input: { command: "ls" } } };

/** Holds a conversation of two replies with a call in between; returns its text. */
async function talked(replies: readonly ScriptedReply[]): Promise<string> {
  let text = "";
  await converse({ replies: [...replies] }, async (talk) => {
    withSearch(talk);
    talk.tools = [{ name: "bash", description: "Runs.", input_schema: { type: "object" } }];
    await talk.sent();
    talk.answer("c1", "a.txt");
    await talk.sent();
    assert.deepEqual(talk.replay.problems, []);
    text = talk.text;
  });
  return text;
}

const CONVERSATIONS: Readonly<Record<string, readonly ScriptedReply[]>> = {
  "a search, a fetch and cited text": [
    {
      reply: [
        { text: "I look." },
        { web_search: { query: "deno: news", results: [PAGE, OTHER] } },
        { text: "It is out.", cites: [PAGE] },
        { web_fetch: { url: PAGE.url, page: PAGE } },
        CALL,
      ],
    },
    { reply: [{ text: "Both." }] },
  ],
  "a search whose result comes with the next reply": [
    { reply: [{ web_search: { id: "s1", query: "deno" } }, CALL] },
    { reply: [{ web_search: { id: "s1", results: [PAGE] } }, { text: "Both." }] },
  ],
  "the same search twice, without results, and errors": [
    {
      reply: [
        { web_search: { query: "deno", results: [] } },
        { web_search: { query: "deno", error: "too_many_requests" } },
        { web_fetch: { url: "https://x.y", error: "url_not_accessible" } },
        CALL,
      ],
    },
    { reply: [{ web_search: { query: "deno", results: [OTHER] } }, { text: "Both." }] },
  ],
};

for (const [what, replies] of Object.entries(CONVERSATIONS)) {
  Deno.test(`a recorded script replays ${what} to the same visible document`, async () => {
    const first = await talked(replies);
    const recorded = recordedReplies(first);
    assert.deepEqual(await parseReplayScript(JSON.stringify(recorded)), {
      ok: true,
      value: { replies: recorded },
    });
    assert.equal(visibleLines(await talked(recorded)), visibleLines(first));
  });
}

Deno.test("searches of each provider are read from their visible lines: one row per form", () => {
  const rows:
    readonly (readonly [provider: string, blocks: readonly object[], expected: readonly object[]])[] = [
      [
        "anthropic",
        [
          { type: "server_tool_use", id: "a", name: "web_search", input: { query: "x" } },
          { type: "server_tool_use", id: "b", name: "web_search", input: { query: "y" } },
          { type: "web_search_tool_result", tool_use_id: "a", content: [PAGE, OTHER] },
          { type: "web_search_tool_result", tool_use_id: "b", content: { error_code: "unavailable" } },
        ],
        [
          { web_search: { id: "srvtoolu_1", query: "x", results: [PAGE, OTHER] } },
          { web_search: { id: "srvtoolu_2", query: "y", error: "unavailable" } },
        ],
      ],
      [
        "openai",
        [{ type: "web_search_call", id: "w", action: { query: "x", sources: [{ url: OTHER.url }] } }],
        [{ web_search: { id: "srvtoolu_1", query: "x", results: [OTHER] } }],
      ],
      [
        "openai",
        [
          { type: "web_search_call", id: "w", action: { query: "x" } },
          { type: "web_search_call", id: "v", action: { type: "open_page", url: OTHER.url } },
          {
            type: "web_search_call",
            id: "u",
            action: { type: "find_in_page", pattern: "p", url: OTHER.url },
          },
        ],
        [
          { web_search: { id: "srvtoolu_1", query: "x", results: [] } },
          { web_fetch: { id: "srvtoolu_2", url: OTHER.url, page: OTHER } },
          { web_fetch: { id: "srvtoolu_3", url: OTHER.url, page: OTHER } },
        ],
      ],
      [
        "gemini",
        [
          { toolCall: { id: "t", toolType: "GOOGLE_SEARCH_WEB", args: { queries: ["x", "y"] } } },
          { toolResponse: { id: "t", toolType: "GOOGLE_SEARCH_WEB", response: { pages: [] } } },
        ],
        [{ web_search: { id: "srvtoolu_1", query: "x · y", results: [] } }],
      ],
    ];
  for (const [provider, blocks, expected] of rows) {
    const lines = renderBlocks(readBlocks(JSON.stringify(blocks))!);
    const tag = `<server_tool ${provider}:blocks="">\n${lines}\n</server_tool>`;
    const [reply] = recordedReplies(`@You:\nGo\n\n@Assistant:\n${tag}\n`);
    assert.deepEqual(reply?.reply, expected, lines);
  }
});

Deno.test("lines that a person wrote into a block of a search break no recording", () => {
  for (const lines of ["", "1. A — https://a.b", "Error: x", "anything\n\n1. \n2. x", "No results"]) {
    const tag = `<server_tool anthropic:blocks="">\n${lines}\n</server_tool>`;
    assert.deepEqual(
      recordedReplies(`@You:\nGo\n\n@Assistant:\n${tag}\n\nDone.\n`).map(({ reply }) => reply),
      [[{ text: "Done." }]],
      lines,
    );
  }
});

test("replay record writes searches into the script", async (place) => {
  const text = await talked(CONVERSATIONS["a search, a fetch and cited text"]!);
  place.write("a.chat", text);
  const { stdout } = await place.exits(0, ["replay", "record", "a.chat"]);
  assert.match(stdout, /web_search:\n +id: srvtoolu_1\n +query: "deno: news"\n +results:\n +- url: https:/);
  assert.match(stdout, /web_fetch:\n +id: srvtoolu_2\n/);
  assert.match(stdout, /cites:\n/);
  assert.ok((await parseReplayScript(stdout)).ok);
});
