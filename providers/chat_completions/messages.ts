// Conversion of the conversation to messages of Chat Completions.

import { quickHash } from "../../base/hash.ts";
import { isBlank, trimBlank } from "../../prompt/blank.ts";
import type { Part, Prompt } from "../../prompt/types.ts";
import { foreignThinking, tagName } from "../request/foreign.ts";
import type { ThinkingPart } from "../types.ts";
import { type JsonMembers, Raw } from "../request/json.ts";
import { requestName } from "../request/file_name.ts";
import { resultFiles } from "../request/result_files.ts";
import { answerText } from "../request/result_text.ts";
import { arrangeTurns, type CallAnswer, type RequestTurn } from "../request/turns.ts";
import { wireName } from "../request/wire.ts";
import { type ChatDialect, IN_CONTENT } from "./dialect.ts";
import { readDetails } from "./reasoning_details.ts";
import { taggedThinking } from "./think_tags.ts";

export type ChatMessage = JsonMembers;

/** Returns the messages in order, with warnings about what was left out. */
export function chatMessages(
  prompt: Prompt,
  options: {
    readonly provider: string;
    readonly dialect: ChatDialect;
    readonly foreign: "preserve" | "drop";
    /**
     * True if the system prompt is a separate message. If false, the system prompt goes before the text of the first
     * user message.
     */
    readonly systemRole: boolean;
    /** True if call ids must have nine characters. */
    readonly shortIds: boolean;
    /** Thinking whose signed form is left out; its text is sent like unsigned thinking. @default none */
    readonly leftOut?: ReadonlySet<ThinkingPart>;
  },
): { readonly messages: readonly ChatMessage[]; readonly warnings: readonly string[] } {
  const system = prompt.system ?? "";
  const messages: ChatMessage[] = isBlank(system) || !options.systemRole
    ? []
    : [{ role: "system", content: system }];
  const turns = arrangeTurns(
    options.systemRole ? prompt : withSystemAsWords(prompt),
    new OwnIds(options.shortIds ? shortId : (id) => id),
  );
  const loop = openLoop(turns);
  turns.forEach((turn, index) => {
    if (turn.role === "assistant") {
      messages.push(...assistantMessage(turn, options, index >= loop));
    } else {
      messages.push(
        ...turn.answers.map((answer) => resultMessage(answer, options.dialect)),
        ...userMessage(turn.parts),
      );
    }
  });
  return { messages, warnings: [...pdfWarnings(prompt), ...resultFileWarnings(prompt)] };
}

/** Keeps the document's ids, but makes them unique. */
class OwnIds {
  readonly #taken = new Set<string>();
  readonly #spell: (id: string) => string;

  constructor(spell: (id: string) => string) {
    this.#spell = spell;
  }

