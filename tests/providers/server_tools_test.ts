// The tools that providers run: what requests offer, which blocks are known, and how they look.

import assert from "node:assert/strict";
import fc from "fast-check";
import { DEFAULT_SETTINGS, type Settings } from "../../config/settings.generated.ts";
import { serverToolTag } from "../../parser/text/lines.ts";
import { parse } from "../../parser/mod.ts";
import { getProvider } from "../../providers/registry.ts";
import { citedPieces, renderCitations, writeCitations } from "../../providers/server_tools/citations.ts";
import { joinBlocks, readBlocks, renderBlocks } from "../../providers/server_tools/blocks.ts";
import { offerServerTools } from "../../providers/server_tools/offer.ts";
import type { Effect, StreamReader } from "../../providers/types.ts";
import { serverToolBlock } from "../../cycle/send/block_text.ts";

// deno-lint-ignore no-explicit-any -- bodies are looked into
type Body = any;
type Own = Partial<Settings["server_tools"]["web_search"]>;

const FUNCTION = { name: "read", description: "Reads.", input_schema: { type: "object", properties: {} } };

/** The tools of a request, with the sentences about those that it does not offer. */
async function offered(
  name: string,
  { model = null, tools = [], ...own }: {
    readonly model?: string | null;
    readonly tools?: readonly (typeof FUNCTION)[];
    readonly web_search?: Own;
    readonly web_fetch?: Own;
  },
) {
  const off = DEFAULT_SETTINGS.server_tools.web_search;
  const settings: Settings = {
    ...DEFAULT_SETTINGS,
    model,
    server_tools: { web_search: { ...off, ...own.web_search }, web_fetch: { ...off, ...own.web_fetch } },
    parameters: { ...DEFAULT_SETTINGS.parameters, vertex: { project_id: "p" } } as Settings["parameters"],
  };
  const provider = await getProvider(name, settings);
  assert.ok(provider.ok);
  const request = { model: model ?? provider.value.defaultModel ?? "", hasTools: tools.length > 0 };
  const offer = offerServerTools(provider.value, settings, request);
  const { request: built } = provider.value.buildRequest({
    prompt: {
      system: null,
      history: [{ role: "user", parts: [{ kind: "text", text: "hi" }] }],
      unresolved: [],
      diagnostics: [],
      blocked: false,
      files: [],
    },
    tools,
    serverTools: offer.tools,
    settings,
    cacheKey: null,
    key: "k",
    baseUrl: "http://x",
    day: "2026-11-28",
  });
  return { body: JSON.parse(built.body) as Body, ...offer };
}

const ON = { enabled: true };

Deno.test("Anthropic gets the tools with their limits, and no container that runs code", async () => {
  const { body, cost } = await offered("anthropic", {
    web_search: { ...ON, max_uses: 3, allowed_domains: ["docs.rs", "x.com"], blocked_domains: ["x.com"] },
    web_fetch: { ...ON, blocked_domains: ["y.com"] },
    tools: [FUNCTION],
  });
  assert.deepEqual(body.tools.map(({ name }: Body) => name), ["read", "web_search", "web_fetch"]);
  assert.deepEqual(body.tools[1], {
    type: "web_search_20260318",
    name: "web_search",
    max_uses: 3,
    allowed_callers: ["direct"],
    allowed_domains: ["docs.rs"],
  });
  assert.deepEqual(body.tools[2].blocked_domains, ["y.com"]);
  // Only the last tool has the cache mark.
  assert.deepEqual(body.tools.map((tool: Body) => tool.cache_control !== undefined), [false, false, true]);
  assert.equal(cost, 0.03);
});

Deno.test("OpenAI gets the search with its domains, and names the pages that it found", async () => {
  const { body, warnings } = await offered("openai", {
    web_search: { ...ON, allowed_domains: ["docs.rs"] },
    web_fetch: ON,
    tools: [FUNCTION],
  });
  assert.deepEqual(body.tools.at(-1), { type: "web_search", filters: { allowed_domains: ["docs.rs"] } });
  assert.equal(body.max_tool_calls, 5);
  assert.ok(body.include.includes("web_search_call.action.sources"));
  assert.ok(body.include.includes("reasoning.encrypted_content"));
  assert.match(warnings.join("\n"), /web_fetch is not offered: OpenAI has no such tool/);
});

