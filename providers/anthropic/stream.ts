// The reader of the Anthropic Messages API's event stream.

import { isObject, own, textOrEmpty } from "../../base/is_object.ts";
import { itemTexts, replaceMember, valueText } from "../../base/text/json_text.ts";
import { completeCallInput } from "../stream/call_input.ts";
import {
  callProgress,
  type ReaderOptions,
  ReplyReader,
  textPiece,
  thinkingProgress,
} from "../stream/reader.ts";
import { BlockCollector, CitationCollector } from "../server_tools/collect.ts";
import type { DroppedThinking, Effect, Usage } from "../types.ts";
import { LongText } from "../../base/text/long_text.ts";

type JsonObject = Readonly<Record<string, unknown>>;

type OpenBlock =
  | {
    readonly kind: "tool";
    readonly id: string;
    readonly name: string;
    readonly start: unknown;
    readonly json: LongText;
    /** True if a line of the stream was lost while the block was open, so that its content is unreliable. */
    damaged: boolean;
  }
  | { readonly kind: "thinking"; readonly content: LongText; signature: string; damaged: boolean }
  | { readonly kind: "redacted"; readonly data: string }
  | {
    readonly kind: "server";
    /** The block at its beginning, as JSON text. */
    readonly start: string;
    readonly name: string;
    readonly json: LongText;
    damaged: boolean;
  }
  | { readonly kind: "text" | "unknown" };

/** Known delta types of `content_block_delta`. */
const DELTAS: ReadonlySet<unknown> = new Set([
  "text_delta",
  "thinking_delta",
  "signature_delta",
  "input_json_delta",
  "citations_delta",
]);

const OUTCOMES: Readonly<Record<string, "normal" | "truncated" | "blocked" | "paused">> = {
  end_turn: "normal",
  stop_sequence: "normal",
  tool_use: "normal",
  max_tokens: "truncated",
  model_context_window_exceeded: "truncated",
  refusal: "blocked",
  sensitive: "blocked",
  pause_turn: "paused",
};

/** Reads one reply. Each content block becomes one effect, in the order in which blocks end. */
export class AnthropicReader extends ReplyReader {
  readonly #open = new Map<number, OpenBlock>();
  readonly #blocks: BlockCollector;
  readonly #citations: CitationCollector;
  #stopReason: string | null = null;
  #stopDetails: string | null = null;

  constructor(options: ReaderOptions) {
    super(options);
    this.#blocks = new BlockCollector(options.provider);
    this.#citations = new CitationCollector(options.provider);
  }

