// The event stream of Chat Completions, chunk by chunk, as servers of many makes send it.

import { isObject, own } from "../../base/is_object.ts";
import { callInput } from "../stream/call_input.ts";
import { count, list, text } from "../stream/fields.ts";
import { LongText } from "../../base/text/long_text.ts";
import { callProgress, ReplyReader, thinkingProgress, tokenCounts } from "../stream/reader.ts";
import type { Effect } from "../types.ts";
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

/** Reads one reply. Text goes on as it comes, reasoning when something else begins, calls at the end. */
export class ChatReader extends ReplyReader {
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

  damaged(): void {
    this.#damaged = true;
    this.#calls.damaged();
  }

  event(data: unknown, headers: Headers | null = null): Effect[] {
    if (!isObject(data)) return [];
    if (isError(data)) return [this.error(data, headers)];
    const choice = list(data.choices).filter(isObject).find(({ index }) => (count(index) ?? 0) === 0);
    const effects: Effect[] = [
      ...(data.system_fingerprint === OLLAMA ? [{ kind: "trims" } as const] : []),
      ...this.#usage(data.usage),
      ...(choice === undefined ? [] : [...this.#usage(choice.usage), ...this.#choice(choice)]),
    ];
    // The token counts may come with the end or right behind it.
    if (this.#finished && this.#counted) this.close();
    return effects;
  }

  /** The word that ends a stream: a server that never said why the reply ended has said it now. */
  done(): Effect[] {
    this.close();
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
    return [{ kind: "note", about: reasoningField(this.provider), value: field }, ...words];
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
    const provider = tagName(this.provider);
    const signature = details.length === 0 ? {} : { signature: { provider, value: writeDetails(details) } };
    return [{ kind: "thinking", content, ...signature }];
  }

  #finish(reason: string): Effect[] {
    this.#finished = true;
    const outcome = this.#refused ? "blocked" : own(OUTCOMES, reason) ?? "blocked";
    const cut = outcome === "truncated";
    const effects = [...this.#split(this.#tags.end()), ...this.#flush()];
    const calls = outcome === "blocked" ? [] : this.#calls.all();
    calls.forEach(({ id, name, json, damaged }, index) => {
      // Of a cut reply, an input that is still empty had not begun.
      const unbegun = cut && isBlankText(json) && index === calls.length - 1;
      const inputText = damaged || unbegun || name === "" ? null : callInput(json);
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

  #usage(usage: unknown): Effect[] {
    if (!isObject(usage)) return [];
    this.#counted = true;
    const sent = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
    const made = isObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
    return [tokenCounts({
      sent: usage.prompt_tokens,
      output: usage.completion_tokens,
      thoughts: made.reasoning_tokens,
      read: count(usage.cached_tokens) ?? sent.cached_tokens,
      written: sent.cache_write_tokens,
    })];
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
