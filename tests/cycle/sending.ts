// Sends of a document in memory to a server on loopback that streams in Anthropic's format.

import { DEFAULT_SETTINGS, type Settings } from "../../config/settings.generated.ts";
import type { SendOptions } from "../../cycle/send/options.ts";
import { createSend } from "../../cycle/send/send.ts";
import { MemoryStore } from "../../cycle/storage/memory_store.ts";
import type { CycleEvent, DocumentStore, SendOutcome } from "../../cycle/types.ts";
import { anthropic } from "../../providers/anthropic/provider.ts";
import { type Answer, type Loopback, serve } from "../providers/loopback.ts";

export const BEFORE = "@You:\nhi\n";
export const SSE = { "content-type": "text/event-stream" };
export const END = { type: "message_stop" };

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Events as the body of a stream. */
export function frames(...events: readonly object[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}

/** Events as an answer. */
export function streamed(...events: readonly object[]): Answer {
  return { headers: SSE, body: frames(...events) };
}

export function delta(text: string): object {
  return { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } };
}

export function stop(reason: string, output_tokens = 3): object {
  return { type: "message_delta", delta: { stop_reason: reason }, usage: { output_tokens } };
}

/** The function that sends a document to the server at `url`. */
export function senderTo(
  url: string,
  store: DocumentStore,
  options: Partial<SendOptions> & { readonly variables?: Readonly<Record<string, string>> } = {},
): ReturnType<typeof createSend> {
  const { variables = {}, ...more } = options;
  return createSend({
    store,
    settings: DEFAULT_SETTINGS,
    environment: {
      cwd: "/",
      home: "/",
      variables: { ANTHROPIC_API_KEY: "secret-key", FLEMMA_ANTHROPIC_BASE_URL: url, ...variables },
    },
    provider: anthropic,
    tools: () => [],
    emit: () => {},
    ...more,
  });
}

export interface Sent {
  readonly outcome: SendOutcome;
  readonly after: string;
  readonly events: readonly CycleEvent[];
  readonly requests: Loopback["requests"];
}

export interface SentOptions extends Partial<Omit<SendOptions, "emit" | "store">> {
  readonly before?: string;
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: CycleEvent) => void;
  readonly variables?: Readonly<Record<string, string>>;
  /** The settings, given the server's address. */
  readonly settingsFor?: (url: string) => Settings;
}

/** Sends once, without retries unless asked for, to a server that gives the answers in turn, the last one for ever. */
export async function sent(answers: Answer | readonly Answer[], options: SentOptions = {}): Promise<Sent> {
  const { before = BEFORE, signal = new AbortController().signal, onEvent, settingsFor, ...more } = options;
  const list = "length" in answers ? answers : [answers];
  let count = 0;
  const server = serve(() => list[Math.min(count++, list.length - 1)]!);
  try {
    const store = new MemoryStore(bytes(before), null);
    const events: CycleEvent[] = [];
    const send = senderTo(server.url, store, {
      retry: false,
      ...(settingsFor === undefined ? {} : { settings: settingsFor(server.url) }),
      ...more,
      emit: (event) => {
        events.push(event);
        onEvent?.(event);
      },
    });
    const outcome = await send(signal);
    return { outcome, after: new TextDecoder().decode(store.chat.bytes), events, requests: server.requests };
  } finally {
    await server.close();
  }
}
