// What the replay servers refuse about tools that providers run: one row per rule, each a valid request with one error.

import assert from "node:assert/strict";
import { encrypt } from "../../providers/replay/search.ts";
import { refusals as anthropic } from "../../providers/replay/strict/anthropic.ts";
import { REFUSALS } from "../../providers/replay/strict/mod.ts";

// deno-lint-ignore no-explicit-any -- requests are changed anywhere
type Body = any;
type Row = readonly [what: string, change: (body: Body) => void, says: RegExp];

/** Checks the valid request, and each row's change of it. */
function rows(
  name: string,
  good: Body,
  refused: (body: Body) => readonly string[],
  given: readonly Row[],
): void {
  Deno.test(`the strict server of ${name} accepts a search that goes back unchanged`, () => {
    assert.deepEqual(refused(structuredClone(good)), []);
  });
  for (const [what, change, says] of given) {
    Deno.test(`the strict server of ${name} refuses ${what}`, () => {
      const body = structuredClone(good);
      change(body);
      assert.match(refused(body).join("; "), says);
    });
  }
}

const PAGE = { url: "https://a.b", title: "A" };
const CALL = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "x" } };
const RESULT = {
  type: "web_search_tool_result",
  tool_use_id: "srvtoolu_1",
  content: [{ type: "web_search_result", ...PAGE, encrypted_content: encrypt(PAGE), page_age: null }],
};
const CITED = {
  type: "text",
  text: "Yes.",
  citations: [{
    type: "web_search_result_location",
    ...PAGE,
    encrypted_index: encrypt(PAGE),
    cited_text: "A",
  }],
};
const user = (text: string) => ({ role: "user", content: [{ type: "text", text }] });

const ANTHROPIC: Body = {
  model: "claude-sonnet-5-5",
  max_tokens: 100,
  tools: [{ type: "web_search_20260318", name: "web_search", max_uses: 5, allowed_domains: ["a.b"] }],
  messages: [user("One?"), { role: "assistant", content: [CALL, RESULT, CITED] }, user("Two?")],
};
const asAnthropic = (resumes: boolean) => (body: Body) => anthropic(JSON.stringify(body), body, { resumes });

rows("Anthropic", ANTHROPIC, asAnthropic(false), [
  ["a tool with another name", (body) => body.tools[0].name = "search", /tools\.0\.name/],
  ["no uses", (body) => body.tools[0].max_uses = 0, /max_uses: Input should be greater than 0/],
  ["both lists of domains", (body) => body.tools[0].blocked_domains = ["c.d"], /only one of allowed_domains/],
  ["a domain with a scheme", (body) => body.tools[0].allowed_domains = ["https://a.b"], /without a scheme/],
  [
    "a block of a tool that is not offered",
    (body) => body.tools = [],
    /web_search of this server_tool_use is not in tools/,
  ],
  ["a result without its call", (body) => body.messages[1].content.shift(), /unexpected `tool_use_id`/],
  [
    "a call without its result",
    (body) => body.messages[1].content.splice(1, 1),
    /without a corresponding result/,
  ],
  ["an id that occurs twice", (body) => body.messages[1].content.unshift(CALL), /ids must be unique/],
  [
    "a block in a message of the person",
    (body) => body.messages[2].content.push(CALL),
    /not permitted in user messages/,
  ],
  [
    "an answer of the client to such a call",
    (body) =>
      body.messages[2].content.unshift({ type: "tool_result", tool_use_id: "srvtoolu_1", content: "x" }),
    /`tool_result` for a `server_tool_use`/,
  ],
  [
    "changed content",
    (body) => body.messages[1].content[1].content[0].title = "B",
    /Invalid `encrypted_content`/,
  ],
  [
    "content that is not its own",
    (body) => body.messages[1].content[1].content[0].encrypted_content = "eA==",
    /Invalid `encrypted_content`/,
  ],
  [
    "a changed citation",
    (body) => body.messages[1].content[2].citations[0].url = "https://c.d",
    /Invalid `encrypted_index`/,
  ],
  [
    "a citation in a message of the person",
    (body) => body.messages[2].content[0].citations = CITED.citations,
    /citations are not permitted in user messages/,
  ],
]);

const OPEN: Body = {
  ...ANTHROPIC,
  tools: [...ANTHROPIC.tools, { name: "read", description: "", input_schema: { type: "object" } }],
  messages: [
    user("One?"),
    { role: "assistant", content: [CALL, { type: "tool_use", id: "c1", name: "read", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "x" }] },
  ],
};
rows("Anthropic, for an open turn", OPEN, asAnthropic(false), [
  [
    "an open search in an earlier turn",
    (body) => body.messages.push({ role: "assistant", content: [{ type: "text", text: "x" }] }, user("y")),
    /without a corresponding result/,
  ],
]);
rows(
  "Anthropic, for a paused reply",
  {
    ...ANTHROPIC,
    messages: [user("One?"), { role: "assistant", content: [CALL] }],
  },
  asAnthropic(true),
  [],
);

