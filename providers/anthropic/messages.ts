// Conversion of the conversation to messages of the Anthropic Messages API.

import { trimBlank } from "../../prompt/blank.ts";
import type { Part, Prompt } from "../../prompt/types.ts";
import { foreignThinking, tagName } from "../request/foreign.ts";
import { requestName } from "../request/file_name.ts";
import { itemTexts } from "../../base/text/json_text.ts";
import { type JsonMembers, Raw } from "../request/json.ts";
import type { CallPart, ResultPart } from "../request/pairing.ts";
import { arrangeTurns, thinkingStandsLast } from "../request/turns.ts";
import { WireIds, wireName } from "../request/wire.ts";
import { citedPieces } from "../server_tools/citations.ts";
import type { ThinkingPart } from "../types.ts";

/** A block of a message; the provider's own tools go back as the JSON that was received. */
export type ContentBlock = JsonMembers | Raw;

/** Returns the type of a block; undefined for the block of a provider's tool. */
export function typeOf(block: ContentBlock | undefined): unknown {
  return block === undefined || block instanceof Raw ? undefined : block.type;
}

export interface WireMessage {
  readonly role: "user" | "assistant";
  readonly content: readonly ContentBlock[];
  /** 1-based line of the document on which the message begins; null if unknown. */
  readonly line: number | null;
  /** For each thinking block of the message, the thinking of the document from which it was made. */
  readonly thinking: ReadonlyMap<ContentBlock, ThinkingPart>;
}

export interface ThinkingChoice {
  /** Name of the provider. Only thinking of this provider is sent back as thinking. */
  readonly provider: string;
  readonly foreign: "preserve" | "drop";
  /** True for thinking of this provider that is left out of the request. @default none is left out */
  readonly leftOut?: (part: ThinkingPart) => boolean;
}

type Kind<K extends Part["kind"]> = Extract<Part, { kind: K }>;

/**
 * Returns the messages of a request. Each call is answered in the user turn right after it, because the API refuses
 * results anywhere else: misplaced results are moved, and a call without result gets an error. Results without a call
 * are left out for the same reason.
 */
export function wireMessages(prompt: Prompt, choice: ThinkingChoice): readonly WireMessage[] {
  const messages: WireMessage[] = [];
  for (const turn of arrangeTurns(prompt, new WireIds())) {
    const { role, parts, line } = turn;
    const thinking = new Map<ContentBlock, ThinkingPart>();
    const content = turn.role === "assistant" ? assistantBlocks(parts, choice, turn.ids, thinking) : [
      ...turn.answers.map(({ result, id }) => resultBlock(result, id)),
      ...turn.answers.flatMap(({ result }) => filesOfError(result)),
      ...parts.flatMap((part) => contentBlock(part, (path) => `@${path}`)),
    ];
    if (content.length > 0) messages.push({ role, content, line, thinking });
  }
  return messages;
}

/** Text of an error that has none, because the API refuses an error with an empty text. */
const NO_ERROR_TEXT = "The call failed without an error message.";

/** Creates the result block for a call. `id` is the call's id in the request. */
function resultBlock(result: ResultPart | null, id: string): ContentBlock {
  if (result === null) {
    return { type: "tool_result", tool_use_id: id, content: "No result provided", is_error: true };
  }
  // The API refuses an error that has anything but text.
  const media = !result.isError && result.parts.some(isFile);
  const binary = (path: string) => `[binary file: ${path}]`;
  const text = media ? "" : result.parts.map((inner) => plainText(inner, binary)).join("");
  return {
    type: "tool_result",
    tool_use_id: id,
    content: media
      ? result.parts.flatMap((inner) => contentBlock(inner, binary))
      : result.isError && saysNothing(text)
      ? NO_ERROR_TEXT
      : text,
    is_error: result.isError ? true : undefined,
  };
}

/** Returns the files of an error, which are placed after all results. */
function filesOfError(result: ResultPart | null): readonly ContentBlock[] {
  if (result === null || !result.isError) return [];
  return result.parts.filter(isFile).flatMap((part) => contentBlock(part, (path) => path));
}

function isFile({ kind }: Part): boolean {
  return kind === "image" || kind === "pdf";
}

function plainText(part: Part, binary: (path: string) => string): string {
  if (part.kind === "text" || part.kind === "text_file") return part.text;
  return part.kind === "unsupported_file" ? binary(requestName(part)) : "";
}

