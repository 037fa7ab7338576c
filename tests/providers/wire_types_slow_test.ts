// Every request body matches the types of the providers' own newest packages, which only this test uses.

import assert from "node:assert/strict";
import { DEFAULT_SETTINGS, type Settings } from "../../config/settings.generated.ts";
import { dryRun } from "../../cycle/send/request.ts";
import { serverToolBlock } from "../../cycle/send/block_text.ts";
import { parse } from "../../parser/mod.ts";
import { citationOf, serverToolBlocks } from "../../providers/replay/search.ts";
import { readBlocks, renderBlocks } from "../../providers/server_tools/blocks.ts";
import { renderCitations, writeCitations } from "../../providers/server_tools/citations.ts";
import { modelsOf } from "../../providers/models/find.ts";
import { getProvider } from "../../providers/registry.ts";

/**
 * The type of a provider's bodies, and how it is widened. The packages ask OpenAI's tools for `strict`, which the API
 * does not, and know no names of tools in results nor reasoning in messages, which other servers do. Words of enumerations
 * are written as words. Anthropic's package speaks the version of the API that has no temperature any more; requests name
 * the one before, which has.
 */
const TYPES = `
import type { MessageCreateParamsStreaming } from "@anthropic-ai/sdk/resources/beta/messages/messages";
import type { Content, GenerationConfig, Tool, ToolConfig } from "@google/genai";
import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageParam,
  ChatCompletionToolMessageParam,
} from "openai/resources/chat/completions";
import type { FunctionTool, ResponseCreateParamsStreaming, WebSearchTool } from "openai/resources/responses/responses";

type Words<T> = T extends string ? \`\${T}\` : T extends (infer U)[] ? Words<U>[]
  : T extends object ? { [K in keyof T]: Words<T[K]> } : T;

export type Anthropic = Omit<MessageCreateParamsStreaming, "betas"> & { temperature?: number };
export type OpenAI = Omit<ResponseCreateParamsStreaming, "tools"> & {
  tools?: ((Omit<FunctionTool, "strict"> & { strict?: boolean }) | WebSearchTool)[];
};
export type Chat = Omit<ChatCompletionCreateParamsStreaming, "messages"> & {
  messages: (
    | Exclude<ChatCompletionMessageParam, ChatCompletionAssistantMessageParam | ChatCompletionToolMessageParam>
    | (ChatCompletionAssistantMessageParam & { reasoning_content?: string })
    | (ChatCompletionToolMessageParam & { name?: string })
  )[];
};
/** Moonshot's own members beside those. */
export type Moonshot = Omit<Chat, "reasoning_effort"> & {
  thinking?: { type: "enabled" | "disabled" };
  reasoning_effort?: "low" | "high" | "max";
};
export type Gemini = {
  contents: Words<Content>[];
  generationConfig?: Words<GenerationConfig>;
  systemInstruction?: Words<Content>;
  tools?: Words<Pick<Tool, "functionDeclarations" | "googleSearch" | "urlContext">>[];
  toolConfig?: Words<ToolConfig>;
};
/** The package does not have the member by which AI Studio keeps no log of a request. Vertex AI has no such member. */
export type AIStudio = Gemini & { store?: boolean };
`;

const PROVIDERS = [
  ["anthropic", "Anthropic"],
  ["openai", "OpenAI"],
  ["vertex", "Gemini"],
  ["gemini", "AIStudio"],
  ["moonshot", "Moonshot"],
  ["openai_chat", "Chat"],
] as const;

const USE = (id: string) =>
  `**Tool Use:** \`slack:list\` (\`${id}\`)\n\n\`\`\`json\n{"a": [1, null], "b": {}}\n\`\`\`\n`;
const REASONING = btoa(
  JSON.stringify({ id: "rs_1", type: "reasoning", summary: [], encrypted_content: "ZW5j" }),
);

/** A search by a provider, as it goes back; empty for one without a search. */
const SEARCHES: Readonly<Record<string, readonly object[]>> = {
  anthropic: [
    ...serverToolBlocks({ web_search: { query: "deno", results: [{ url: "https://a.b", title: "A" }] } }, 0),
    ...serverToolBlocks({ web_fetch: { url: "https://a.b", page: { url: "https://a.b", title: "A" } } }, 1),
  ],
  openai: [{
    id: "ws_1",
    type: "web_search_call",
    status: "completed",
    action: { type: "search", query: "deno" },
  }],
  gemini: [
    {
      toolCall: { id: "t1", toolType: "GOOGLE_SEARCH_WEB", args: { queries: ["deno"] } },
      thoughtSignature: "c2ln",
    },
    { toolResponse: { id: "t1", toolType: "GOOGLE_SEARCH_WEB", response: {} }, thoughtSignature: "c2ln" },
  ],
};

function searchOf(provider: string): string {
  const json = JSON.stringify(SEARCHES[provider] ?? []);
  const rendering = renderBlocks(readBlocks(json) ?? []);
  if (rendering === "") return "";
  const cited = "Found.\n\n";
  const citation = JSON.stringify(citationOf({ url: "https://a.b", title: "A" }));
  const citations = writeCitations(cited, [{ from: 0, to: 5, citations: [citation] }]);
  return serverToolBlock({ provider, what: "blocks", value: btoa(json), rendering }) + "\n" + cited +
    (provider === "anthropic"
      ? serverToolBlock({
        provider,
        what: "citations",
        value: btoa(citations),
        rendering: renderCitations(citations),
      })
      : "");
}

