// From what a tool file answers to the result of a call (tools 7.4).

import { isObject } from "../../base/is_object.ts";
import type { ExecutionResult } from "../definition.ts";

/** What is said of a tool whose answer is none. */
const NO_RESULT = "The tool ended without giving a result.";

/** A block that a tool adds to its text. */
export interface MediaBlock {
  /** MIME type. */
  readonly type: string;
  /** Base64. */
  readonly data: string;
}

/** The text of an answer in its parts, and the rest of it: the text may be too long to go in one message. Pure. */
export function textApart(answer: unknown): { readonly texts: readonly string[]; readonly rest: unknown } {
  if (!isObject(answer)) return { texts: [], rest: answer };
  const { content, contentBlocks, ...rest } = answer;
  const blocks: unknown[] = Array.isArray(contentBlocks) ? contentBlocks : [];
  const texts = blocks.flatMap((block) => isText(block) ? [block.text] : []);
  return {
    texts: [...(content === undefined ? [] : [textOf(content)]), ...texts].filter((each) => each !== ""),
    rest: { ...rest, contentBlocks: blocks.filter((block) => !isText(block)) },
  };
}

/** The parts of an answer, without its text, which comes apart from it. Pure. */
export function readResult(
  answer: unknown,
  text: string,
): ExecutionResult & { readonly media?: readonly MediaBlock[] } {
  if (!isObject(answer)) return { success: false, error: NO_RESULT };
  const { isError, status, yieldToUser, contentBlocks } = answer;
  const blocks = Array.isArray(contentBlocks) ? contentBlocks.filter(isObject) : [];
  const media = blocks.flatMap((block) => mediaOf(block) ?? []);
  return {
    ...(isError === true ? { success: false, error: text } : { success: true, output: text }),
    ...(typeof status === "string" ? { status } : {}),
    ...(yieldToUser === true ? { yieldToUser: true } : {}),
    ...(media.length === 0 ? {} : { media }),
  };
}

function textOf(content: unknown): string {
  return typeof content === "string" ? content : JSON.stringify(content) ?? "";
}

function isText(block: unknown): block is { readonly text: string } {
  return isObject(block) && block.type === "text" && typeof block.text === "string";
}

function mediaOf({ type, source }: Record<string, unknown>): MediaBlock | null {
  if (type !== "image" && type !== "file" || !isObject(source) || source.type !== "base64") return null;
  const { media_type, data } = source;
  return typeof media_type === "string" && typeof data === "string" ? { type: media_type, data } : null;
}