  damaged(): void {
    for (const block of this.#open.values()) if ("damaged" in block) block.damaged = true;
  }

  event(data: unknown, headers: Headers | null = null, source?: string): Effect[] {
    if (!isObject(data)) return [];
    const effects: Effect[] = [];
    effects.push(...laterUsage(data.usage));
    switch (data.type) {
      case "message_start":
        return [
          ...effects,
          ...answering(data.message),
          ...startUsage(data.message),
          ...dropped(data.message),
        ];
      case "content_block_start":
        return [...effects, ...this.#start(indexOf(data), data.content_block, source)];
      case "content_block_delta":
        return [...effects, ...this.#delta(indexOf(data), data.delta, source)];
      case "content_block_stop":
        return [...effects, ...this.#stop(indexOf(data))];
      case "message_delta":
        if (isObject(data.delta) && typeof data.delta.stop_reason === "string") {
          this.#stopReason = data.delta.stop_reason;
          this.#stopDetails = stopDetails(data.delta.stop_details);
        }
        return effects;
      case "message_stop":
        return [...effects, ...this.#end()];
      case "error":
        return [...effects, this.error(data, headers)];
      default:
        return effects;
    }
  }

  whole(body: unknown): Effect[] | null {
    if (!isObject(body) || body.type !== "message" || !Array.isArray(body.content)) return null;
    const { content, stop_reason, stop_details, usage } = body;
    const blocks = content.flatMap((block, index) => [
      { type: "content_block_start", index, content_block: block },
      { type: "content_block_stop", index },
    ]);
    return [
      { type: "message_start", message: body },
      ...blocks,
      { type: "message_delta", delta: { stop_reason, stop_details }, usage },
      { type: "message_stop" },
    ].flatMap((event) => this.event(event));
  }

  #start(index: number, block: unknown, source?: string): Effect[] {
    if (!isObject(block)) return [];
    const ended = this.#endRun(block.type);
    return [...ended, ...this.#startBlock(index, block, source)];
  }

  /** Before another kind of block, ends what consists of several blocks: a cited text, or calls with their results. */
  #endRun(next: unknown): Effect[] {
    return [
      ...(next === "text" ? [] : this.#citations.flush()),
      ...(SERVER_BLOCKS.has(next) ? [] : this.#blocks.flush()),
    ];
  }

  #startBlock(index: number, block: JsonObject, source?: string): Effect[] {
    if (SERVER_BLOCKS.has(block.type)) {
      const start = (source === undefined ? null : valueText(source, ["content_block"])) ??
        JSON.stringify(block);
      const name = textOrEmpty(block.name) || "provider's tool";
      this.#open.set(index, { kind: "server", start, name, json: new LongText(), damaged: false });
      return [callProgress(name, 0)];
    }
    switch (block.type) {
      case "tool_use": {
        const name = this.toolName(textOrEmpty(block.name));
        // Servers that imitate the API omit ids, but each call needs one for its result.
        const id = textOrEmpty(block.id) || `call_${index + 1}`;
        this.#open.set(index, {
          kind: "tool",
          id,
          name,
          start: block.input,
          json: new LongText(),
          damaged: false,
        });
        return [callProgress(name, 0)];
      }
      case "thinking": {
        const { thinking, signature } = block;
        const begun = { content: new LongText(), signature: textOrEmpty(signature), damaged: false };
        begun.content.add(textOrEmpty(thinking));
        this.#open.set(index, { kind: "thinking", ...begun });
        return [thinkingProgress(begun.content.length)];
      }
      case "redacted_thinking":
        this.#open.set(index, { kind: "redacted", data: textOrEmpty(block.data) });
        return [];
      case "text":
        this.#open.set(index, { kind: "text" });
        for (const citation of citationsIn(block, source)) this.#citations.cite(citation);
        return this.#text(block.text);
      default:
        this.#open.set(index, { kind: "unknown" });
        return this.unknownType("block", block.type);
    }
  }

  #text(text: unknown): Effect[] {
    this.#citations.add(textOrEmpty(text));
    return textPiece(textOrEmpty(text));
  }

  #delta(index: number, delta: unknown, source?: string): Effect[] {
    if (!isObject(delta)) return [];
    const block = this.#open.get(index);
    if (block?.kind === "unknown") return [];
    if (!DELTAS.has(delta.type)) return this.unknownType("part", delta.type);
    if (delta.type === "text_delta") return this.#text(delta.text);
    if (delta.type === "citations_delta") {
      const citation = source === undefined ? null : valueText(source, ["delta", "citation"]);
      this.#citations.cite(citation ?? JSON.stringify(delta.citation ?? null));
      return [];
    }
    if (block?.kind === "thinking") {
      if (delta.type === "thinking_delta") {
        block.content.add(textOrEmpty(delta.thinking));
        return [thinkingProgress(block.content.length)];
      }
      if (delta.type === "signature_delta") block.signature += textOrEmpty(delta.signature);
    } else if (delta.type === "input_json_delta") {
      if (block?.kind === "tool" || block?.kind === "server") {
        block.json.add(textOrEmpty(delta.partial_json));
        return [callProgress(block.name, block.json.length)];
      }
      // The line of the stream that named the tool was lost.
      if (block === undefined) this.incompleteCall("");
    }
    return [];
  }

  #stop(index: number): Effect[] {
    const block = this.#open.get(index);
    this.#open.delete(index);
    if (block?.kind === "redacted") return [{ kind: "redacted", data: block.data }];
    if (block?.kind === "thinking") {
      const { content, signature } = block;
      // A signature is valid only for the complete text, so a text with missing parts is written as unsigned thinking.
      const signed = signature === "" || block.damaged
        ? {}
        : { signature: { provider: this.provider, value: signature } };
      return [{ kind: "thinking", content: content.value, ...signed }];
    }
    if (block?.kind === "text") this.#citations.endBlock();
    if (block?.kind === "server") return this.#serverBlock(block);
    if (block?.kind !== "tool") return [];
    const inputText = block.damaged ? null : toolInput(block.json, block.start);
    if (inputText === null) {
      this.incompleteCall(block.name);
      return [];
    }
    return [{ kind: "tool_use", id: block.id, name: block.name, inputText }];
  }

  /** Adds a block of a tool that the API ran. A call gets its input as the model wrote it. */
  #serverBlock({ start, name, json, damaged }: Extract<OpenBlock, { kind: "server" }>): Effect[] {
    const { value } = json;
    const input = typeof value === "string" ? completeCallInput(value) : null;
    const whole = value === ""
      ? start
      : typeof input === "string"
      ? replaceMember(start, "input", input)
      : null;
    if (damaged || whole === null) return lostServerBlock(name);
    const block: JsonObject = JSON.parse(whole);
    return this.#blocks.add(block, whole) ?? this.unknownType("block", block.type);
  }

  #end(): Effect[] {
    const run = this.#endRun(null);
    return [...run, ...this.#stopEffects()];
  }

  #stopEffects(): Effect[] {
    this.close();
    for (const block of this.#open.values()) {
      if (block.kind === "tool") this.incompleteCall(block.name);
    }
    const reason = this.#stopReason;
    const outcome = own(OUTCOMES, reason ?? "end_turn");
    const incomplete = this.incompleteCalls(outcome === "truncated");
    if (incomplete.length > 0) return incomplete;
    const details = this.#stopDetails === null ? {} : { details: this.#stopDetails };
    return [
      ...(outcome === undefined ? [unknownReason(reason)] : []),
      { kind: "stop", outcome: outcome ?? "normal", reason, ...details },
    ];
  }
}

