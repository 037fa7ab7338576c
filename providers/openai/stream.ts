// The event stream of the Responses API, event by event (providers section 5.5).

import { isObject } from "../../base/is_object.ts";
import { providerError } from "../http/errors.ts";
import { toolName } from "../request/wire.ts";
import { callInput, IncompleteCalls } from "../stream/call_input.ts";
import { count, list, text } from "../stream/fields.ts";
import { UnknownTypes } from "../stream/unknown_types.ts";
import type { Effect, OfferedTool, ProviderError, StreamReader, Usage } from "../types.ts";
import { phaseNote } from "./items.ts";
import { summaryOf, writeSignature } from "./reasoning.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/** Items whose content reaches the document. */
const KNOWN_ITEMS: ReadonlySet<unknown> = new Set(["message", "reasoning", "function_call"]);

/** What may end a reply before it is complete, and means that its author took it back. */
const BLOCKED: ReadonlySet<unknown> = new Set(["content_filter"]);

/** Reads one reply. Text goes on as it comes; reasoning and calls when their item is whole. */
export class OpenAIReader implements StreamReader {
  readonly #offered: readonly OfferedTool[];
  readonly #readError: (body: unknown, headers: Headers | null) => ProviderError;
  /** How much text was given on, by the place of its part in the reply. */
  readonly #given = new Map<string, number>();
  /** Places of the items that were whole. */
  readonly #whole = new Set<number>();
  /** Calls whose item is not done, by its place. */
  readonly #open = new Map<number, string>();
  /** What of reasoning and calls has come, by its place. */
  readonly #growing = new Map<
    number,
    { readonly block: "thinking" | "call"; readonly name?: string; readonly characters?: number }
  >();
  readonly #incomplete = new IncompleteCalls();
  readonly #unknown = new UnknownTypes();
  #calls = 0;
  #refused = false;
  /** Some line was lost, so that what was given on is not the beginning of the whole any more. */
  #damaged = false;
  #closed = false;

  constructor(
    offered: readonly OfferedTool[],
    readError: (body: unknown, headers: Headers | null) => ProviderError,
  ) {
    this.#offered = offered;
    this.#readError = readError;
  }

  get closed(): boolean {
    return this.#closed;
  }

  damaged(): void {
    this.#damaged = true;
  }

