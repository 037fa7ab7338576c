// The reader of the Responses API's event stream.

import { isObject, own, textOrEmpty } from "../../base/is_object.ts";
import { valueText } from "../../base/text/json_text.ts";
import { providerError } from "../http/errors.ts";
import { completeCallInput } from "../stream/call_input.ts";
import { listOrEmpty, numberOrNull } from "../stream/fields.ts";
import {
  callProgress,
  type ReaderOptions,
  ReplyReader,
  textPiece,
  thinkingProgress,
  tokenCounts,
} from "../stream/reader.ts";
import { BlockCollector, sourcesEffect } from "../server_tools/collect.ts";
import type { DroppedThinking, Effect } from "../types.ts";
import { phaseNote } from "./items.ts";
import { summaryOf, writeSignature } from "./reasoning.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/** Items whose content is written to the document. */
const KNOWN_ITEMS: ReadonlySet<unknown> = new Set([
  "message",
  "reasoning",
  "function_call",
  "web_search_call",
]);

/** Finish reasons with which the provider ends a reply early and declares its text invalid. */
const BLOCKED: ReadonlySet<unknown> = new Set(["content_filter"]);

/** Reads one reply. Emits text as it arrives, reasoning and calls when their item is complete. */
export class OpenAIReader extends ReplyReader {
  /** Number of characters of text that were emitted, by position of the part in the reply. */
  readonly #given = new Map<string, number>();
  readonly #whole = new Set<number>();
  /** Incomplete calls by position. */
  readonly #open = new Map<number, string>();
  /** Incomplete reasoning and calls by position, each with the call's name and the number of characters received. */
  readonly #growing = new Map<number, { readonly name: string | null; characters: number }>();
  /** Ids of reasoning that the provider reported as unused. */
  readonly #dropped = new Set<string>();
  readonly #blocks: BlockCollector;
  #searches = 0;
  #calls = 0;
  #refused = false;
  /** True if a line was lost, so that emitted text may not be a prefix of the whole text. */
  #damaged = false;

  constructor(options: ReaderOptions) {
    super(options);
    this.#blocks = new BlockCollector(options.provider);
  }

  damaged(): void {
    this.#damaged = true;
  }

  event(data: unknown, headers: Headers | null = null, source?: string): Effect[] {
    if (!isObject(data)) return [];
    switch (data.type) {
      case "response.created":
      case "response.in_progress":
        return this.#droppedIn(data.response);
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
        return this.#grown(place(data), textOrEmpty(data.delta));
      case "response.output_item.done":
        return this.#done(
          place(data),
          data.item,
          () => source === undefined ? null : valueText(source, ["item"]),
        );
      case "response.completed":
      case "response.incomplete":
        return this.#end(data.response, source);
      case "response.failed":
        return [this.#failed(data.response, headers)];
      case "error":
        return [this.#streamError(data, headers)];
      default:
        return isObject(data.error) ? [this.error(data, headers)] : [];
    }
  }

  whole(body: unknown): Effect[] | null {
    if (!isObject(body) || !Array.isArray(body.output)) return null;
    const type = body.status === "failed" ? "response.failed" : "response.completed";
    return this.event({ type, response: body });
  }

  #textDelta(data: JsonObject, delta: unknown): Effect[] {
    const key = partOf(data);
    this.#given.set(key, (this.#given.get(key) ?? 0) + textOrEmpty(delta).length);
    return textPiece(textOrEmpty(delta));
  }

  /** Handles the whole text of a part, and emits what did not arrive in pieces. */
  #wholeText(data: JsonObject, whole: unknown): Effect[] {
    const key = partOf(data);
    const given = this.#given.get(key) ?? 0;
    if (given > 0 && this.#damaged) return [];
    this.#given.set(key, Math.max(given, textOrEmpty(whole).length));
    return textPiece(textOrEmpty(whole).slice(given));
  }