  next(id: string): string {
    let wire = this.#spell(id);
    for (let count = 2; this.#taken.has(wire); count++) wire = this.#spell(`${id}_${count}`);
    this.#taken.add(wire);
    return wire;
  }
}

/** Returns nine digits derived from an id. */
function shortId(id: string): string {
  return quickHash(id).slice(-9);
}

function withSystemAsWords(prompt: Prompt): Prompt {
  const { system, history } = prompt;
  if (system === null || isBlank(system)) return prompt;
  const words = { kind: "text", text: `${system}\n\n` } as const;
  const first = history.findIndex(({ role }) => role === "user");
  if (first < 0) return { ...prompt, history: [{ role: "user", parts: [words] }, ...history] };
  return {
    ...prompt,
    history: history.map((message, index) =>
      index === first ? { ...message, parts: [words, ...message.parts] } : message
    ),
  };
}

/** Returns the index of the first turn after the person's last message. */
function openLoop(turns: readonly RequestTurn[]): number {
  return turns.findLastIndex((turn) => turn.role === "user" && turn.parts.some(says)) + 1;
}

function says(part: Part): boolean {
  return part.kind !== "text" || !isBlank(part.text);
}

function resultMessage(answer: CallAnswer, { namesResults }: ChatDialect): ChatMessage {
  return {
    role: "tool",
    tool_call_id: answer.id,
    name: namesResults ? wireName(answer.call.name) : undefined,
    content: answerText(answer, binaryFile),
  };
}

function binaryFile(filename: string, mimeType: string | null): string {
  return mimeType === null ? `[binary file: ${filename}]` : `[binary file: ${filename} (${mimeType})]`;
}

/** Creates a text message, or a list of parts if it contains an image. */
function userMessage(parts: readonly Part[]): readonly ChatMessage[] {
  if (parts.some(({ kind }) => kind === "image")) {
    const content = parts.flatMap((part): ChatMessage[] => {
      if (part.kind === "image") {
        return [{ type: "image_url", image_url: { url: `data:${part.mimeType};base64,${part.data}` } }];
      }
      const text = textOf(part);
      return isBlank(text) ? [] : [{ type: "text", text }];
    });
    return [{ role: "user", content }];
  }
  const content = parts.map(textOf).filter((text) => !isBlank(text)).join("");
  return isBlank(content) ? [] : [{ role: "user", content }];
}

function textOf(part: Part): string {
  switch (part.kind) {
    case "text":
    case "text_file":
      return part.text;
    case "unsupported_file":
      return `@${requestName(part)}`;
    case "pdf":
      return binaryFile(requestName(part), part.mimeType);
    default:
      return "";
  }
}

function pdfWarnings({ history }: Prompt): readonly string[] {
  const files = new Set(
    history.filter(({ role }) => role === "user").flatMap(({ parts }) =>
      parts.flatMap((part) => part.kind === "pdf" ? [requestName(part)] : [])
    ),
  );
  return [...files].map((file) =>
    `Only the name of ${file} is sent: this kind of server does not accept PDF files.`
  );
}

/** Returns warnings that tool messages contain only text in this API, even if the model accepts images. */
function resultFileWarnings(prompt: Prompt): readonly string[] {
  if (resultFiles(prompt).length === 0) return [];
  return [
    "Only the names of images and documents in results are sent: this kind of API accepts only text there. To show " +
    "one to the model, attach it to a message (@./file).",
  ];
}

function assistantMessage(
  { parts, ids }: Extract<RequestTurn, { role: "assistant" }>,
  { provider, dialect, foreign, leftOut }: {
    readonly provider: string;
    readonly dialect: ChatDialect;
    readonly foreign: "preserve" | "drop";
    readonly leftOut?: ReadonlySet<ThinkingPart>;
  },
  inLoop: boolean,
): readonly ChatMessage[] {
  const isNative = (part: ThinkingPart) =>
    part.signature === undefined || part.signature.provider === tagName(provider);
  const texts = parts.flatMap((part) => part.kind === "text" ? [trimBlank(part.text)] : []);
  const answer = [foreignThinking(parts, isNative, foreign) ?? "", ...texts].join("");
  const calls = parts.filter((part) => part.kind === "tool_use").map((part) => ({
    id: ids.get(part) ?? part.id,
    type: "function",
    function: { name: wireName(part.name), arguments: new Raw(part.inputText).text },
  }));
  if (answer === "" && calls.length === 0) return [];
  const back = dialect.reasoningBack === "always" || (dialect.reasoningBack === "tools" && inLoop);
  const thinking = parts.flatMap((part): readonly ThinkingPart[] =>
    !back || part.kind !== "thinking" || part.redacted || !isNative(part)
      ? []
      : leftOut?.has(part) === true
      ? [{ ...part, signature: undefined }]
      : [part]
  );
  const isInContent = dialect.reasoningField === IN_CONTENT && detailsOf(thinking).length === 0;
  const words = isInContent ? wordsOf(thinking) : "";
  const lead = words === "" ? "" : taggedThinking(words);
  const content = answer === "" ? lead.trimEnd() : lead + answer;
  return [{
    role: "assistant",
    content: content === "" ? undefined : content,
    tool_calls: calls.length === 0 ? undefined : calls,
    ...(back && !isInContent ? reasoning(thinking, dialect, calls.length > 0) : {}),
  }];
}

function detailsOf(thinking: readonly ThinkingPart[]): readonly Raw[] {
  return thinking.flatMap(({ signature }) => signature === undefined ? [] : readDetails(signature.value));
}

function wordsOf(thinking: readonly ThinkingPart[]): string {
  return thinking.map(({ content }) => trimBlank(content)).filter((content) => content !== "").join("\n\n");
}

/** Returns reasoning in the member that the server reads. Details that must return unchanged are sent as received. */
function reasoning(thinking: readonly ThinkingPart[], dialect: ChatDialect, calls: boolean): ChatMessage {
  const details = detailsOf(thinking);
  if (details.length > 0) return { reasoning_details: details };
  const words = wordsOf(thinking);
  if (words === "" && !(calls && dialect.emptyReasoning)) return {};
  return { [dialect.reasoningField]: words };
}