/** Types of blocks of the tools that requests offer. */
const SERVER_BLOCKS: ReadonlySet<unknown> = new Set([
  "server_tool_use",
  "web_search_tool_result",
  "web_fetch_tool_result",
]);

function lostServerBlock(name: string): Effect[] {
  return [{ kind: "notice", message: `A block of ${name} arrived incomplete; it is left out.` }];
}

/** Returns the citations at the beginning of a text block, as JSON texts. Streams send them later. */
function citationsIn(block: JsonObject, source?: string): readonly string[] {
  if (!Array.isArray(block.citations)) return [];
  const list = source === undefined ? null : valueText(source, ["content_block", "citations"]);
  return itemTexts(list ?? JSON.stringify(block.citations));
}

/** Joins the category and the explanation of a refusal; either may be missing. Returns null if both are missing. */
function stopDetails(details: unknown): string | null {
  if (!isObject(details)) return null;
  const reported = [details.category, details.explanation].map(textOrEmpty).filter((words) => words !== "");
  return reported.length === 0 ? null : reported.join(": ");
}

function unknownReason(reason: string | null): Effect {
  const shown = JSON.stringify((reason ?? "").slice(0, 80));
  const message = `The reply ended for an unknown reason (${shown}); check whether it is complete.`;
  return { kind: "notice", message };
}

function startUsage(message: unknown): Effect[] {
  const usage = isObject(message) && isObject(message.usage) ? message.usage : {};
  const counts: { -readonly [K in keyof Usage]?: Usage[K] } = {};
  if (typeof usage.input_tokens === "number") counts.input = usage.input_tokens;
  if (typeof usage.cache_read_input_tokens === "number") counts.cache_read = usage.cache_read_input_tokens;
  if (typeof usage.cache_creation_input_tokens === "number") {
    counts.cache_write = usage.cache_creation_input_tokens;
  }
  if (typeof usage.service_tier === "string") counts.tier = usage.service_tier;
  return Object.keys(counts).length === 0 ? [] : [{ kind: "usage", usage: counts }];
}

/** Reads usage from later events; the last one counts. */
function laterUsage(usage: unknown): Effect[] {
  if (!isObject(usage)) return [];
  const counts: { -readonly [K in keyof Usage]?: Usage[K] } = {};
  if (typeof usage.output_tokens === "number") counts.output = usage.output_tokens;
  if (typeof usage.service_tier === "string") counts.tier = usage.service_tier;
  const details = isObject(usage.output_tokens_details) ? usage.output_tokens_details : {};
  if (typeof details.thinking_tokens === "number") counts.thoughts = details.thinking_tokens;
  const ran = isObject(usage.server_tool_use) ? usage.server_tool_use : {};
  if (typeof ran.web_search_requests === "number") counts.searches = ran.web_search_requests;
  const iterations = Array.isArray(usage.iterations) ? usage.iterations.filter(isObject) : [];
  if (iterations.length > 0) Object.assign(counts, billOf(iterations));
  return Object.keys(counts).length === 0 ? [] : [{ kind: "usage", usage: counts }];
}

/** Sums the billed tokens of all rounds of a request, because the counters of the whole request omit some of them. */
function billOf(iterations: readonly Record<string, unknown>[]): Partial<Usage> {
  const sum = (name: string) =>
    iterations.reduce((total, each) => total + (typeof each[name] === "number" ? each[name] : 0), 0);
  return {
    input: sum("input_tokens"),
    output: sum("output_tokens"),
    cache_read: sum("cache_read_input_tokens"),
    cache_write: sum("cache_creation_input_tokens"),
  };
}

function answering(message: unknown): Effect[] {
  const model = isObject(message) ? textOrEmpty(message.model) : "";
  return model === "" ? [] : [{ kind: "answering", model }];
}

/**
 * Types of report entries that mean dropped thinking, with the reason. All other entries must be ignored; for instance,
 * some report thinking that was used despite a mismatch.
 */
const DROPPED: Readonly<Record<string, DroppedThinking["why"]>> = {
  prefix_binding_mismatch: "prefix",
  model_binding_mismatch: "model",
  organization_binding_mismatch: "account",
  end_user_binding_mismatch: "account",
};

function dropped(message: unknown): Effect[] {
  const given = isObject(message) ? message.input_transformations : undefined;
  const reported = (Array.isArray(given) ? given : []).flatMap((one: unknown): DroppedThinking[] => {
    if (!isObject(one) || one.type !== "thinking_dropped" || typeof one.path !== "string") return [];
    return [{ name: one.path, why: own(DROPPED, textOrEmpty(one.reason)) ?? "other" }];
  });
  return reported.length === 0 ? [] : [{ kind: "dropped", dropped: reported }];
}

/** Returns the JSON text of a complete input, or null if it is not a JSON object. An empty text means `{}`. */
function toolInput(json: LongText, start: unknown): string | LongText | null {
  const { value } = json;
  const isEmpty = typeof value === "string" && value.trim() === "";
  return completeCallInput(isEmpty && isObject(start) ? JSON.stringify(start) : value, { compact: true });
}

function indexOf(data: JsonObject): number {
  return typeof data.index === "number" ? data.index : -1;
}