/** A conversation with everything that messages can hold. */
function documentFor(provider: string): string {
  const own = provider === "openai" ? REASONING : "c2ln";
  return `@System:\nBe brief.\n\n@You:\nSee @./dot.png and @./spec.pdf and @./notes.md\n\n@Assistant:\n` +
    `<thinking ${provider}:signature="${own}">\n</thinking>\n\n${searchOf(provider)}\nI will.\n\n${
      USE("a")
    }\n${USE("b")}\n` +
    `<thinking other:signature="x">\nForeign.\n</thinking>\n\n@You:\n**Tool Result:** \`a\`\n\n\`\`\`\nout\n\`\`\`\n\n` +
    `**Tool Result:** \`b\` (error)\n\n\`\`\`\n\`\`\`\n\n@Assistant:\nDone.\n\n@You:\nThanks.\n\n@Assistant:\n` +
    `<thinking>\nplain\n</thinking>\n\n${USE("c")}\n@You:\n**Tool Result:** \`c\`\n\n\`\`\`\nout\n\`\`\`\n`;
}

const TOOLS = [
  {
    name: "slack:list",
    description: "Lists.",
    strict: true,
    input_schema: { type: "object", properties: {}, required: [], additionalProperties: false },
    output_schema: { type: "string" },
  },
  {
    name: "read",
    description: "Reads.",
    input_schema: { type: "object", properties: { path: { type: "string" } } },
  },
];

/** What a request with the search of a provider contains. */
const BACK: Readonly<Record<string, string>> = {
  anthropic: "encrypted_index",
  openai: "ws_1",
  gemini: "toolResponse",
};

/** Settings that change what bodies hold. */
const PARAMETERS: readonly Readonly<Record<string, unknown>>[] = [
  {},
  { thinking: { level: "max", foreign: "preserve" }, cache_retention: "long", temperature: 1 },
  {
    thinking: { level: false, foreign: "drop" },
    cache_retention: "none",
    max_tokens: 4000,
    temperature: 0.3,
  },
];

const ON = { ...DEFAULT_SETTINGS.server_tools.web_search, enabled: true };

async function bodies(provider: string, folder: string): Promise<readonly string[]> {
  const known = modelsOf(provider).filter(({ state }) => state !== "gone").map(({ id }) => id);
  const models = known.length === 0 ? ["qwen3"] : [...known, "a-new-one"];
  const found = await getProvider(provider);
  assert.ok(found.ok);
  const made = new Set<string>();
  for (const model of models) {
    for (const parameters of PARAMETERS) {
      const own = { vertex: { project_id: "demo" }, openai_chat: { reasoning: "low" } };
      const settings = {
        ...DEFAULT_SETTINGS,
        model,
        parameters: { ...DEFAULT_SETTINGS.parameters, ...own, ...parameters } as Settings["parameters"],
        server_tools: { web_search: ON, web_fetch: ON },
      };
      const prepared = await dryRun({
        chat: parse(new TextEncoder().encode(documentFor(provider))),
        document: `${folder}/talk.chat`,
        settings,
        environment: { cwd: folder, home: folder, variables: {} },
        provider: found.value,
        tools: TOOLS,
        isTrusted: () => Promise.resolve(true),
      });
      assert.ok(prepared.kind === "ready", JSON.stringify(prepared));
      made.add(prepared.request.body);
    }
  }
  return [...made];
}

Deno.test("every request body matches the types in the providers' own packages", async () => {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "flemma-types-" }));
  try {
    await Deno.writeFile(`${folder}/dot.png`, Uint8Array.fromBase64("iVBORw0KGgo="));
    await Deno.writeFile(`${folder}/spec.pdf`, Uint8Array.fromBase64("JVBERi0xLjQgZGVtbw=="));
    await Deno.writeTextFile(`${folder}/notes.md`, "# Notes\n");
    await Deno.writeTextFile(`${folder}/types.ts`, TYPES);
    const lines = [`import type { AIStudio, Anthropic, Chat, Gemini, Moonshot, OpenAI } from "./types.ts";`];
    for (const [provider, type] of PROVIDERS) {
      const all = await bodies(provider, folder);
      assert.ok(all.length > 2, provider);
      const back = SEARCHES[provider] === undefined || all.some((body) => body.includes(BACK[provider]!));
      assert.ok(back, `the search of ${provider} does not go back`);
      lines.push(
        "// @ts-expect-error nothing of what it needs",
        `export const ${provider}: ${type} = { nonsense: 1 };`,
      );
      all.forEach((body, index) => lines.push(`export const ${provider}_${index}: ${type} = ${body};`));
    }
    await Deno.writeTextFile(`${folder}/bodies.ts`, `${lines.join("\n")}\n`);
    const config = new URL("../../deno.json", import.meta.url).pathname;
    const { code, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["check", "--quiet", "--config", config, `${folder}/bodies.ts`],
      env: { NO_COLOR: "1" },
    }).output();
    assert.equal(code, 0, new TextDecoder().decode(stderr).slice(0, 4000));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