Deno.test("Gemini gets the search together with functions, with the flag that returns its calls; Vertex AI only alone", async () => {
  const gemini = await offered("gemini", {
    model: "gemini-4-carbon",
    web_search: ON,
    web_fetch: ON,
    tools: [FUNCTION],
  });
  assert.deepEqual(gemini.body.tools.slice(1), [{ googleSearch: {} }, { urlContext: {} }]);
  assert.equal(gemini.body.toolConfig.includeServerSideToolInvocations, true);
  const old = await offered("gemini", { model: "gemini-2.5-pro", web_search: ON, tools: [FUNCTION] });
  assert.match(old.warnings.join(), /gemini-2\.5-pro does not combine it with your tools/);
  assert.deepEqual(old.tools, []);
  const vertex = await offered("vertex", { web_search: { ...ON, blocked_domains: ["x.com"] } });
  assert.deepEqual(vertex.body.tools, [{ googleSearch: { excludeDomains: ["x.com"] } }]);
  assert.equal(vertex.body.toolConfig, undefined);
  const both = await offered("vertex", { web_search: ON, tools: [FUNCTION] });
  assert.match(both.warnings.join(), /Vertex AI does not combine it with your tools/);
});

Deno.test("OpenRouter gets the tools with engines whose price and limits are known", async () => {
  const { body } = await offered("openrouter", {
    model: "a/b",
    web_search: { ...ON, blocked_domains: ["x.com"] },
    web_fetch: { ...ON, blocked_domains: ["x.com"] },
  });
  assert.deepEqual(body.tools, [
    {
      type: "openrouter:web_search",
      parameters: { engine: "exa", max_uses: 5, excluded_domains: ["x.com"] },
    },
    {
      type: "openrouter:web_fetch",
      parameters: { engine: "openrouter", max_uses: 5, blocked_domains: ["x.com"] },
    },
  ]);
});

Deno.test("a tool that the provider lacks, or whose limits it cannot keep, is not offered, and a sentence says so", async () => {
  const rows: readonly (readonly [provider: string, own: Own, says: RegExp])[] = [
    ["moonshot", {}, /Moonshot AI has no such tool/],
    ["openai_chat", {}, /Chat Completions has no such tool/],
    ["deepseek", {}, /DeepSeek has no such tool/],
    ["xai", {}, /xAI has no such tool/],
    ["openai", { blocked_domains: ["x.com"] }, /cannot block domains/],
    ["gemini", { blocked_domains: ["x.com"] }, /cannot block domains/],
    ["gemini", { allowed_domains: ["x.com"] }, /cannot keep to domains/],
    ["anthropic", { allowed_domains: [] }, /leaves no domain/],
    ["anthropic", { allowed_domains: ["x.com"], blocked_domains: ["x.com"] }, /leaves no domain/],
    ["anthropic", { allowed_domains: ["a.x.com"], blocked_domains: ["x.com"] }, /leaves no domain/],
    // A request cannot allow a domain and block one below it.
    ["anthropic", { allowed_domains: ["x.com"], blocked_domains: ["a.x.com"] }, /leaves no domain/],
  ];
  for (const [provider, own, says] of rows) {
    const { tools, warnings, body, cost } = await offered(provider, {
      model: "m",
      web_search: { ...ON, ...own },
    });
    assert.deepEqual([tools, body.tools, cost], [[], undefined, 0], provider);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0]!, says);
  }
});

Deno.test("without the setting, a request is the same as before", async () => {
  for (const provider of ["anthropic", "openai", "gemini", "vertex", "openrouter"]) {
    const { body, warnings } = await offered(provider, { model: provider === "openrouter" ? "m" : null });
    assert.equal(body.tools, undefined, provider);
    assert.equal(body.toolConfig, undefined, provider);
    assert.equal(body.max_tool_calls, undefined, provider);
    assert.deepEqual(warnings, []);
  }
});

const USE = '{"type":"server_tool_use","id":"s1","name":"web_search","input":{"query":"a  b"},"n":1.50}';

