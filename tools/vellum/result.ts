// Converts the answer of a tool file to the result of a call.

import { isObject } from "../../base/is_object.ts";
import type { ExecutionResult } from "../definition.ts";
import type { GivenFile } from "../overflow/attachments.ts";

/** Error for a tool whose answer is not a result. */
const NO_RESULT = "The tool ended without a result.";

/** Separates an answer's text parts from its other parts, since the text may be too long for one message. */
export function separateText(answer: unknown): { readonly texts: readonly string[]; readonly rest: unknown } {
  if (!isObject(answer)) return { texts: [], rest: answer };
  const { content, contentBlocks, ...rest } = answer;
  const blocks: unknown[] = Array.isArray(contentBlocks) ? contentBlocks : [];
  const texts = blocks.flatMap((block) => isText(block) ? [block.text] : []);
  return {
    texts: [...(content === undefined ? [] : [textOf(content)]), ...texts].filter((each) => each !== ""),
    rest: { ...rest, contentBlocks: blocks.filter((block) => !isText(block)) },
  };
}

/** Reads an answer without its text, which arrives separately. Pure. */
export function readVellumResult(
  answer: unknown,
  text: string,
): ExecutionResult & { readonly files?: readonly GivenFile[] } {
  if (!isObject(answer)) {
    return {
      success: false,
      error: answer === undefined || answer === null ? NO_RESULT : notAResult(answer),
    };
  }
  const { isError, status, yieldToUser, contentBlocks } = answer;
  const blocks = Array.isArray(contentBlocks) ? contentBlocks.filter(isObject) : [];
  const files = blocks.flatMap((block) => fileOf(block) ?? []);
  return {
    ...(isError === true ? { success: false, error: text } : { success: true, output: text }),
    ...(typeof status === "string" ? { status } : {}),
    ...(yieldToUser === true ? { yieldToUser: true } : {}),
    ...(files.length === 0 ? {} : { files }),
  };
}

/** Error for an answer that is only a text, a list or a number, as tools of other programs may return. */
function notAResult(answer: unknown): string {
  const kind = Array.isArray(answer) ? "a list" : `a ${typeof answer}`;
  return `The tool returned ${kind} instead of { content, isError }, so its result is unknown.`;
}

function textOf(content: unknown): string {
  return typeof content === "string" ? content : JSON.stringify(content) ?? "";
}

function isText(block: unknown): block is { readonly text: string } {
  return isObject(block) && block.type === "text" && typeof block.text === "string";
}

function fileOf({ type, source }: Record<string, unknown>): GivenFile | null {
  if (type !== "image" && type !== "file" || !isObject(source) || source.type !== "base64") return null;
  return { type: source.media_type, data: source.data };
}
