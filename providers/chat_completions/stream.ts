// The reader of Chat Completions streams from servers of many makers.

import { isObject, own, textOrEmpty } from "../../base/is_object.ts";
import { completeCallInput } from "../stream/call_input.ts";
import { listOrEmpty, numberOrNull } from "../stream/fields.ts";
import { LongText } from "../../base/text/long_text.ts";
import { callProgress, ReplyReader, thinkingProgress, tokenCounts } from "../stream/reader.ts";
import type { Effect } from "../types.ts";
import { isPing } from "../http/ping.ts";
import { OpenCalls } from "./calls.ts";
import { IN_CONTENT } from "./dialect.ts";
import { sourcesEffect } from "../server_tools/collect.ts";
import { addDetails, detailWords, writeDetails } from "./reasoning_details.ts";
import { tagName } from "../request/foreign.ts";
import { ThinkTags } from "./think_tags.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/** Known finish reasons; any other means that the provider withdrew the reply. */
const OUTCOMES: Readonly<Record<string, "normal" | "truncated">> = {
  stop: "normal",
  tool_calls: "normal",
  function_call: "normal",
  end_turn: "normal",
  eos: "normal",
  eos_token: "normal",
  stop_sequence: "normal",
  length: "truncated",
  max_tokens: "truncated",
  model_length: "truncated",
};

/** The `system_fingerprint` that Ollama sends. */
const OLLAMA = "fp_ollama";

/** Delta members that may contain reasoning, the most common first. */
const REASONING_FIELDS = ["reasoning_content", "reasoning"] as const;

/** Returns the key for the note about which member a server uses for reasoning. */
export function reasoningField(provider: string): string {
  return `reasoning field of ${provider}`;
}

/** Reads one reply. Emits text as it arrives, reasoning when something else begins, and calls at the end. */
export class ChatReader extends ReplyReader {
  readonly #calls = new OpenCalls();
  readonly #tags = new ThinkTags();
  /** Reasoning that was not emitted yet. */
  #thinking = new LongText();
  readonly #details: JsonObject[] = [];
  #field: string | null = null;
  /** Pages that the text cites. */
  readonly #sources: { readonly url: string; readonly title: string }[] = [];
  #damaged = false;
  #refused = false;
  #received = false;
  #finished = false;
  #counted = false;

  damaged(): void {
    this.#damaged = true;
    this.#calls.damaged();
  }

