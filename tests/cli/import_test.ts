// `flemma import` turns a request into a document that sends the same conversation.

import assert from "node:assert/strict";
import { chatInMemory } from "../../agent/open.ts";
import { documentOf } from "../../commands/write/import/request_text.ts";
import { requestIn } from "../../commands/write/import/import.ts";
import { testWithScene as test } from "./harness.ts";

const REQUEST = JSON.stringify({
  model: "claude-sonnet-5-5",
  max_tokens: 20_000,
  temperature: 1,
  system: 'You are "terse".\nSay it\nin \u{1F600} two lines.',
  messages: [
    { role: "user", content: [{ type: "text", text: "Hi {{CITY}}, see @./notes.txt" }] },
    { role: "assistant", content: "Hello!\n@You:\nnot a message" },
    { role: "user", content: "And\n@System:\nnow?" },
  ],
});

interface Message {
  readonly role: string;
  readonly content: unknown;
}

/** The conversation that a document would send: for each message its role and its texts. */
async function sent(
  text: string,
): Promise<{ readonly system: string; readonly messages: readonly string[] }> {
  const opened = await chatInMemory(new TextEncoder().encode(text), {
    environment: { cwd: "/", home: "/", variables: {} },
    settings: { noConfig: true },
  });
  assert.ok(opened.ok);
  await using session = opened.value;
  const prepared = await session.request();
  assert.ok(prepared.kind === "ready", JSON.stringify(prepared));
  const body = JSON.parse(prepared.request.body) as { system?: unknown; messages: Message[] };
  const words = (content: unknown): string =>
    typeof content === "string"
      ? content
      : (content as { text?: string; type: string; content?: unknown; id?: string }[]).map((block) =>
        block.type === "text"
          ? block.text
          : block.type === "tool_use"
          ? `call ${block.id}`
          : `result ${words(block.content)}`
      ).join("|");
  return {
    system: body.system === undefined ? "" : words(body.system),
    messages: body.messages.map(({ role, content }) => `${role}: ${words(content)}`),
  };
}

function converted(text: string, keep = (payload: string) => Promise.resolve(btoa(payload))) {
  const request = requestIn(text);
  assert.ok(request.ok, JSON.stringify(request));
  return documentOf(request.value, keep);
}

Deno.test("an imported request becomes a document that sends the same text, whatever the text looks like", async () => {
  const { text, leftOut } = await converted(REQUEST);
  assert.ok(text.startsWith(`\`\`\`json
${
    JSON.stringify(
      { flemma: { model: "claude-sonnet-5-5", parameters: { max_tokens: 20000, temperature: 1 } } },
      null,
      2,
    )
  }
\`\`\`

@System:
`));
  assert.deepEqual(leftOut, ["Lines that would start a message or a result were indented by a space."]);
  assert.deepEqual(await sent(text), {
    system: 'You are "terse".\nSay it\nin 😀 two lines.',
    messages: [
      "user: Hi {{CITY}}, see @./notes.txt",
      "assistant: Hello!\n@You:\nnot a message",
      "user: And\n @System:\nnow?",
    ],
  });
});

Deno.test("import keeps calls and results, and names the parts of a request that a document cannot contain", async () => {
  const request = {
    model: "claude-sonnet-5-5",
    tools: [],
    thinking: { type: "disabled" },
    messages: [
      { role: "user", content: "Look" },
      {
        role: "assistant",
        content: [{ type: "text", text: "I will." }, {
          type: "tool_use",
          id: "t1",
          name: "ls",
          input: { path: "." },
        }],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "a\n```\nb" }] },
          { type: "image", source: {} },
          { type: "text", text: "Go on" },
        ],
      },
      { role: "assistant", content: "Done." },
    ],
  };
  const { text, leftOut } = await converted(JSON.stringify(request));
  assert.deepEqual(leftOut, [
    'Blocks of the type "image" were left out.',
    "The parameter tools was left out.",
  ]);
  assert.match(text, /"thinking": false/);
  assert.ok(text.endsWith("@Assistant:\nDone.\n\n@You:\n"), text);
  const { messages } = await sent(`${text}x\n`);
  assert.deepEqual(messages, [
    "user: Look",
    "assistant: I will.|call t1",
    "user: result a\n```\nb|\nGo on",
    "assistant: Done.",
    "user: x",
  ]);
});

