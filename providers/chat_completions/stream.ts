// The event stream of Chat Completions, chunk by chunk, as servers of many makes send it (providers section 7.3).

import { isObject, own } from "../../base/is_object.ts";
import { toolName } from "../request/wire.ts";
import { callInput, IncompleteCalls } from "../stream/call_input.ts";
import { count, list, text } from "../stream/fields.ts";
import { LongText } from "../../base/text/long_text.ts";
import type { Effect, OfferedTool, ProviderError, StreamReader, Usage } from "../types.ts";
import { OpenCalls } from "./calls.ts";
import { addDetails, detailWords, tagName, writeDetails } from "./reasoning_details.ts";
import { ThinkTags } from "./think_tags.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/** Words for why a reply ended; any other means that it was taken back. */
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

/** What Ollama puts into each chunk. */
const OLLAMA = "fp_ollama";

/** Members of a delta that may hold reasoning, the most usual first. */
const REASONING_FIELDS = ["reasoning_content", "reasoning"] as const;

/** What the member is noted by in which a server sends reasoning, and gets it back. */
export function reasoningField(provider: string): string {
  return `reasoning field of ${provider}`;
}

export interface ChatReaderOptions {
  /** Whose reasoning it is. */
  readonly provider: string;
  readonly offered: readonly OfferedTool[];
  readError(body: unknown, headers: Headers | null): ProviderError;
}

/** Reads one reply. Text goes on as it comes, reasoning when something else begins, calls at the end. */
export class ChatReader implements StreamReader {
  readonly #options: ChatReaderOptions;
  readonly #calls = new OpenCalls();
  readonly #tags = new ThinkTags();
  /** Reasoning that was not given on yet. */
  #thinking = new LongText();
  readonly #details: JsonObject[] = [];
  /** The member in which reasoning comes. */
  #field: string | null = null;
  #damaged = false;
  #refused = false;
  #received = false;
  #finished = false;
  #counted = false;
  #closed = false;

  constructor(options: ChatReaderOptions) {
    this.#options = options;
  }

  get closed(): boolean {
    return this.#closed;
  }

  damaged(): void {
    this.#damaged = true;
    this.#calls.damaged();
  }