  event(data: unknown, headers: Headers | null = null): Effect[] {
    if (!isObject(data)) return [];
    if (isError(data)) return [this.error(data, headers)];
    if (isUnknown(data)) return this.unknownType("event", data.type ?? data.object);
    const choice = listOrEmpty(data.choices).filter(isObject).find(({ index }) =>
      (numberOrNull(index) ?? 0) === 0
    );
    const effects: Effect[] = [
      ...(data.system_fingerprint === OLLAMA ? [{ kind: "trims" } as const] : []),
      ...this.#usage(data.usage, data.service_tier),
      ...(choice === undefined
        ? []
        : [...this.#usage(choice.usage, data.service_tier), ...this.#choice(choice)]),
    ];
    // Token counts may arrive together with the end of the reply or right after it.
    if (this.#finished && this.#counted) this.close();
    return effects;
  }

  /** Handles `[DONE]`, which also ends replies of servers that never send a finish reason. */
  done(): Effect[] {
    this.close();
    return this.#finished || !this.#received ? [] : this.#finish("stop");
  }

  whole(body: unknown): Effect[] | null {
    if (!isObject(body) || !listOrEmpty(body.choices).some(isObject)) return null;
    return [...this.event(body), ...this.done()];
  }

  #choice(choice: JsonObject): Effect[] {
    const delta = isObject(choice.delta) ? choice.delta : isObject(choice.message) ? choice.message : {};
    const reason = textOrEmpty(choice.finish_reason);
    if (Object.keys(delta).length > 0) this.#received = true;
    const effects = [
      ...this.#reasoning(delta),
      ...contents(delta.content).flatMap((piece) => this.#content(piece.kind, piece.text)),
      ...this.#refusal(delta.refusal),
    ];
    this.#sources.push(...listOrEmpty(delta.annotations).flatMap(sourceOf));
    for (const piece of listOrEmpty(delta.tool_calls)) effects.push(...this.#call(piece));
    if (isObject(delta.function_call)) effects.push(...this.#call({ function: delta.function_call }));
    return reason === "" || this.#finished ? effects : [...effects, ...this.#finish(reason)];
  }

  /** Reads reasoning from one of three members; servers that use two of them send the same text in both. */
  #reasoning(delta: JsonObject): Effect[] {
    const pieces = listOrEmpty(delta.reasoning_details);
    addDetails(this.#details, pieces);
    const field = REASONING_FIELDS.find((name) => textOrEmpty(delta[name]) !== "");
    const words = this.#think(field === undefined ? detailWords(pieces) : textOrEmpty(delta[field]));
    return field === undefined ? words : [...this.#noteField(field), ...words];
  }

  /** Notes where this reply's reasoning is, once. */
  #noteField(field: string): Effect[] {
    if (this.#field !== null) return [];
    this.#field = field;
    return [{ kind: "note", about: reasoningField(this.provider), value: field }];
  }

  #content(kind: "text" | "thinking", words: string): Effect[] {
    return kind === "thinking" ? this.#think(words) : this.#split(this.#tags.feed(words));
  }

  #think(words: string): Effect[] {
    if (words === "") return [];
    this.#thinking.add(words);
    return [thinkingProgress(this.#thinking.length)];
  }

  #call(piece: unknown): Effect[] {
    const call = this.#calls.add(piece);
    if (call === null) return [];
    return [callProgress(this.toolName(call.name), call.json.length)];
  }

  #split(pieces: ReturnType<ThinkTags["feed"]>): Effect[] {
    return pieces.flatMap((piece): Effect[] => {
      if (piece.kind === "thinking") return [...this.#noteField(IN_CONTENT), ...this.#think(piece.text)];
      return [...this.#flush(), { kind: "text", text: piece.text }];
    });
  }

  #refusal(words: unknown): Effect[] {
    if (textOrEmpty(words) === "") return [];
    this.#refused = true;
    return [...this.#flush(), { kind: "text", text: textOrEmpty(words) }];
  }

  /** Emits the collected reasoning as one block. */
  #flush(): Effect[] {
    const details = this.#damaged ? [] : this.#details.splice(0);
    const content = this.#thinking.value;
    this.#thinking = new LongText();
    if (content === "" && details.length === 0) return [];
    const provider = tagName(this.provider);
    const signature = details.length === 0 ? {} : { signature: { provider, value: writeDetails(details) } };
    return [{ kind: "thinking", content, ...signature }];
  }

  #finish(reason: string): Effect[] {
    this.#finished = true;
    const outcome = this.#refused ? "blocked" : own(OUTCOMES, reason) ?? "blocked";
    const cut = outcome === "truncated";
    const sources = sourcesEffect(tagName(this.provider), this.#sources);
    const effects = [...this.#split(this.#tags.end()), ...this.#flush(), ...sources];
    const calls = outcome === "blocked" ? [] : this.#calls.all();
    calls.forEach(({ id, name, json, damaged }, index) => {
      // If the reply was truncated and its last call has an empty input, the reply ended before that input began.
      const unbegun = cut && isBlankText(json) && index === calls.length - 1;
      const inputText = damaged || unbegun || name === "" ? null : completeCallInput(json);
      if (inputText === null) this.incompleteCall(this.toolName(name));
      else {
        const own = id === "" ? `call_${index + 1}` : id;
        effects.push({ kind: "tool_use", id: own, name: this.toolName(name), inputText });
      }
    });
    const incomplete = this.incompleteCalls(cut);
    if (incomplete.length > 0) return [...effects, ...incomplete];
    const shown = this.#refused ? "refusal" : cut ? "max_tokens" : reason;
    return [...effects, { kind: "stop", outcome, reason: shown }];
  }

  #usage(usage: unknown, tier: unknown): Effect[] {
    if (!isObject(usage)) return [];
    this.#counted = true;
    const sent = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
    const made = isObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
    const ran = isObject(usage.server_tool_use) ? usage.server_tool_use : {};
    const searches = numberOrNull(ran.web_search_requests);
    const searched: Effect[] = searches === null ? [] : [{ kind: "usage", usage: { searches } }];
    return [
      ...searched,
      tokenCounts({
        sent: usage.prompt_tokens,
        output: usage.completion_tokens,
        thoughts: made.reasoning_tokens,
        read: numberOrNull(usage.cached_tokens) ?? sent.cached_tokens,
        written: sent.cache_write_tokens,
        tier: usage.service_tier ?? tier,
      }),
    ];
  }
}

/** Returns the page of an annotation, which names it directly or in a member of its own. */
function sourceOf(annotation: unknown): readonly { readonly url: string; readonly title: string }[] {
  if (!isObject(annotation) || annotation.type !== "url_citation") return [];
  const page = isObject(annotation.url_citation) ? annotation.url_citation : annotation;
  return [{ url: textOrEmpty(page.url), title: textOrEmpty(page.title) }];
}

/** True for an event that is neither part of a reply nor a ping. */
function isUnknown(data: JsonObject): boolean {
  return !Array.isArray(data.choices) && !isObject(data.usage) && !isPing(data);
}

/** Recognizes `{error: …}` of most servers, `{object: "error", message}` and `{detail: …}` of vLLM. */
function isError(data: JsonObject): boolean {
  if (isObject(data.error) || (typeof data.error === "string" && data.error !== "")) return true;
  if (data.choices !== undefined) return false;
  const { object, detail } = data;
  const isDetail = typeof detail === "string" ||
    listOrEmpty(detail).some((each) => isObject(each) && "msg" in each);
  return object === "error" || (isDetail && Object.keys(data).length === 1);
}

/** Reads content, which is a string, or on some servers an array of parts that may include thinking. */
function contents(
  content: unknown,
): readonly { readonly kind: "text" | "thinking"; readonly text: string }[] {
  if (typeof content === "string") return [{ kind: "text", text: content }];
  return listOrEmpty(content).filter(isObject).map((part) =>
    part.type === "thinking"
      ? { kind: "thinking", text: contents(part.thinking).map((inner) => inner.text).join("") }
      : { kind: "text", text: textOrEmpty(part.text) }
  );
}

function isBlankText({ value }: LongText): boolean {
  return typeof value === "string" && value.trim() === "";
}
