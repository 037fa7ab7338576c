// The conversation in the shape of the Anthropic Messages API.

import { trimBlank } from "../../prompt/blank.ts";
import type { Part, Prompt } from "../../prompt/types.ts";
import { foreignThinking } from "../request/foreign.ts";
import { type JsonValue, Raw } from "../request/json.ts";
import type { CallPart, ResultPart } from "../request/pairing.ts";
import { arrangeTurns, thinkingStandsLast } from "../request/turns.ts";
import { WireIds, wireName } from "../request/wire.ts";
import type { ThinkingPart } from "../types.ts";

export type Block = { readonly [key: string]: JsonValue | undefined };

/** One message as it is sent. */
export interface WireMessage {
  readonly role: "user" | "assistant";
  readonly content: readonly Block[];
  /** 1-based line of the document where it begins; null when that is not known. */
  readonly line: number | null;
  /** The thinking that blocks of it stand for. */
  readonly thinking: ReadonlyMap<Block, ThinkingPart>;
}

/** What is sent of thinking. */
export interface ThinkingChoice {
  readonly foreign: "preserve" | "drop";
  /** Own thinking that is left out. */
  readonly leftOut?: (part: ThinkingPart) => boolean;
}

type Kind<K extends Part["kind"]> = Extract<Part, { kind: K }>;

/**
 * The messages of a request. Each call is answered in the user turn right after it, because the API refuses a
 * result anywhere else: results that stand elsewhere are moved there, and a call without one is told so. Results
 * without a call are left out for the same reason.
 */
export function wireMessages(prompt: Prompt, choice: ThinkingChoice): readonly WireMessage[] {
  const messages: WireMessage[] = [];
  for (const turn of arrangeTurns(prompt, new WireIds())) {
    const { role, parts, line } = turn;
    const thinking = new Map<Block, ThinkingPart>();
    const content = turn.role === "assistant" ? assistantBlocks(parts, choice, turn.ids, thinking) : [
      ...turn.answers.map(({ result, id }) => resultBlock(result, id)),
      ...turn.answers.flatMap(({ result }) => filesOfError(result)),
      ...parts.flatMap((part) => contentBlock(part, (path) => `@${path}`)),
    ];
    if (content.length > 0) messages.push({ role, content, line, thinking });
  }
  return messages;
}

/** Stands for an error whose text is blank, because the API refuses an empty one. */
const NO_ERROR_TEXT = "The call failed without an error message.";

/** What a call came to, for the id it was sent with. */
function resultBlock(result: ResultPart | null, id: string): Block {
  if (result === null) {
    return { type: "tool_result", tool_use_id: id, content: "No result provided", is_error: true };
  }
  // An error that holds anything but text is refused.
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

/** The files of an error, which stand behind all results. */
function filesOfError(result: ResultPart | null): readonly Block[] {
  if (result === null || !result.isError) return [];
  return result.parts.filter(isFile).flatMap((part) => contentBlock(part, (path) => path));
}

function isFile({ kind }: Part): boolean {
  return kind === "image" || kind === "pdf";
}

function plainText(part: Part, binary: (path: string) => string): string {
  if (part.kind === "text" || part.kind === "text_file") return part.text;
  return part.kind === "unsupported_file" ? binary(part.path) : "";
}

/** A part of a user message or of a result as at most one block; blank text is dropped. */
function contentBlock(part: Part, unsupported: (path: string) => string): readonly Block[] {
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
      return [{ type: "text", text: unsupported(part.path) }];
    default:
      return [];
  }
}

function source(part: Kind<"image" | "pdf">): Block {
  return { type: "base64", media_type: part.mimeType, data: part.data };
}

/**
 * The blocks of an assistant message, in document order: that is how this program writes replies, and the API refuses
 * thinking in another order. Only where all thinking stands at the end the document has the ancestor's layout: then
 * it goes to the front, before texts and calls.
 */
function assistantBlocks(
  parts: readonly Part[],
  { foreign, leftOut = () => false }: ThinkingChoice,
  ids: ReadonlyMap<CallPart, string>,
  sources: Map<Block, ThinkingPart>,
): readonly Block[] {
  const own = (part: ThinkingPart): readonly Block[] => {
    const block = leftOut(part) ? null : thinkingBlock(part);
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
  const blocks: Block[] = [];
  let adoptedYet = false;
  for (const part of parts) {
    if (part.kind === "thinking") {
      blocks.push(...own(part));
      continue;
    }
    if (!adoptedYet) blocks.push(...adopted);
    adoptedYet = true;
    if (part.kind === "text") blocks.push(...textBlock(part));
    else if (part.kind === "tool_use") blocks.push(callBlock(part, ids));
  }
  return adoptedYet ? blocks : [...blocks, ...adopted];
}

function isNative(part: ThinkingPart): boolean {
  return part.signature?.provider === "anthropic";
}

/** Own thinking as a block; null for any other. */
function thinkingBlock(part: ThinkingPart): Block | null {
  if (part.redacted) return { type: "redacted_thinking", data: part.content };
  if (part.signature === undefined || !isNative(part)) return null;
  return { type: "thinking", thinking: part.content, signature: part.signature.value };
}

function textBlock(part: Kind<"text">): readonly Block[] {
  return saysNothing(part.text) ? [] : [{ type: "text", text: trimBlank(part.text) }];
}

/** Blank as the API means it, which refuses such a text: a no-break space is blank there, and text in a document. */
function saysNothing(text: string): boolean {
  return text.trim() === "";
}

function callBlock(part: CallPart, ids: ReadonlyMap<CallPart, string>): Block {
  return {
    type: "tool_use",
    id: ids.get(part) ?? part.id,
    name: wireName(part.name),
    input: new Raw(part.inputText),
  };
}