  event(data: unknown, headers: Headers | null = null): Effect[] {
    if (!isObject(data)) return [];
    if (isError(data)) return [{ kind: "error", error: this.#options.readError(data, headers) }];
    const choice = list(data.choices).filter(isObject).find(({ index }) => (count(index) ?? 0) === 0);
    const effects: Effect[] = [
      ...(data.system_fingerprint === OLLAMA ? [{ kind: "trims" } as const] : []),
      ...this.#usage(data.usage),
      ...(choice === undefined ? [] : [...this.#usage(choice.usage), ...this.#choice(choice)]),
    ];
    // The token counts may come with the end or right behind it.
    this.#closed ||= this.#finished && this.#counted;
    return effects;
  }

  /** The word that ends a stream: a server that never said why the reply ended has said it now. */
  done(): Effect[] {
    this.#closed = true;
    return this.#finished || !this.#received ? [] : this.#finish("stop");
  }

  #choice(choice: JsonObject): Effect[] {
    const delta = isObject(choice.delta) ? choice.delta : isObject(choice.message) ? choice.message : {};
    const reason = text(choice.finish_reason);
    if (Object.keys(delta).length > 0) this.#received = true;
    const effects = [
      ...this.#reasoning(delta),
      ...contents(delta.content).flatMap((piece) => this.#content(piece.kind, piece.text)),
      ...this.#refusal(delta.refusal),
    ];
    for (const piece of list(delta.tool_calls)) effects.push(...this.#call(piece));
    if (isObject(delta.function_call)) effects.push(...this.#call({ function: delta.function_call }));
    return reason === "" || this.#finished ? effects : [...effects, ...this.#finish(reason)];
  }

  /** Reasoning stands in one of three members; servers that send it in two of them send the same twice. */
  #reasoning(delta: JsonObject): Effect[] {
    const pieces = list(delta.reasoning_details);
    addDetails(this.#details, pieces);
    const field = REASONING_FIELDS.find((name) => text(delta[name]) !== "");
    const words = this.#think(field === undefined ? detailWords(pieces) : text(delta[field]));
    if (field === undefined || this.#field !== null) return words;
    this.#field = field;
    return [{ kind: "note", about: reasoningField(this.#options.provider), value: field }, ...words];
  }

  #content(kind: "text" | "thinking", words: string): Effect[] {
    return kind === "thinking" ? this.#think(words) : this.#split(this.#tags.feed(words));
  }

  #think(words: string): Effect[] {
    if (words === "") return [];
    this.#thinking.add(words);
    return [{ kind: "progress", block: "thinking", characters: this.#thinking.length }];
  }

  #call(piece: unknown): Effect[] {
    const call = this.#calls.add(piece);
    if (call === null) return [];
    return [{
      kind: "progress",
      block: "call",
      name: this.#toolName(call.name),
      characters: call.json.length,
    }];
  }

  #split(pieces: ReturnType<ThinkTags["feed"]>): Effect[] {
    return pieces.flatMap((piece): Effect[] => {
      if (piece.kind === "thinking") return this.#think(piece.text);
      return [...this.#flush(), { kind: "text", text: piece.text }];
    });
  }

  #refusal(words: unknown): Effect[] {
    if (text(words) === "") return [];
    this.#refused = true;
    return [...this.#flush(), { kind: "text", text: text(words) }];
  }

  /** Gives the reasoning so far on, as a block of its own. */
  #flush(): Effect[] {
    const details = this.#damaged ? [] : this.#details.splice(0);
    const content = this.#thinking.value;
    this.#thinking = new LongText();
    if (content === "" && details.length === 0) return [];
    const provider = tagName(this.#options.provider);
    const signature = details.length === 0 ? {} : { signature: { provider, value: writeDetails(details) } };
    return [{ kind: "thinking", content, ...signature }];
  }

  #finish(reason: string): Effect[] {
    this.#finished = true;
    const outcome = this.#refused ? "blocked" : own(OUTCOMES, reason) ?? "blocked";
    const cut = outcome === "truncated";
    const effects = [...this.#split(this.#tags.end()), ...this.#flush()];
    const incomplete = new IncompleteCalls();
    const calls = outcome === "blocked" ? [] : this.#calls.all();
    calls.forEach(({ id, name, json, damaged }, index) => {
      // Of a cut reply, an input that is still empty had not begun.
      const unbegun = cut && isBlankText(json) && index === calls.length - 1;
      const inputText = damaged || unbegun || name === "" ? null : callInput(json);
      if (inputText === null) incomplete.add(this.#toolName(name));
      else {
        const own = id === "" ? `call_${index + 1}` : id;
        effects.push({ kind: "tool_use", id: own, name: this.#toolName(name), inputText });
      }
    });
    if (incomplete.any) return [...effects, { kind: "error", error: incomplete.error(cut) }];
    const shown = this.#refused ? "refusal" : cut ? "max_tokens" : reason;
    return [...effects, { kind: "stop", outcome, reason: shown }];
  }

  #toolName(wire: string): string {
    return toolName(wire, this.#options.offered);
  }

  #usage(usage: unknown): Effect[] {
    if (!isObject(usage)) return [];
    this.#counted = true;
    const sent = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
    const made = isObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
    const read = count(usage.cached_tokens) ?? count(sent.cached_tokens) ?? 0;
    const written = count(sent.cache_write_tokens) ?? 0;
    const counts: Partial<Usage> = {
      input: Math.max(0, (count(usage.prompt_tokens) ?? 0) - read - written),
      output: count(usage.completion_tokens) ?? 0,
      thoughts: count(made.reasoning_tokens) ?? 0,
      cache_read: read,
      cache_write: written,
    };
    return [{ kind: "usage", usage: counts }];
  }
}

/** `{error: …}` of most servers, `{object: "error", message}` and `{detail: …}` of vLLM. */
function isError(data: JsonObject): boolean {
  if (isObject(data.error) || (typeof data.error === "string" && data.error !== "")) return true;
  return data.choices === undefined && (data.object === "error" || data.detail !== undefined);
}

/** Content is a text; of some servers a list of parts, thinking among them. */
function contents(
  content: unknown,
): readonly { readonly kind: "text" | "thinking"; readonly text: string }[] {
  if (typeof content === "string") return [{ kind: "text", text: content }];
  return list(content).filter(isObject).map((part) =>
    part.type === "thinking"
      ? { kind: "thinking", text: contents(part.thinking).map((inner) => inner.text).join("") }
      : { kind: "text", text: text(part.text) }
  );
}

function isBlankText({ value }: LongText): boolean {
  return typeof value === "string" && value.trim() === "";
}
