// A snippet becomes a document that sends the same conversation.

import assert from "node:assert/strict";
import { chatInMemory } from "../../agent/open.ts";
import { documentOf } from "../../commands/write/import/request_text.ts";
import { requestIn } from "../../commands/write/import/import.ts";
import { withScene } from "./harness.ts";

const SNIPPET = `
import Anthropic from "@anthropic-ai/sdk";
const anthropic = new Anthropic({ apiKey: process.env.KEY });
// The call.
const msg = await anthropic.messages.create({
  model: "claude-sonnet-5-5",
  max_tokens: 20_000,
  temperature: 1,
  system: 'You are "terse".\\n' + \`Say it
in \\u{1F600} two lines.\`,
  messages: [
    { "role": "user", "content": [{ type: "text", text: "Hi {{CITY}}, see @./notes.txt" }] },
    { role: 'assistant', content: "Hello!\\n@You:\\nnot a message", },
    { role: "user", content: "And\\n@System:\\nnow?" /* the last */ },
  ],
});
console.log(msg);
`;

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

function converted(snippet: string) {
  const request = requestIn(snippet);
  assert.ok(request.ok, JSON.stringify(request));
  return documentOf(request.value);
}

Deno.test("a snippet becomes a document that sends the same words, whatever they look like", async () => {
  const { text, leftOut } = converted(SNIPPET);
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
  assert.deepEqual(leftOut, ["Lines that would begin a message or a result got a blank before them."]);
  assert.deepEqual(await sent(text), {
    system: 'You are "terse".\nSay it\nin 😀 two lines.',
    messages: [
      "user: Hi {{CITY}}, see @./notes.txt",
      "assistant: Hello!\n@You:\nnot a message",
      "user: And\n @System:\nnow?",
    ],
  });
});

Deno.test("calls and their results come along, and what has no place in a document is named", async () => {
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
  const { text, leftOut } = converted(JSON.stringify(request));
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

Deno.test("words that look like anything a document knows are sent as they are", async () => {
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
    const { text } = converted(JSON.stringify(body));
    assert.deepEqual((await sent(text)).messages, [`user: ${word}`, `assistant: ${word}`, "user: x"], text);
  }
});

Deno.test("what is code and no value is refused with its line, and nothing of it is run", () => {
  const rows = [
    [
      "client.messages.create({\n  model: MODEL,\n  messages: [] })",
      "snippet-code",
      /^Line 2 .*: MODEL is no value but code\.$/,
    ],
    [
      'client.messages.create({ messages: [{ role: "user", content: `Hi ${name}` }] })',
      "snippet-code",
      /with \$\{…\} is code/,
    ],
    ['client.messages.create({ messages: "x" + y })', "snippet-code", /only strings/],
    ['client.messages.create({ messages: ["x })', "snippet-code", /not closed/],
    ["client.messages.create({ messages: [1 2] })", "snippet-code", /"," is missing/],
    ["client.messages.create({ ...rest })", "snippet-code", /a name is missing/],
    ["client.messages.create({ messages })", "snippet-code", /":" is missing/],
    ["client.messages.create({ model: 'x' })", "snippet-unknown", /no list of messages/],
    ["console.log('hello')", "snippet-unknown", /no call of messages\.create/],
    ["", "snippet-unknown", /no call/],
  ] as const;
  for (const [snippet, code, words] of rows) {
    const request = requestIn(snippet);
    assert.ok(!request.ok, snippet);
    assert.equal(request.problem.code, code, snippet);
    assert.match(request.problem.message, words);
  }
});

Deno.test("the command prints the document, and says what is missing on the other stream", () =>
  withScene(async (place) => {
    place.write("snippet.js", SNIPPET);
    const { code, stdout, stderr } = await place.run(["import", "snippet.js"]);
    assert.equal(code, 0);
    assert.equal(stdout, converted(SNIPPET).text);
    assert.match(stderr, /^flemma: Lines that would begin/);
    const piped = await place.run(["import", "--json"], { stdin: SNIPPET });
    assert.equal(JSON.parse(piped.stdout).document, stdout);
    const missing = await place.run(["import", "none.js"]);
    assert.deepEqual([missing.code, missing.stderr], [1, "flemma: There is no file none.js.\n"]);
  }));