  #added(at: number, item: unknown): Effect[] {
    if (!isObject(item)) return [];
    if (!KNOWN_ITEMS.has(item.type)) return this.unknownType("item", item.type);
    if (item.type === "message") return [];
    if (item.type === "web_search_call") return [callProgress("web_search", 0)];
    const name = item.type === "function_call" ? this.#nameOf(item) : null;
    if (name !== null) this.#open.set(at, name);
    this.#growing.set(at, { name, characters: 0 });
    return this.#grown(at, "");
  }

  #grown(at: number, more: string): Effect[] {
    const item = this.#growing.get(at);
    if (item === undefined) return [];
    item.characters += more.length;
    const { name, characters } = item;
    return [name === null ? thinkingProgress(characters) : callProgress(name, characters)];
  }

  /** Handles a complete item; `spelled` returns its text as the provider wrote it. */
  #done(at: number, item: unknown, spelled: () => string | null): Effect[] {
    if (!isObject(item)) return [];
    this.#open.delete(at);
    this.#growing.delete(at);
    this.#whole.add(at);
    switch (item.type) {
      case "message":
        return [
          ...listOrEmpty(item.content).flatMap((part, index) => this.#messagePart(at, index, part)),
          ...sourcesEffect(this.provider, listOrEmpty(item.content).flatMap(sourcesOf)),
          ...phaseOf(item),
        ];
      case "web_search_call":
        return this.#search(item, spelled() ?? JSON.stringify(item));
      case "reasoning":
        return [{
          kind: "thinking",
          content: summaryOf(item),
          signature: { provider: this.provider, value: writeSignature(item) },
        }];
      case "function_call":
        return this.#call(item);
      default:
        return this.unknownType("item", item.type);
    }
  }

  #messagePart(at: number, index: number, part: unknown): Effect[] {
    if (!isObject(part)) return [];
    const where = { output_index: at, content_index: index };
    if (part.type === "output_text") return this.#wholeText(where, part.text);
    if (part.type !== "refusal") return this.unknownType("part", part.type);
    this.#refused = true;
    return this.#wholeText(where, part.refusal);
  }

  #call(item: JsonObject): Effect[] {
    const name = this.#nameOf(item);
    const given = item.arguments;
    const inputText = item.status === "incomplete"
      ? null
      : completeCallInput(isObject(given) ? JSON.stringify(given) : textOrEmpty(given));
    if (inputText === null) {
      this.incompleteCall(name);
      return [];
    }
    // Servers that imitate the API omit ids, but each call needs one for its result.
    const id = textOrEmpty(item.call_id) || textOrEmpty(item.id) || `call_${++this.#calls}`;
    return [{ kind: "tool_use", id, name, inputText }];
  }

  /** Keeps a search that the API ran; an unfinished one cannot go back. */
  #search(item: JsonObject, json: string): Effect[] {
    if (item.status !== "completed" && item.status !== "failed") {
      return [{ kind: "notice", message: "A search by the provider did not finish; it is left out." }];
    }
    // Only a search has a price, not opening a page that it found.
    if (!isObject(item.action) || item.action.type === "search") this.#searches++;
    return this.#blocks.add(item, json) ?? this.unknownType("item", item.type);
  }

  #nameOf(item: JsonObject): string {
    return this.toolName(textOrEmpty(item.name));
  }

  #end(response: unknown, source?: string): Effect[] {
    this.close();
    const { usage, incomplete_details: details, status, output, service_tier: tier } = isObject(response)
      ? response
      : {};
    // The end of the reply repeats all items. Items whose own events were lost or never sent are taken from it.
    const late = listOrEmpty(output).flatMap((item, at) =>
      this.#whole.has(at)
        ? []
        : this.#done(at, item, () =>
          source === undefined ? null : valueText(source, ["response", "output", at]))
    );
    const effects = [...this.#droppedIn(response), ...late, ...usageOf(usage, tier), ...this.#searched()];
    const cut = isObject(details) || status === "incomplete";
    const reason = isObject(details) ? textOrEmpty(details.reason) || "unknown" : "unknown";
    for (const name of this.#open.values()) this.incompleteCall(name);
    const incomplete = this.incompleteCalls(cut && !BLOCKED.has(reason));
    if (incomplete.length > 0) return [...effects, ...incomplete];
    if (this.#refused) return [...effects, { kind: "stop", outcome: "blocked", reason: "refusal" }];
    if (!cut) return [...effects, { kind: "stop", outcome: "normal", reason: null }];
    const outcome = BLOCKED.has(reason) ? "blocked" : "truncated";
    return [...effects, {
      kind: "stop",
      outcome,
      reason: reason === "max_output_tokens" ? "max_tokens" : reason,
    }];
  }

  #searched(): Effect[] {
    return this.#searches === 0 ? [] : [{ kind: "usage", usage: { searches: this.#searches } }];
  }

  /** Returns the reasoning that the provider removed from the request. Several events repeat the list. */
  #droppedIn(response: unknown): Effect[] {
    const given = isObject(response) ? listOrEmpty(response.input_transformations) : [];
    const dropped = given.flatMap((one): DroppedThinking[] => {
      if (!isObject(one) || one.action !== "removed" || typeof one.id !== "string") return [];
      const isNew = this.#dropped.size < this.#dropped.add(one.id).size;
      return isNew ? [{ name: one.id, why: own(DROPPED, textOrEmpty(one.reason)) ?? "other" }] : [];
    });
    return dropped.length === 0 ? [] : [{ kind: "dropped", dropped }];
  }

  #failed(response: unknown, headers: Headers | null): Effect {
    const error = isObject(response) ? response.error : undefined;
    if (isObject(error)) return this.error({ error: { ...error, type: undefined } }, headers);
    return { kind: "error", error: providerError("other", "Response failed") };
  }

  #streamError(data: JsonObject, headers: Headers | null): Effect {
    if (isObject(data.error)) return this.error(data, headers);
    const code = textOrEmpty(data.code) || "unknown";
    const message = `OpenAI stream error (code: ${code}): ${textOrEmpty(data.message) || "no message"}`;
    return this.error({ error: { message, code } }, headers);
  }
}