/** Converts a part of a user message or result to at most one block; blank text is dropped. */
function contentBlock(part: Part, unsupported: (path: string) => string): readonly ContentBlock[] {
  switch (part.kind) {
    case "text":
    case "text_file":
      return saysNothing(part.text) ? [] : [{ type: "text", text: part.text }];
    case "image":
      return [{ type: "image", source: source(part) }];
    case "pdf": {
      const title = part.filename.slice(part.filename.lastIndexOf("/") + 1);
      return [{ type: "document", source: source(part), title: title === "" ? undefined : title }];
    }
    case "unsupported_file":
      return [{ type: "text", text: unsupported(requestName(part)) }];
    default:
      return [];
  }
}

function source(part: Kind<"image" | "pdf">): ContentBlock {
  return { type: "base64", media_type: part.mimeType, data: part.data };
}

/**
 * Returns the blocks of an assistant message in document order. Replies are written in that order, and the API refuses
 * thinking in another order. If all thinking is at the end, as in an older document format, it moves to the front.
 */
function assistantBlocks(
  parts: readonly Part[],
  { provider, foreign, leftOut = () => false }: ThinkingChoice,
  ids: ReadonlyMap<CallPart, string>,
  sources: Map<ContentBlock, ThinkingPart>,
): readonly ContentBlock[] {
  const isNative = (part: ThinkingPart) => part.signature?.provider === tagName(provider);
  const own = (part: ThinkingPart): readonly ContentBlock[] => {
    const block = leftOut(part) ? null : thinkingBlock(part, isNative);
    if (block === null) return [];
    sources.set(block, part);
    return [block];
  };
  const texts = parts.filter((part) => part.kind === "text");
  const calls = parts.filter((part) => part.kind === "tool_use");
  const words = foreignThinking(parts, isNative, foreign);
  const adopted = words === null ? [] : [{ type: "text", text: words }];
  if (thinkingStandsLast(parts, (part) => part.redacted || isNative(part))) {
    return [
      ...parts.flatMap((part) => part.kind === "thinking" ? own(part) : []),
      ...adopted,
      ...texts.flatMap(textBlock),
      ...calls.map((call) => callBlock(call, ids)),
    ];
  }
  const blocks: ContentBlock[] = [];
  let adoptedYet = false;
  for (const [at, part] of parts.entries()) {
    if (part.kind === "thinking") {
      blocks.push(...own(part));
      continue;
    }
    if (!adoptedYet) blocks.push(...adopted);
    adoptedYet = true;
    if (part.kind === "text") blocks.push(...textBlocks(part, parts[at + 1]));
    else if (part.kind === "tool_use") blocks.push(callBlock(part, ids));
    else if (part.kind === "server_tool" && part.what === "blocks") {
      blocks.push(...itemTexts(part.json ?? "").map((text) => new Raw(text)));
    }
  }
  return adoptedYet ? blocks : [...blocks, ...adopted];
}

/** Converts thinking to a block; returns null if the thinking is from another provider. */
function thinkingBlock(
  part: ThinkingPart,
  isNative: (part: ThinkingPart) => boolean,
): ContentBlock | null {
  if (part.redacted) return { type: "redacted_thinking", data: part.content };
  if (part.signature === undefined || !isNative(part)) return null;
  return { type: "thinking", thinking: part.content, signature: part.signature.value };
}

/** Returns a text as one block; with the citations that follow it, as one block for each piece. */
function textBlocks(part: Kind<"text">, next: Part | undefined): readonly ContentBlock[] {
  const isCited = next?.kind === "server_tool" && next.what === "citations" && next.json !== undefined;
  const pieces = isCited ? citedPieces(part.text, next.json!) : null;
  if (pieces === null) return textBlock(part);
  return pieces.map(({ text, citations }) => ({
    type: "text",
    text,
    citations: citations.length === 0 ? undefined : citations.map((citation) => new Raw(citation)),
  }));
}

function textBlock(part: Kind<"text">): readonly ContentBlock[] {
  return saysNothing(part.text) ? [] : [{ type: "text", text: trimBlank(part.text) }];
}

/**
 * True if a text is blank for the API, which refuses blank text. Unlike in a document, no-break spaces count as blank.
 */
function saysNothing(text: string): boolean {
  return text.trim() === "";
}

function callBlock(part: CallPart, ids: ReadonlyMap<CallPart, string>): ContentBlock {
  return {
    type: "tool_use",
    id: ids.get(part) ?? part.id,
    name: wireName(part.name),
    input: new Raw(part.inputText),
  };
}