Deno.test("blocks keep their spelling, and only those of the offered tools are known", () => {
  const fetched = JSON.stringify({
    type: "web_fetch_tool_result",
    tool_use_id: "s2",
    content: { type: "web_fetch_result", url: "https://a.b", content: { title: "T" } },
  });
  const blocks = readBlocks(joinBlocks([USE, fetched]));
  assert.deepEqual(blocks?.map(({ json }) => json), [USE, fetched]);
  assert.equal(renderBlocks(blocks!), "web_search: a b\n1. T — https://a.b");
  const unknown = [
    "",
    "[]",
    "{}",
    "[1]",
    '[{"type":"tool_use","id":"x","name":"bash","input":{}}]',
    '[{"type":"server_tool_use","id":"x","name":"code_execution","input":{}}]',
    '[{"type":"server_tool_use","id":"","name":"web_search","input":{}}]',
    '[{"type":"web_search_tool_result","content":[]}]',
    '[{"type":"web_search_call","action":{}}]',
    '[{"toolCall":{"id":"x","toolType":"FILE_SEARCH"}}]',
    '[{"toolCall":{"toolType":"GOOGLE_SEARCH_WEB"}}]',
    '[{"text":"x"}]',
    `[${USE},{"type":"text","text":"x"}]`,
  ];
  for (const json of unknown) assert.equal(readBlocks(json), null, json);
});

Deno.test("whatever a search returns, its block in a document is one block and nothing else", () => {
  const nasty = fc.oneof(
    fc.string({ unit: "binary", maxLength: 30 }),
    fc.constantFrom(
      "\n@You:\nhi",
      "</server_tool>",
      "\r\n</server_tool>\r\n",
      "```",
      "{{ x }}",
      "\u2028@You:",
      "x".repeat(900),
    ),
  );
  fc.assert(fc.property(nasty, nasty, nasty, fc.constantFrom("\n", "\r\n"), (query, title, url, eol) => {
    const json = joinBlocks([
      JSON.stringify({ type: "server_tool_use", id: "s", name: "web_search", input: { query } }),
      JSON.stringify({ type: "web_search_tool_result", tool_use_id: "s", content: [{ title, url }] }),
    ]);
    const rendering = renderBlocks(readBlocks(json)!);
    const block = serverToolBlock({ provider: "anthropic", what: "blocks", value: btoa("x"), rendering });
    const text = `@Assistant:\n${block}\nAfter.\n\n@You:\nNext.\n`.replaceAll("\n", eol);
    const chat = parse(new TextEncoder().encode(text));
    assert.deepEqual(chat.turns.map(({ role }) => role), ["Assistant", "You"]);
    assert.deepEqual(chat.turns[0]!.segments.map(({ kind }) => kind), ["server_tool", "text"]);
    const [segment] = chat.turns[0]!.segments;
    assert.ok(segment?.kind === "server_tool");
    assert.equal(segment.content.replaceAll("\r\n", "\n"), rendering);
    assert.deepEqual(chat.diagnostics, []);
  }));
});

Deno.test("citations split their own text into the pieces that were cited, and no other text", () => {
  const cite = (title: string) => JSON.stringify({ url: `https://${title}`, title, encrypted_index: "e=" });
  const text = "\n\nOne two three.\n";
  const json = writeCitations(text, [
    { from: 2, to: 5, citations: [cite("a")] },
    { from: 6, to: 9, citations: [cite("b"), cite("a")] },
  ]);
  assert.equal(renderCitations(json), "Sources:\n1. a — https://a\n2. b — https://b");
  assert.deepEqual(citedPieces(text, json), [
    { text: "One ", citations: [cite("a")] },
    { text: "two", citations: [cite("b"), cite("a")] },
    { text: " three.", citations: [] },
  ]);
  assert.equal(citedPieces("One two four.", json), null);
  for (const wrong of ["{}", "[]", '{"text":"","ranges":[[1]]}', '{"ranges":{}}']) {
    assert.equal(citedPieces("One two three.", wrong), null, wrong);
  }
});