/** Reasons for which the provider removes reasoning from a request. */
const DROPPED: Readonly<Record<string, DroppedThinking["why"]>> = {
  prefix_mismatch: "prefix",
  model: "model",
  organization: "account",
  end_user: "account",
  turn_boundary: "turn",
};

/** Returns the pages that a part of a message cites. */
function sourcesOf(part: unknown): readonly { readonly url: string; readonly title: string }[] {
  const annotations = isObject(part) ? listOrEmpty(part.annotations).filter(isObject) : [];
  return annotations.filter(({ type }) => type === "url_citation").map(({ url, title }) => ({
    url: textOrEmpty(url),
    title: textOrEmpty(title),
  }));
}

/** Stores the phase of a message as a note, because the document has no place for it. */
function phaseOf({ phase, content }: JsonObject): Effect[] {
  if (typeof phase !== "string") return [];
  const words = listOrEmpty(content).filter(isObject).map((part) => textOrEmpty(part.text)).join("");
  return words.trim() === "" ? [] : [{ kind: "note", about: phaseNote(words), value: phase }];
}

function place(data: JsonObject): number {
  return numberOrNull(data.output_index) ?? -1;
}

function partOf(data: JsonObject): string {
  return `${place(data)}.${numberOrNull(data.content_index) ?? 0}`;
}

function usageOf(usage: unknown, tier: unknown): Effect[] {
  if (!isObject(usage)) return [];
  const sent = isObject(usage.input_tokens_details) ? usage.input_tokens_details : {};
  const made = isObject(usage.output_tokens_details) ? usage.output_tokens_details : {};
  return [tokenCounts({
    sent: usage.input_tokens,
    output: usage.output_tokens,
    thoughts: made.reasoning_tokens,
    read: sent.cached_tokens,
    written: sent.cache_write_tokens,
    tier,
  })];
}