  event(data: unknown, headers: Headers | null = null): Effect[] {
    if (!isObject(data)) return [];
    switch (data.type) {
      case "response.output_text.delta":
        return this.#textDelta(data, data.delta);
      case "response.refusal.delta":
        this.#refused = true;
        return this.#textDelta(data, data.delta);
      case "response.output_text.done":
        return this.#wholeText(data, data.text);
      case "response.refusal.done":
        this.#refused = true;
        return this.#wholeText(data, data.refusal);
      case "response.output_item.added":
        return this.#added(place(data), data.item);
      case "response.function_call_arguments.delta":
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        return this.#grown(place(data), text(data.delta));
      case "response.output_item.done":
        return this.#done(place(data), data.item);
      case "response.completed":
      case "response.incomplete":
        return this.#end(data.response);
      case "response.failed":
        return [{ kind: "error", error: this.#failed(data.response, headers) }];
      case "error":
        return [{ kind: "error", error: this.#streamError(data, headers) }];
      default:
        return isObject(data.error) ? [{ kind: "error", error: this.#readError(data, headers) }] : [];
    }
  }

  #textDelta(data: JsonObject, delta: unknown): Effect[] {
    const key = partOf(data);
    this.#given.set(key, (this.#given.get(key) ?? 0) + text(delta).length);
    return said(text(delta));
  }

  /** The whole of a part: what of it has not come in pieces is given on now. */
  #wholeText(data: JsonObject, whole: unknown): Effect[] {
    const key = partOf(data);
    const given = this.#given.get(key) ?? 0;
    if (given > 0 && this.#damaged) return [];
    this.#given.set(key, Math.max(given, text(whole).length));
    return said(text(whole).slice(given));
  }

  #added(at: number, item: unknown): Effect[] {
    if (!isObject(item)) return [];
    if (!KNOWN_ITEMS.has(item.type)) return this.#unknown.tell("item", item.type);
    if (item.type === "message") return [];
    const isCall = item.type === "function_call";
    if (isCall) this.#open.set(at, this.#nameOf(item));
    this.#growing.set(at, isCall ? { block: "call", name: this.#nameOf(item) } : { block: "thinking" });
    return this.#grown(at, "");
  }

  /** How much of an item that is written when it is whole has come. */
  #grown(at: number, more: string): Effect[] {
    const item = this.#growing.get(at);
    if (item === undefined) return [];
    const grown = { ...item, characters: (item.characters ?? 0) + more.length };
    this.#growing.set(at, grown);
    return [{ kind: "progress", ...grown }];
  }

  #done(at: number, item: unknown): Effect[] {
    if (!isObject(item)) return [];
    this.#open.delete(at);
    this.#growing.delete(at);
    this.#whole.add(at);
    switch (item.type) {
      case "message":
        return [
          ...list(item.content).flatMap((part, index) => this.#messagePart(at, index, part)),
          ...phaseOf(item),
        ];
      case "reasoning":
        return [{
          kind: "thinking",
          content: summaryOf(item),
          signature: { provider: "openai", value: writeSignature(item) },
        }];
      case "function_call":
        return this.#call(item);
      default:
        return this.#unknown.tell("item", item.type);
    }
  }

  #messagePart(at: number, index: number, part: unknown): Effect[] {
    if (!isObject(part)) return [];
    const where = { output_index: at, content_index: index };
    if (part.type === "output_text") return this.#wholeText(where, part.text);
    if (part.type !== "refusal") return this.#unknown.tell("part", part.type);
    this.#refused = true;
    return this.#wholeText(where, part.refusal);
  }

  #call(item: JsonObject): Effect[] {
    const name = this.#nameOf(item);
    const given = item.arguments;
    const inputText = item.status === "incomplete"
      ? null
      : callInput(isObject(given) ? JSON.stringify(given) : text(given));
    if (inputText === null) {
      this.#incomplete.add(name);
      return [];
    }
    // Servers that imitate the API leave ids out; each call needs one to be answered by.
    const id = text(item.call_id) || text(item.id) || `call_${++this.#calls}`;
    return [{ kind: "tool_use", id, name, inputText }];
  }

  #nameOf(item: JsonObject): string {
    return toolName(text(item.name), this.#offered);
  }

  #end(response: unknown): Effect[] {
    this.#closed = true;
    const { usage, incomplete_details: details, status, output } = isObject(response) ? response : {};
    // The end repeats all items: those whose own events were lost, or never sent, are taken from here.
    const late = list(output).flatMap((item, at) => this.#whole.has(at) ? [] : this.#done(at, item));
    const effects = [...late, ...usageOf(usage)];
    const cut = isObject(details) || status === "incomplete";
    const reason = isObject(details) ? text(details.reason) || "unknown" : "unknown";
    for (const name of this.#open.values()) this.#incomplete.add(name);
    if (this.#incomplete.any) {
      return [...effects, { kind: "error", error: this.#incomplete.error(cut && !BLOCKED.has(reason)) }];
    }
    if (this.#refused) return [...effects, { kind: "stop", outcome: "blocked", reason: "refusal" }];
    if (!cut) return [...effects, { kind: "stop", outcome: "normal", reason: null }];
    const outcome = BLOCKED.has(reason) ? "blocked" : "truncated";
    return [...effects, {
      kind: "stop",
      outcome,
      reason: reason === "max_output_tokens" ? "max_tokens" : reason,
    }];
  }

  #failed(response: unknown, headers: Headers | null): ProviderError {
    const error = isObject(response) ? response.error : undefined;
    if (isObject(error)) return this.#readError({ error: { ...error, type: undefined } }, headers);
    return providerError("other", "Response failed");
  }

  #streamError(data: JsonObject, headers: Headers | null): ProviderError {
    if (isObject(data.error)) return this.#readError(data, headers);
    const code = text(data.code) || "unknown";
    const message = `OpenAI stream error (code: ${code}): ${text(data.message) || "no message"}`;
    return this.#readError({ error: { message, code } }, headers);
  }
}

/** The phase of a message is kept beside the document, which has no place for it. */
function phaseOf({ phase, content }: JsonObject): Effect[] {
  if (typeof phase !== "string") return [];
  const words = list(content).filter(isObject).map((part) => text(part.text)).join("");
  return words.trim() === "" ? [] : [{ kind: "note", about: phaseNote(words), value: phase }];
}

function said(words: string): Effect[] {
  return words === "" ? [] : [{ kind: "text", text: words }];
}

function place(data: JsonObject): number {
  return count(data.output_index) ?? -1;
}

function partOf(data: JsonObject): string {
  return `${place(data)}.${count(data.content_index) ?? 0}`;
}

function usageOf(usage: unknown): Effect[] {
  if (!isObject(usage)) return [];
  const sent = isObject(usage.input_tokens_details) ? usage.input_tokens_details : {};
  const made = isObject(usage.output_tokens_details) ? usage.output_tokens_details : {};
  const read = count(sent.cached_tokens) ?? 0;
  const written = count(sent.cache_write_tokens) ?? 0;
  const counts: Partial<Usage> = {
    input: Math.max(0, (count(usage.input_tokens) ?? 0) - read - written),
    output: count(usage.output_tokens) ?? 0,
    thoughts: count(made.reasoning_tokens) ?? 0,
    cache_read: read,
    cache_write: written,
  };
  return [{ kind: "usage", usage: counts }];
}