const SEARCH = {
  id: "ws_1",
  type: "web_search_call",
  status: "completed",
  action: { type: "search", query: "x" },
};
const THOUGHT = { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "ZW5j" };
rows(
  "OpenAI",
  {
    model: "gpt-6-sol",
    tools: [{ type: "web_search", filters: { allowed_domains: ["a.b"] } }],
    max_tool_calls: 5,
    include: ["web_search_call.action.sources"],
    input: [
      { role: "user", content: [{ type: "input_text", text: "hi" }] },
      THOUGHT,
      SEARCH,
      { type: "message", role: "assistant", id: "msg_1", content: [{ type: "output_text", text: "Yes." }] },
      { role: "user", content: [{ type: "input_text", text: "Sure?" }] },
    ],
  },
  (body) =>
    REFUSALS.openai({ path: "/v1/responses", text: JSON.stringify(body), body, headers: new Headers() }),
  [
    ["a search without the tool", (body) => delete body.tools, /'web_search_call' needs the tool/],
    [
      "blocked domains",
      (body) => body.tools[0].blocked_domains = ["c.d"],
      /Unknown parameter: 'tools\[\]\.blocked_domains'/,
    ],
    [
      "a search without its status",
      (body) => delete body.input[2].status,
      /web_search_call needs id, status and action/,
    ],
    [
      "reasoning without its search",
      (body) => body.input.splice(2, 2),
      /without its required following item/,
    ],
    ["a search that occurs twice", (body) => body.input.push(SEARCH), /Duplicate item found with id ws_1/],
  ],
);

const GOOGLE: Body = {
  tools: [{ functionDeclarations: [{ name: "read", description: "x" }] }, { googleSearch: {} }],
  toolConfig: { functionCallingConfig: { mode: "AUTO" }, includeServerSideToolInvocations: true },
  contents: [
    { role: "user", parts: [{ text: "hi" }] },
    {
      role: "model",
      parts: [
        { toolCall: { id: "t1", toolType: "GOOGLE_SEARCH_WEB", args: {} }, thoughtSignature: "ZW5j" },
        { toolResponse: { id: "t1", toolType: "GOOGLE_SEARCH_WEB", response: {} }, thoughtSignature: "ZW5j" },
        { text: "Yes." },
      ],
    },
    { role: "user", parts: [{ text: "Sure?" }] },
  ],
};
const google = (path: string) => (body: Body) =>
  REFUSALS.google({ path, text: JSON.stringify(body), body, headers: new Headers() });
const NO_FLAG = (body: Body) => delete body.toolConfig.includeServerSideToolInvocations;
rows("Gemini", GOOGLE, google("/v1beta/models/gemini-4-carbon:streamGenerateContent"), [
  ["a search with functions but without the flag", (body) => {
    NO_FLAG(body);
    body.contents.splice(1, 1);
  }, /google_search with function_declarations needs/],
  ["the call of a search without the flag", (body) => {
    NO_FLAG(body);
    body.tools.shift();
    delete body.toolConfig.functionCallingConfig;
  }, /tool_call parts need include_server_side_tool_invocations/],
  [
    "a call without its id",
    (body) => delete body.contents[1].parts[0].toolCall.id,
    /misses its id or thought_signature/,
  ],
  [
    "a response without its signature",
    (body) => delete body.contents[1].parts[1].thoughtSignature,
    /misses its id/,
  ],
  [
    "a call without its response",
    (body) => body.contents[1].parts.splice(1, 1),
    /tool_call t1 has no tool_response/,
  ],
  [
    "a response without its call",
    (body) => body.contents[1].parts.shift(),
    /tool_response t1 has no tool_call/,
  ],
]);
rows(
  "Vertex AI",
  {
    tools: [{ googleSearch: {} }],
    contents: [{ role: "user", parts: [{ text: "hi" }] }],
  },
  google(
    "/v1beta1/projects/p/locations/global/publishers/google/models/gemini-4-carbon:streamGenerateContent",
  ),
  [
    [
      "the flag of the Gemini API",
      (body) => body.toolConfig = { includeServerSideToolInvocations: true },
      /Unknown name "includeServerSideToolInvocations"/,
    ],
  ],
);

rows(
  "OpenRouter",
  {
    model: "a/b",
    tools: [{ type: "openrouter:web_search", parameters: { engine: "exa", allowed_domains: ["a.b"] } }],
    messages: [{ role: "user", content: "hi" }],
  },
  (body) =>
    REFUSALS.chat({ path: "/v1/chat/completions", text: JSON.stringify(body), body, headers: new Headers() }),
  [
    [
      "both lists of domains",
      (body) => body.tools[0].parameters.excluded_domains = ["c.d"],
      /cannot be combined/,
    ],
  ],
);