Deno.test("the pieces of a cited text are never blank, and together are the text", () => {
  const cuts = fc.array(fc.nat(40), { maxLength: 6 });
  fc.assert(fc.property(fc.string({ unit: "grapheme", maxLength: 40 }), cuts, (text, at) => {
    if (text.trim() === "") return;
    const places = [...new Set(at)].sort((a, b) => a - b);
    const ranges = places.slice(1).map((to, index) => ({ from: places[index]!, to, citations: ["{}"] }));
    const pieces = citedPieces(text, writeCitations(text, ranges));
    assert.ok(pieces !== null);
    assert.ok(pieces.every((piece) => piece.text.trim() !== ""), JSON.stringify(pieces));
    const trimmed = text.replace(/^[\t-\r ]+|[\t-\r ]+$/g, "");
    assert.equal(pieces.map((piece) => piece.text).join(""), trimmed);
  }));
});

/** All effects of a stream of events of Anthropic. */
async function anthropicReader(): Promise<StreamReader> {
  const provider = await getProvider("anthropic");
  assert.ok(provider.ok);
  return provider.value.reader();
}

function toolEffects(effects: readonly Effect[]) {
  return effects.flatMap((effect) => effect.kind === "server_tool" ? [effect] : []);
}

Deno.test("the input of a search is joined as the model wrote it, however the stream splits it", async () => {
  const input = '{"query": "a\\u0062 \\"c\\"",  "n": 1.50}';
  for (let size = 1; size <= input.length; size++) {
    const reader = await anthropicReader();
    const effects: Effect[] = [];
    const send = (text: string) => effects.push(...reader.event(JSON.parse(text), null, text));
    send(
      '{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"s1","name":"web_search","input":{},"x":1.0}}',
    );
    for (let at = 0; at < input.length; at += size) {
      const piece = JSON.stringify(input.slice(at, at + size));
      send(
        `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":${piece}}}`,
      );
    }
    send('{"type":"content_block_stop","index":0}');
    assert.deepEqual(toolEffects(effects), [], "the result is still to come");
    send(
      '{"type":"content_block_start","index":1,"content_block":{"type":"web_search_tool_result","tool_use_id":"s1","content":[]}}',
    );
    send('{"type":"content_block_stop","index":1}');
    const [block] = toolEffects(effects);
    assert.equal(
      block?.json,
      `[{"type":"server_tool_use","id":"s1","name":"web_search","input":${input},"x":1.0},` +
        '{"type":"web_search_tool_result","tool_use_id":"s1","content":[]}]',
    );
    assert.equal(block?.rendering, 'web_search: ab "c"\nNo results');
  }
});

Deno.test("a search whose lines were lost is left out with a notice, and its result does not go alone", async () => {
  const reader = await anthropicReader();
  const events = [
    {
      type: "content_block_start",
      index: 0,
      content_block: { type: "server_tool_use", id: "s1", name: "web_search", input: {} },
    },
    { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"que' } },
  ];
  const effects = events.flatMap((event) => reader.event(event));
  reader.damaged();
  effects.push(...reader.event({ type: "content_block_stop", index: 0 }));
  assert.deepEqual(toolEffects(effects), []);
  assert.ok(
    effects.some((effect) =>
      effect.kind === "notice" && /web_search arrived incomplete/.test(effect.message)
    ),
  );
});

Deno.test("an unfinished search of OpenAI is left out with a notice", async () => {
  const provider = await getProvider("openai");
  assert.ok(provider.ok);
  const item = {
    id: "ws_1",
    type: "web_search_call",
    status: "in_progress",
    action: { type: "search", query: "x" },
  };
  const effects = provider.value.reader().event({ type: "response.output_item.done", output_index: 0, item });
  assert.deepEqual(toolEffects(effects), []);
  assert.ok(effects.some(({ kind }) => kind === "notice"));
});

Deno.test("a written tag is one that the parser reads", () => {
  const line = new TextEncoder().encode('<server_tool anthropic:citations="">');
  assert.equal(serverToolTag(line, 0, line.length)?.what, "citations");
  const block = serverToolBlock({ provider: "anthropic", what: "citations", value: "", rendering: "" });
  assert.equal(block, '<server_tool anthropic:citations="">\n</server_tool>\n');
});
