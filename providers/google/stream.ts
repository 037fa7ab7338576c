// The reader of Gemini's streamGenerateContent stream.

import { toHex } from "../../base/hash.ts";
import { isObject, own, textOrEmpty } from "../../base/is_object.ts";
import { compactJson, valueText } from "../../base/text/json_text.ts";
import { listOrEmpty, numberOrNull } from "../stream/fields.ts";
import { callNote, signatureNote } from "./notes.ts";
import { LongText } from "../../base/text/long_text.ts";
import { type ReaderOptions, ReplyReader, thinkingProgress } from "../stream/reader.ts";
import type { Effect, Usage } from "../types.ts";

type JsonObject = Readonly<Record<string, unknown>>;

const OUTCOMES: Readonly<Record<string, "normal" | "truncated">> = {
  STOP: "normal",
  // Gateways send this reason for a reply that ends with a call.
  FUNCTION_CALL: "normal",
  MAX_TOKENS: "truncated",
};

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
  /** Thoughts that were not emitted yet. */
  #thoughts = new LongText();
  /** Signature that was not emitted in a block yet. */
  #signature = "";
  /** True if the last part was a text, which a block must not split. */
  #inText = false;
  /** True if something other than thoughts arrived. */
  #answered = false;

  constructor({ newId = randomId, ...options }: GoogleReaderOptions) {
    super(options);
    this.#newId = newId;
  }

  /** There is nothing to do: parts arrive whole, so none is open, and a signature does not cover the visible text. */
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
    const effects = usageOf(response.usageMetadata);
    if (!isObject(candidate)) return [...effects, ...this.#blockedPrompt(response.promptFeedback)];
    const content = isObject(candidate.content) ? candidate.content : {};
    listOrEmpty(content.parts).forEach((part, index) => {
      if (!isObject(part)) return;
      const way = [...(Array.isArray(data) ? [0] : []), "candidates", place, "content", "parts", index];
      effects.push(
        ...this.#part(part, (member) => source === undefined ? null : valueText(source, [...way, ...member])),
      );
    });
    const reason = textOrEmpty(candidate.finishReason);
    return reason === "" ? effects : [...effects, ...this.#finish(reason)];
  }

  /** Handles one part; `spelled` returns a member of the part as the provider wrote it. */
  #part(part: JsonObject, spelled: (member: readonly string[]) => string | null): Effect[] {
    const signature = textOrEmpty(part.thoughtSignature);
    if (isObject(part.functionCall)) {
      return this.#call(part.functionCall, signature, spelled(["functionCall", "args"]));
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
    const opens = !this.#inText && part.text !== "";
    this.#signature = signature || this.#signature;
    const block = opens ? this.#block() : [];
    if (part.text === "") return block;
    this.#inText = true;
    this.#answered = true;
    return [...block, { kind: "text", text: part.text }];
  }

  #call(call: JsonObject, signature: string, spelled: string | null): Effect[] {
    // The call's own signature takes precedence over a pending one from a text, which the API only recommends.
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

  #finish(reason: string): Effect[] {
    this.close();
    const outcome = own(OUTCOMES, reason) ?? "blocked";
    const effects = this.#block();
    if (outcome === "truncated" && !this.#answered) {
      const message =
        "The model used all its tokens for thinking and wrote nothing; raise the parameter max_tokens.";
      effects.push({ kind: "notice", message });
    }
    return [...effects, { kind: "stop", outcome, reason: outcome === "truncated" ? "max_tokens" : reason }];
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
