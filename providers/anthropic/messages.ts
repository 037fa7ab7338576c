// The conversation in the shape of the Anthropic Messages API (providers section 4.1).

import { isBlank, trimBlank } from "../../prompt/blank.ts";
import type { Part, Prompt, PromptMessage } from "../../prompt/types.ts";
import { type JsonValue, Raw } from "../json.ts";
import { WireIds, wireName } from "../wire.ts";

type Block = { readonly [key: string]: JsonValue | undefined };

/** One message as it is sent. */
export interface WireMessage {
  readonly role: "user" | "assistant";
  readonly content: readonly Block[];
}

type Kind<K extends Part["kind"]> = Extract<Part, { kind: K }>;

/**
 * The messages of a request. Calls without a result get one right after them, in the user turn that follows,
 * because the API refuses it anywhere else. Results without a call are left out for the same reason.
 */
export function wireMessages(prompt: Prompt, foreign: "preserve" | "drop"): readonly WireMessage[] {
  const ids = new WireIds();
  const unresolved = new Set(prompt.unresolved.map((call) => call.id));
  const messages: WireMessage[] = [];
  let owed: Block[] = [];
  const push = (role: WireMessage["role"], content: readonly Block[]): void => {
    if (content.length > 0) messages.push({ role, content });
  };
  for (const message of prompt.history) {
    if (message.role === "user") {
      push("user", userBlocks(message.parts, owed, ids));
      owed = [];
      continue;
    }
    push("user", owed);
    push("assistant", assistantBlocks(message, foreign, ids));
    owed = syntheticResults(message.parts, unresolved, ids);
  }
  push("user", owed);
  return messages;
}

function syntheticResults(parts: readonly Part[], unresolved: ReadonlySet<string>, ids: WireIds): Block[] {
  const open = new Set(
    parts.flatMap((part) => part.kind === "tool_use" && unresolved.has(part.id) ? part.id : []),
  );
  return [...open].map((id) => ({
    type: "tool_result",
    tool_use_id: ids.of(id),
    content: "No result provided",
    is_error: true,
  }));
}

function userBlocks(parts: readonly Part[], owed: readonly Block[], ids: WireIds): readonly Block[] {
  const results: Block[] = [];
  const rest: Block[] = [];
  for (const part of parts) {
    if (part.kind !== "tool_result") rest.push(...contentBlock(part, (path) => `@${path}`));
    else if (part.name !== undefined) results.push(resultBlock(part, ids));
  }
  return [...results, ...owed, ...rest];
}

function resultBlock(part: Kind<"tool_result">, ids: WireIds): Block {
  const media = part.parts.some((inner) => inner.kind === "image" || inner.kind === "pdf");
  const binary = (path: string) => `[binary file: ${path}]`;
  return {
    type: "tool_result",
    tool_use_id: ids.of(part.toolUseId),
    content: media
      ? part.parts.flatMap((inner) => contentBlock(inner, binary))
      : part.parts.map((inner) => plainText(inner, binary)).join(""),
    is_error: part.isError ? true : undefined,
  };
}

function plainText(part: Part, binary: (path: string) => string): string {
  if (part.kind === "text" || part.kind === "text_file") return part.text;
  return part.kind === "unsupported_file" ? binary(part.filename) : "";
}

/** A part of a user message or of a result as at most one block; blank text is dropped. */
function contentBlock(part: Part, unsupported: (path: string) => string): readonly Block[] {
  switch (part.kind) {
    case "text":
      return isBlank(part.text) ? [] : [{ type: "text", text: part.text }];
    case "text_file":
      return [{ type: "text", text: part.text }];
    case "image":
      return [{ type: "image", source: source(part) }];
    case "pdf": {
      const title = part.filename.slice(part.filename.lastIndexOf("/") + 1);
      return [{ type: "document", source: source(part), title: title === "" ? undefined : title }];
    }
    case "unsupported_file":
      return [{ type: "text", text: unsupported(part.filename) }];
    default:
      return [];
  }
}

function source(part: Kind<"image" | "pdf">): Block {
  return { type: "base64", media_type: part.mimeType, data: part.data };
}

/**
 * The blocks of an assistant message, in document order when thinking stands before its first text and call:
 * that is how this program writes replies. Otherwise the document has the ancestor's layout, with thinking at
 * the end, and all of it goes to the front, then texts, then calls.
 */
function assistantBlocks(
  message: PromptMessage,
  foreign: "preserve" | "drop",
  ids: WireIds,
): readonly Block[] {
  const { parts } = message;
  const thinking = parts.filter((part) => part.kind === "thinking").flatMap(thinkingBlock);
  const texts = parts.filter((part) => part.kind === "text");
  const calls = parts.filter((part) => part.kind === "tool_use");
  const adopted = foreign === "preserve" ? foreignThinking(parts) : [];
  if (!thinkingStandsFirst(parts)) {
    return [
      ...thinking,
      ...adopted,
      ...texts.flatMap(textBlock),
      ...calls.map((call) => callBlock(call, ids)),
    ];
  }
  const blocks: Block[] = [];
  let adoptedYet = false;
  for (const part of parts) {
    if (part.kind === "thinking") {
      blocks.push(...thinkingBlock(part));
      continue;
    }
    if (!adoptedYet) blocks.push(...adopted);
    adoptedYet = true;
    if (part.kind === "text") blocks.push(...textBlock(part));
    else if (part.kind === "tool_use") blocks.push(callBlock(part, ids));
  }
  return adoptedYet ? blocks : [...blocks, ...adopted];
}

function thinkingStandsFirst(parts: readonly Part[]): boolean {
  for (const part of parts) {
    if (part.kind === "thinking" && (part.redacted || isNative(part))) return true;
    if (part.kind === "tool_use" || (part.kind === "text" && !isBlank(part.text))) return false;
  }
  return false;
}

function isNative(part: Kind<"thinking">): boolean {
  return part.signature?.provider === "anthropic";
}

function thinkingBlock(part: Kind<"thinking">): readonly Block[] {
  if (part.redacted) return [{ type: "redacted_thinking", data: part.content }];
  if (part.signature === undefined || !isNative(part)) return [];
  return [{ type: "thinking", thinking: part.content, signature: part.signature.value }];
}

/** Thinking of other providers as one text, since the API takes only its own (providers section 3.1). */
function foreignThinking(parts: readonly Part[]): readonly Block[] {
  const contents = parts.flatMap((part) =>
    part.kind === "thinking" && !part.redacted && !isNative(part) && !isBlank(part.content)
      ? [trimBlank(part.content)]
      : []
  );
  if (contents.length === 0) return [];
  return [{ type: "text", text: `<thinking>\n${contents.join("\n\n")}\n</thinking>` }];
}

function textBlock(part: Kind<"text">): readonly Block[] {
  const text = trimBlank(part.text);
  return text === "" ? [] : [{ type: "text", text }];
}

function callBlock(part: Kind<"tool_use">, ids: WireIds): Block {
  return { type: "tool_use", id: ids.of(part.id), name: wireName(part.name), input: new Raw(part.inputText) };
}