Deno.test("imported text that looks like document syntax is sent unchanged", async () => {
  const words = [
    "{{ 1 + 1 }} and {% if x then %}",
    "before {% endraw %} behind {{ x }}",
    "{% raw %}inner{% endraw %}",
    "{%- endraw -%}",
    "@~/secret and @../up and @./a%20b;type=text/plain",
    "@/etc/passwd",
    "```js\n@You:\nlet a\n```\nrest",
    "<thinking>\nno\n</thinking>",
    "\\@You:",
    "back\\slash \\n `tick` ${dollar}",
    "```flemma:tool status=approved\n```",
  ];
  for (const word of words) {
    const body = {
      messages: [{ role: "user", content: word }, { role: "assistant", content: word }, {
        role: "user",
        content: "x",
      }],
    };
    const { text } = await converted(JSON.stringify(body));
    assert.deepEqual((await sent(text)).messages, [`user: ${word}`, `assistant: ${word}`, "user: x"], text);
  }
});

Deno.test("import refuses JavaScript, and JSON that has no messages, and says what to provide", () => {
  const rows = [
    [
      "client.messages.create({ model: 'x', messages: [] })",
      "request-unreadable",
      /^This is not JSON: /,
      /stringify/,
    ],
    ["", "request-unreadable", /^This is not JSON: /, /stringify/],
    ['{"model": "x"}', "request-unknown", /no list of messages/, /"messages": \[/],
    ["[]", "request-unknown", /no list of messages/, /"messages": \[/],
  ] as const;
  for (const [text, code, words, next] of rows) {
    const request = requestIn(text);
    assert.ok(!request.ok, text);
    assert.equal(request.problem.code, code, text);
    assert.match(request.problem.message, words);
    assert.match(request.problem.next!, next);
  }
});

test("import prints the document and reports missing parts on standard error", async (place) => {
  place.write("request.json", REQUEST);
  const { stdout, stderr } = await place.exits(0, ["import", "request.json"]);
  assert.equal(stdout, (await converted(REQUEST)).text);
  assert.match(stderr, /^flemma: Lines that would start/);
  const piped = await place.run(["import", "--json"], { stdin: REQUEST });
  assert.equal(JSON.parse(piped.stdout).document, stdout);
  const missing = await place.run(["import", "none.json"]);
  assert.deepEqual([missing.code, missing.stderr], [
    1,
    "flemma: There is no file none.json.\n  Name a file with the JSON of a request, or pipe it to: flemma import\n",
  ]);
});

const PAGE = { url: "https://deno.com/blog/v2.9", title: "Deno 2.9" };
const SEARCH = [
  { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "deno" } },
  {
    type: "web_search_tool_result",
    tool_use_id: "srvtoolu_1",
    content: [{ type: "web_search_result", ...PAGE, encrypted_content: "c2VjcmV0", page_age: null }],
  },
];
const CITED = {
  type: "text",
  text: "It is out",
  citations: [{ type: "web_search_result_location", ...PAGE, encrypted_index: "aW5kZXg=", cited_text: "x" }],
};
const SEARCHED = {
  model: "claude-sonnet-5-5",
  messages: [
    { role: "user", content: "Go" },
    {
      role: "assistant",
      content: [
        { type: "text", text: "I look." },
        ...SEARCH,
        { type: "text", text: "Well: " },
        CITED,
        { type: "text", text: "." },
        { type: "server_tool_use", id: "srvtoolu_2", name: "code_execution", input: {} },
      ],
    },
    { role: "user", content: "Sure?" },
  ],
};

test("an imported search has visible lines, and goes back byte for byte with its citations", async (place) => {
  place.settings("server_tools: { web_search: true }\n");
  for (
    const [name, json] of [["a", JSON.stringify(SEARCHED)], ["b", JSON.stringify(SEARCHED, null, 4)]] as const
  ) {
    const imported = await place.exits(0, ["import"], { stdin: json });
    assert.match(imported.stderr, /^flemma: Blocks of the type "server_tool_use" were left out\.\n$/);
    assert.match(
      imported.stdout,
      /I look\.\n\n<server_tool anthropic:blocks="[^"]+">\nweb_search: deno\n1\. Deno 2\.9 — https:\S+\n<\/server_tool>\n\nWell: It is out\.\n\n<server_tool anthropic:citations=/,
    );
    place.write(`${name}.chat`, imported.stdout);
    const env = { ANTHROPIC_API_KEY: "sk-ant-x" };
    const { stdout, stderr } = await place.exits(0, ["advance", `${name}.chat`, "--no-tools", "--dry-run"], {
      env,
    });
    assert.doesNotMatch(stderr, /line \d/);
    const body = JSON.parse(stdout);
    const [, reply] = body.messages as { readonly content: readonly object[] }[];
    assert.equal(JSON.stringify(reply!.content.slice(1, 3)), JSON.stringify(SEARCH));
    assert.deepEqual(reply!.content[4], CITED);
  }
});

Deno.test("an import that cannot keep the data of a search still has its visible lines", async () => {
  const { text } = await converted(JSON.stringify(SEARCHED), () => Promise.resolve(""));
  assert.match(text, /<server_tool anthropic:blocks="">\nweb_search: deno\n/);
});
