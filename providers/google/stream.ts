// The reader of Gemini's streamGenerateContent stream.

import { toHex } from "../../base/hash.ts";
import { isObject, own, textOrEmpty } from "../../base/is_object.ts";
import { compactJson, valueText } from "../../base/text/json_text.ts";
import { listOrEmpty, numberOrNull } from "../stream/fields.ts";
import { isBlank } from "../../prompt/blank.ts";
import { providerError } from "../http/errors.ts";
import { callNote, signatureNote } from "./notes.ts";
import { LongText } from "../../base/text/long_text.ts";
import { type ReaderOptions, ReplyReader, thinkingProgress } from "../stream/reader.ts";
import { BlockCollector, sourcesEffect } from "../server_tools/collect.ts";
import type { Effect, Usage } from "../types.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/** Meaning of a finish reason; `malformed` may succeed on another try, `unsigned` with a stand-in for signatures. */
type Finish = "normal" | "truncated" | "blocked" | "malformed" | "unsigned";

/** Finish reasons. For any other, nobody knows whether the reply is complete. */
const FINISHES: Readonly<Record<string, Finish>> = {
  STOP: "normal",
  // Gateways send this reason for a reply that ends with a call.
  FUNCTION_CALL: "normal",
  MAX_TOKENS: "truncated",
  CONTINUATION: "truncated",
  TOO_MANY_TOOL_CALLS: "truncated",
  MALFORMED_FUNCTION_CALL: "malformed",
  MALFORMED_RESPONSE: "malformed",
  UNEXPECTED_TOOL_CALL: "malformed",
  MISSING_THOUGHT_SIGNATURE: "unsigned",
  SAFETY: "blocked",
  RECITATION: "blocked",
  LANGUAGE: "blocked",
  BLOCKLIST: "blocked",
  PROHIBITED_CONTENT: "blocked",
  SPII: "blocked",
  MODEL_ARMOR: "blocked",
  JAILBREAK: "blocked",
  ESCALATION: "blocked",
  PUP_LIMITED_DISABLED: "blocked",
  IMAGE_SAFETY: "blocked",
  IMAGE_PROHIBITED_CONTENT: "blocked",
  IMAGE_RECITATION: "blocked",
};

/** Finish reasons of an incomplete reply, with the names that other providers use for these reasons. */
const CUTS: Readonly<Record<string, string>> = {
  MAX_TOKENS: "max_tokens",
  CONTINUATION: "continuation",
  TOO_MANY_TOOL_CALLS: "too_many_tool_calls",
};

/** Times that a reply with a malformed call is requested again. */
const MALFORMED_RETRIES = 2;

export interface GoogleReaderOptions extends ReaderOptions {
  /** Creates the suffix of an id for a call without one: at least 12 hexadecimal digits. */
  readonly newId?: () => string;
}

/**
 * Reads one reply. Emits text as it arrives; thoughts become a block before what follows them. A signature is in the
 * block before the part that it signs. Only a signature that arrives within a text waits for the end of the text.
 */
export class GoogleReader extends ReplyReader {
  readonly #newId: () => string;
  readonly #blocks: BlockCollector;
  /** Pages that the texts are based on. */
  readonly #sources: { readonly url: string; readonly title: string }[] = [];
  /** Thoughts that were not emitted yet. */
  #thoughts = new LongText();
  /** Signature that was not emitted in a block yet. */
  #signature = "";
  /** True if the last part was a text, which a block must not split. */
  #inText = false;
  /** True if something other than thoughts and blanks arrived. */
  #answered = false;
  /** Blank text that arrived before anything else. */
  #blank = "";
  #model: string | null = null;

  constructor({ newId = randomId, ...options }: GoogleReaderOptions) {
    super(options);
    this.#newId = newId;
    this.#blocks = new BlockCollector(options.provider);
  }

  /**
   * A lost line needs no reaction. Each part arrives in one piece, so no part is open; and a signature does not depend
   * on the visible text.
   */
  damaged(): void {}

