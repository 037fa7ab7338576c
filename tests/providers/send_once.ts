// Sends of a document in memory to a server at an address.

import assert from "node:assert/strict";
import { DEFAULT_SETTINGS, type Settings } from "../../config/settings.generated.ts";
import type { SendOptions } from "../../cycle/send/options.ts";
import { createSend } from "../../cycle/send/send.ts";
import { MemoryStore } from "../../cycle/storage/memory_store.ts";
import type { SendOutcome } from "../../cycle/types.ts";
import { getProvider } from "../../providers/registry.ts";

/** A key for every provider. */
export const KEYS = {
  ANTHROPIC_API_KEY: "k",
  OPENAI_API_KEY: "k",
  VERTEX_ACCESS_TOKEN: "k",
  GOOGLE_API_KEY: "k",
  MOONSHOT_API_KEY: "k",
};

/** A home folder of this process, for what sends remember. */
const HOME = await Deno.makeTempDir({ prefix: "flemma-home-" });
globalThis.addEventListener("unload", () => Deno.removeSync(HOME, { recursive: true }));

export interface Asked extends Partial<Omit<SendOptions, "store" | "settings" | "environment" | "provider">> {
  readonly provider: string;
  readonly model: string | null;
  readonly url: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly providers?: Settings["providers"];
  /** @default keys for all providers */
  readonly variables?: Readonly<Record<string, string>>;
}

/** Sends a document once, without retries unless asked for. */
export async function sendOnce(
  document: string,
  { provider, model, url, parameters, providers, variables = KEYS, ...options }: Asked,
): Promise<{ readonly outcome: SendOutcome; readonly after: string }> {
  const settings: Settings = {
    ...DEFAULT_SETTINGS,
    provider,
    model,
    parameters: { ...DEFAULT_SETTINGS.parameters, vertex: { project_id: "demo" }, ...parameters },
    providers: { [provider]: { base_url: url }, ...providers },
  };
  const found = await getProvider(provider, settings);
  assert.ok(found.ok);
  const store = new MemoryStore(new TextEncoder().encode(document), null);
  const outcome = await createSend({
    store,
    settings,
    environment: { cwd: "/", home: HOME, variables },
    provider: found.value,
    tools: () => [],
    emit: () => {},
    retry: false,
    ...options,
  })(new AbortController().signal);
  return { outcome, after: new TextDecoder().decode(store.chat.bytes) };
}
