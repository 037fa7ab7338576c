// Images and documents that tools returned, in the requests of each API.

import assert from "node:assert/strict";
import { DEFAULT_SETTINGS, type Settings } from "../../config/settings.generated.ts";
import type { Part, Prompt } from "../../prompt/types.ts";
import { getProvider } from "../../providers/registry.ts";
import { withoutResultFiles } from "../../providers/request/result_files.ts";

const IMAGE: Part = {
  kind: "image",
  mimeType: "image/png",
  data: "aW1n",
  filename: "0123abcd.png",
  attached: true,
};
const DOCUMENT: Part = {
  kind: "pdf",
  mimeType: "application/pdf",
  data: "cGRm",
  filename: "4567cdef.pdf",
  attached: true,
};

function prompt(isError: boolean, ...files: readonly Part[]): Prompt {
  const call = { kind: "tool_use", id: "c1", name: "shot", input: {}, inputText: "{}" } as const;
  const parts: Part[] = [{ kind: "text", text: "[two files]" }, ...files];
  return {
    system: null,
    history: [
      { role: "user", parts: [{ kind: "text", text: "Look." }] },
      { role: "assistant", parts: [call] },
      { role: "user", parts: [{ kind: "tool_result", toolUseId: "c1", name: "shot", isError, parts }] },
    ],
    unresolved: [],
    diagnostics: [],
    blocked: false,
    files: [],
  };
}

async function sent(
  provider: string,
  given: Prompt,
): Promise<{ last: unknown; warnings: readonly string[] }> {
  const settings: Settings = {
    ...DEFAULT_SETTINGS,
    provider,
    model: provider === "openai_chat" ? "qwen3" : null,
    parameters: {
      ...DEFAULT_SETTINGS.parameters,
      ...(provider === "vertex" ? { vertex: { project_id: "p" } } : {}),
    } as Settings["parameters"],
  };
  const found = await getProvider(provider, settings);
  assert.ok(found.ok);
  const { request, warnings } = found.value.buildRequest({
    prompt: given,
    tools: [],
    settings,
    cacheKey: null,
    key: "k",
    baseUrl: "http://x",
    day: "2026-11-28",
  });
  const body = JSON.parse(request.body);
  return { last: (body.messages ?? body.contents ?? body.input).at(-1), warnings };
}

const source = (media_type: string, data: string) => ({ type: "base64", media_type, data });

Deno.test("files of a result are sent to Anthropic inside the result; an error result may contain only text, so files are sent after it", async () => {
  const files = [
    { type: "image", source: source("image/png", "aW1n") },
    { type: "document", source: source("application/pdf", "cGRm"), title: "4567cdef.pdf" },
  ];
  const stated = { type: "text", text: "[two files]" };
  const good = await sent("anthropic", prompt(false, IMAGE, DOCUMENT));
  assert.deepEqual(good.last, {
    role: "user",
    content: [{ type: "tool_result", tool_use_id: "c1", content: [stated, ...files] }],
  });
  const bad = await sent("anthropic", prompt(true, IMAGE, DOCUMENT));
  assert.deepEqual(bad.last, {
    role: "user",
    content: [{ type: "tool_result", tool_use_id: "c1", content: "[two files]", is_error: true }, ...files],
  });
});

Deno.test('files in a result are sent to OpenAI inside its output, after the word "Error:" if the result is an error', async () => {
  const files = [
    { type: "input_text", text: "[two files]" },
    { type: "input_image", image_url: "data:image/png;base64,aW1n", detail: "auto" },
    { type: "input_file", filename: "4567cdef.pdf", file_data: "data:application/pdf;base64,cGRm" },
  ];
  const output = async (isError: boolean) =>
    ((await sent("openai", prompt(isError, IMAGE, DOCUMENT))).last as { output: unknown }).output;
  assert.deepEqual(await output(false), files);
  assert.deepEqual(await output(true), [{ type: "input_text", text: "Error:" }, ...files]);
});

Deno.test("files in a result are sent to Gemini and Vertex AI next to the response", async () => {
  for (const provider of ["gemini", "vertex"]) {
    for (
      const [isError, response] of [[false, { output: "[two files]" }], [true, {
        error: "[two files]",
      }]] as const
    ) {
      assert.deepEqual((await sent(provider, prompt(isError, IMAGE, DOCUMENT))).last, {
        role: "user",
        parts: [
          { functionResponse: { name: "shot", response } },
          { inlineData: { mimeType: "image/png", data: "aW1n" } },
          { inlineData: { mimeType: "application/pdf", data: "cGRm" } },
        ],
      });
    }
  }
});

Deno.test("Chat Completions accepts only text in a result, so the line about a file is sent, and the person is informed once", async () => {
  for (const provider of ["openai_chat", "moonshot"]) {
    const { last, warnings } = await sent(provider, prompt(false, IMAGE, DOCUMENT));
    const { role, content } = last as { role: string; content: unknown };
    assert.deepEqual([role, content], ["tool", "[two files]"]);
    assert.equal(warnings.filter((words) => words.includes("in results are sent")).length, 1);
  }
  assert.deepEqual(
    (await sent("openai_chat", prompt(false))).warnings.filter((words) => words.includes("in results")),
    [],
  );
});

Deno.test("removing files of results from a conversation keeps everything else, and adds the names of files that no line mentions", () => {
  const read: Part = { kind: "image", mimeType: "image/png", data: "aW1n", filename: "0123abcd.png" };
  const given = prompt(false, IMAGE, read, DOCUMENT);
  const [first, second, third] = withoutResultFiles(given).history;
  assert.deepEqual([first, second], given.history.slice(0, 2));
  const [result] = third!.parts;
  assert.ok(result?.kind === "tool_result");
  assert.deepEqual(result.parts, [
    { kind: "text", text: "[two files]" },
    { kind: "text", text: "[binary file: 0123abcd.png]" },
  ]);
});