  event(data: unknown, headers: Headers | null = null, source?: string): Effect[] {
    const response: unknown = Array.isArray(data) ? data[0] : data;
    if (!isObject(response)) return [];
    if (response.error !== undefined && response.error !== null) {
      return [this.error(response, headers)];
    }
    const candidates = listOrEmpty(response.candidates);
    const place = candidates.findIndex((each) => isObject(each) && (numberOrNull(each.index) ?? 0) === 0);
    const candidate = candidates[place];
    const effects = [...this.#answering(response.modelVersion), ...usageOf(response.usageMetadata)];
    if (!isObject(candidate)) return [...effects, ...this.#blockedPrompt(response.promptFeedback)];
    const content = isObject(candidate.content) ? candidate.content : {};
    listOrEmpty(content.parts).forEach((part, index) => {
      if (!isObject(part)) return;
      const way = [...(Array.isArray(data) ? [0] : []), "candidates", place, "content", "parts", index];
      effects.push(
        ...this.#part(part, (member) => source === undefined ? null : valueText(source, [...way, ...member])),
      );
    });
    effects.push(...this.#grounding(candidate.groundingMetadata));
    const reason = textOrEmpty(candidate.finishReason);
    return reason === ""
      ? effects
      : [...effects, ...this.#finish(reason, textOrEmpty(candidate.finishMessage))];
  }

  whole(body: unknown): Effect[] | null {
    const chunks = Array.isArray(body) ? body : [body];
    if (!chunks.some((chunk) => isObject(chunk) && Array.isArray(chunk.candidates))) return null;
    return chunks.flatMap((chunk) => this.event(chunk));
  }

  /** Names the model that answers, once. Google sends the requests for some older models to newer ones. */
  #answering(version: unknown): Effect[] {
    const model = textOrEmpty(version).replace(/^models\//, "");
    if (model === "" || model === this.#model) return [];
    this.#model = model;
    return [{ kind: "answering", model }];
  }

  /** Handles one part; `spelled` returns a member of the part as the provider wrote it. */
  #part(part: JsonObject, spelled: (member: readonly string[]) => string | null): Effect[] {
    const signature = textOrEmpty(part.thoughtSignature);
    if (isObject(part.functionCall)) {
      return this.#call(part.functionCall, signature, spelled(["functionCall", "args"]));
    }
    if (isObject(part.toolCall) || isObject(part.toolResponse)) {
      return this.#serverTool(part, spelled([]) ?? JSON.stringify(part));
    }
    if (typeof part.text !== "string") {
      const [kind] = Object.keys(part).filter((key) => !PART_EXTRAS.has(key));
      return kind === undefined ? [] : this.unknownType("part", kind);
    }
    if (part.thought === true) {
      this.#thoughts.add(part.text);
      this.#signature = signature || this.#signature;
      this.#inText = false;
      return [thinkingProgress(this.#thoughts.length)];
    }
    this.#signature = signature || this.#signature;
    const text = this.#blank + part.text;
    // A block before blanks would be a reply without a word.
    if (!this.#answered && isBlank(text)) {
      this.#blank = text;
      return [];
    }
    this.#blank = "";
    const block = this.#inText || text === "" ? [] : this.#block();
    if (text === "") return block;
    this.#inText = true;
    this.#answered = true;
    return [...block, { kind: "text", text }];
  }

  /** Keeps a call of a tool that the API ran, or its response. Its signature is part of it. */
  #serverTool(part: JsonObject, json: string): Effect[] {
    const block = this.#block();
    this.#inText = false;
    this.#answered = true;
    const kind = isObject(part.toolCall) ? "toolCall" : "toolResponse";
    return [...block, ...this.#blocks.add(part, json) ?? this.unknownType("part", kind)];
  }

  /** Collects the pages that the texts are based on, and counts the searches. */
  #grounding(metadata: unknown): Effect[] {
    if (!isObject(metadata)) return [];
    for (const chunk of listOrEmpty(metadata.groundingChunks).filter(isObject)) {
      const { web } = chunk;
      if (isObject(web)) this.#sources.push({ url: textOrEmpty(web.uri), title: textOrEmpty(web.title) });
    }
    const searches = listOrEmpty(metadata.webSearchQueries).length;
    return searches === 0 ? [] : [{ kind: "usage", usage: { searches } }];
  }

  #call(call: JsonObject, signature: string, spelled: string | null): Effect[] {
    // The signature of the call takes precedence over a pending signature of a text, because the API does not require
    // signatures of texts.
    this.#signature = signature || this.#signature;
    const block = this.#block();
    this.#inText = false;
    this.#answered = true;
    const wire = textOrEmpty(call.name);
    const given = textOrEmpty(call.id);
    const isOwn = /^[^`()\s]{1,64}$/.test(given);
    const id = isOwn ? given : `urn:flemma:tool:${wire}:${this.#newId()}`;
    if (isOwn) block.push({ kind: "note", about: callNote(id), value: this.provider });
    const args = isObject(call.args) ? spelled ?? JSON.stringify(call.args) : "{}";
    const inputText = compactJson(args);
    return [...block, { kind: "tool_use", id, name: this.toolName(wire), inputText }];
  }

  /** Returns the collected thoughts and signature as a block. Unsigned thoughts are marked as this provider's own. */
  #block(): Effect[] {
    const content = this.#thoughts.value;
    const value = this.#signature;
    this.#thoughts = new LongText();
    this.#signature = "";
    if (content === "" && value === "") return [];
    const written: Effect = {
      kind: "thinking",
      content,
      signature: { provider: this.provider, value },
    };
    return value === "" ? [written] : [written, { kind: "note", about: signatureNote(value) }];
  }

  #finish(reason: string, details: string): Effect[] {
    this.close();
    const finish = own(FINISHES, reason) ?? null;
    if (finish === "malformed" || finish === "unsigned") return this.#fail(finish, reason, details);
    // A signature alone is not a reply.
    const effects = [
      ...(this.#answered || this.#thoughts.length > 0 ? this.#block() : []),
      ...this.#blocks.flush(),
      ...sourcesEffect(this.provider, this.#sources),
    ];
    if (reason === "MAX_TOKENS" && !this.#answered) {
      const message =
        "The model used all its tokens for thinking and wrote nothing; raise the parameter max_tokens.";
      effects.push({ kind: "notice", message });
    }
    if (finish === null) effects.push(unknownReason(reason));
    const explained = details === "" ? {} : { details };
    return [...effects, {
      kind: "stop",
      outcome: finish ?? "normal",
      reason: CUTS[reason] ?? reason,
      ...explained,
    }];
  }

  /** Ends a reply that the API aborted. Thoughts are written only if a part of the reply was written. */
  #fail(finish: "malformed" | "unsigned", reason: string, details: string): Effect[] {
    const effects = this.#answered ? this.#block() : [];
    const message = `${
      finish === "malformed"
        ? "The model wrote a call that cannot be read"
        : "The API misses a thought signature"
    } (${[reason, details].filter((words) => words !== "").join(": ")}).`;
    const retry = finish === "malformed" ? { retry: { after: null, most: MALFORMED_RETRIES } } : {};
    const next = "Send again, or use another model (--model NAME).";
    return [...effects, { kind: "error", error: providerError("other", message, { next, ...retry }) }];
  }

  #blockedPrompt(feedback: unknown): Effect[] {
    const reason = isObject(feedback) ? textOrEmpty(feedback.blockReason) : "";
    if (reason === "") return [];
    this.close();
    return [{ kind: "stop", outcome: "blocked", reason }];
  }
}

/** Members that describe a part but are not content. */
const PART_EXTRAS: ReadonlySet<string> = new Set([
  "thoughtSignature",
  "thought",
  "partMetadata",
  "videoMetadata",
]);

function unknownReason(reason: string): Effect {
  const shown = JSON.stringify(reason.slice(0, 80));
  const message = `The reply ended for an unknown reason (${shown}); check whether it is complete.`;
  return { kind: "notice", message };
}

function randomId(): string {
  return toHex(crypto.getRandomValues(new Uint8Array(6)));
}

/** Returns usage. Later reports replace earlier ones; a count that is missing from a report keeps its value. */
function usageOf(usage: unknown): Effect[] {
  if (!isObject(usage)) return [];
  const counts: { -readonly [K in keyof Usage]?: Usage[K] } = {};
  const read = numberOrNull(usage.cachedContentTokenCount) ?? 0;
  const sent = numberOrNull(usage.promptTokenCount);
  if (sent !== null) {
    counts.input = Math.max(0, sent + (numberOrNull(usage.toolUsePromptTokenCount) ?? 0) - read);
    counts.cache_read = read;
  }
  const output = numberOrNull(usage.candidatesTokenCount);
  if (output !== null) counts.output = output;
  const thoughts = numberOrNull(usage.thoughtsTokenCount);
  if (thoughts !== null) counts.thoughts = thoughts;
  return Object.keys(counts).length === 0 ? [] : [{ kind: "usage", usage: counts }];
}
