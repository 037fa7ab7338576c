// Reports a server that silently drops the beginning of a conversation.

import assert from "node:assert/strict";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import { silentCut } from "../../cycle/send/silent_cut.ts";
import { getProvider } from "../../providers/registry.ts";
import { frames, sent, SSE } from "./sending.ts";

Deno.test("a token count is suspicious only if it is below the minimum for any text of that length", () => {
  const body = (characters: number, more = "") => JSON.stringify({ m: "a ".repeat(characters / 2), more });
  const rows: readonly (readonly [string, string, number | null, boolean])[] = [
    ["a long one of which little was read", body(40_000), 4096, true],
    ["the same text read completely", body(40_000), 10_000, false],
    ["text that has few tokens", body(40_000), 5100, false],
    ["a short one", body(7_000), 100, false],
    ["no count", body(40_000), null, false],
    ["a count of nothing", body(40_000), 0, false],
    ["an image", body(7_000, `data:image/png;base64,${"A".repeat(400_000)}`), 2000, false],
    ["a file alone", body(7_000, "A".repeat(400_000)), 2000, false],
    ["text next to an image", body(40_000, `data:image/png;base64,${"A".repeat(4000)}`), 4096, true],
  ];
  for (const [name, text, read, reported] of rows) {
    assert.equal(silentCut(text, read) !== null, reported, name);
  }
  assert.match(
    silentCut(body(40_000), 4096)!,
    /read only 4096 of about 10,000 tokens.*OLLAMA_CONTEXT_LENGTH/,
  );
});

/** What a run is told where a server with this mark counts so many tokens of 40,000 characters. */
async function warned(mark: string, read: number): Promise<readonly string[]> {
  const chunk = {
    system_fingerprint: mark,
    choices: [{ index: 0, delta: { content: "Hi." }, finish_reason: "stop" }],
  };
  const usage = {
    system_fingerprint: mark,
    choices: [],
    usage: { prompt_tokens: read, completion_tokens: 2 },
  };
  const provider = await getProvider("openai_chat", DEFAULT_SETTINGS);
  assert.ok(provider.ok);
  const { outcome } = await sent({ headers: SSE, body: `${frames(chunk, usage)}data: [DONE]\n\n` }, {
    before: `@You:\n${"some words ".repeat(4000)}\n`,
    provider: provider.value,
    settingsFor: (url) => ({
      ...DEFAULT_SETTINGS,
      provider: "openai_chat",
      model: "qwen3:8b",
      providers: { openai_chat: { base_url: url } },
    }),
  });
  assert.ok(outcome.kind === "completed", JSON.stringify(outcome));
  return outcome.warnings.filter((warning) => warning.includes("The server read only"));
}

Deno.test("Ollama is recognized by its response, and no other server is suspected of cutting the prompt", async () => {
  assert.equal((await warned("fp_ollama", 4096)).length, 1);
  assert.equal((await warned("fp_ollama", 9000)).length, 0);
  assert.equal((await warned("fp_other", 4096)).length, 0);
});
