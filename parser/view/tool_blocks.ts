// Reads the tool blocks of a message from its nodes: header, fence and body of a call or result.

import { isObject } from "../../base/is_object.ts";
import { nestingDepth, repeatedKey } from "../../base/text/json_text.ts";
import { blockOpen, type Span, toolResultHeader, toolUseHeader } from "../text/lines.ts";
import type { Message } from "../tree/message.ts";
import { readAttachments } from "../text/attachments.ts";
import { readStatus, type StatusReading } from "./status.ts";
import * as Term from "../tree/terms.generated.ts";
import { spanText, type Text } from "../text/text.ts";

/** A call as written. Offsets count from the beginning of the document. */
export interface CallBlock {
  readonly from: number;
  readonly to: number;
  readonly id: string;
  readonly name: string;
  /** True if a fence was opened below the header. */
  readonly hasOpener: boolean;
  /** The bytes between the fences without the last line end; null without a complete fence. */
  readonly body: Span | null;
  /** The language of the fence if it is not JSON. */
  readonly foreignLanguage: string | null;
}

/** A result as written. Offsets count from the beginning of the document. */
export interface ResultBlock {
  readonly from: number;
  readonly to: number;
  readonly id: string;
  readonly hasOpener: boolean;
  /** The fences and body; null without a complete fence. */
  readonly block:
    | (StatusReading & {
      readonly header: Span;
      readonly opener: Span;
      readonly ticks: number;
      readonly body: Span;
      /** Names of files in the header, as written. */
      readonly attachments: readonly string[];
    })
    | null;
}

/** Reads the call whose node is at `index`. */
export function readCall(text: Text, message: Message, index: number, offset: number): CallBlock {
  const { from, to, header, opener, body, hasOpener } = parts(text, message, index, offset);
  const line = text.slice(header.from, header.to);
  const read = toolUseHeader(line, 0, line.length);
  if (read === null) throw new Error(`no tool use header at byte ${from}`);
  let foreignLanguage: string | null = null;
  if (opener !== null) {
    const fence = text.slice(opener.from, opener.to);
    const language = spanText(fence, blockOpen(fence, 0, fence.length)?.language ?? { from: 0, to: 0 });
    if (language !== "" && language.toLowerCase() !== "json") foreignLanguage = language;
  }
  const { name, id } = read;
  return { from, to, id: spanText(line, id), name: spanText(line, name), hasOpener, body, foreignLanguage };
}

/** Reads the result whose node is at `index`. */
export function readResultBlock(text: Text, message: Message, index: number, offset: number): ResultBlock {
  const { from, to, header, opener, body, hasOpener } = parts(text, message, index, offset);
  const line = text.slice(header.from, header.to);
  const read = toolResultHeader(line, 0, line.length);
  if (read === null) throw new Error(`no tool result header at byte ${from}`);
  const id = spanText(line, read.id);
  if (opener === null || body === null) return { from, to, id, hasOpener, block: null };
  const fence = text.slice(opener.from, opener.to);
  const open = blockOpen(fence, 0, fence.length);
  if (open === null) throw new Error(`no opening fence at byte ${opener.from}`);
  const suffix = read.suffix && spanText(line, read.suffix);
  const status = readStatus(
    suffix,
    spanText(fence, open.language),
    spanText(fence, open.info),
  );
  const attachments = suffix === null ? [] : readAttachments(suffix);
  return {
    from,
    to,
    id,
    hasOpener,
    block: { ...status, header, opener, ticks: open.ticks, body, attachments },
  };
}

/** Returns the ranges of header, opener and body, without their line ends. */
function parts(text: Text, message: Message, index: number, offset: number) {
  const nodes = message.nodes.list;
  const end = nodes[index + 3]!;
  const from = offset + nodes[index + 1]!;
  let to = offset + nodes[index + 2]!;
  const header = { from, to: text.textEnd(from, offset + nodes[index + 6]!) };
  let opener: Span | null = null;
  let body: Span | null = null;
  let hasOpener = false;
  for (let child = index + 8; child < end; child = nodes[child + 3]!) {
    const childFrom = offset + nodes[child + 1]!;
    const childTo = offset + nodes[child + 2]!;
    switch (nodes[child]) {
      case Term.Opener:
        opener = { from: childFrom, to: text.textEnd(childFrom, childTo) };
        body = { from: childTo, to: childTo };
        hasOpener = true;
        break;
      case Term.LooseOpener:
        hasOpener = true;
        break;
      case Term.BlockBody:
        body = { from: childFrom, to: text.textEnd(childFrom, childTo) };
        break;
      case Term.Closer:
        to = text.textEnd(childFrom, childTo);
        break;
    }
  }
  return { from, to, header, opener, body, hasOpener };
}

/** Maximum nesting of an input, more than any tool needs and below the limits of JSON parsers. */
const DEEPEST_INPUT = 100;
/** Maximum number of characters of a key in an error message. */
const MOST_SHOWN = 60;

/** Returns why an input that is a JSON object still cannot be used, as the end of a sentence; null if it can be. */
export function inputFlaw(text: string): string | null {
  // Each level of nesting takes two characters, so an input with few characters cannot be nested too deeply.
  if (text.length > 2 * DEEPEST_INPUT && nestingDepth(text) > DEEPEST_INPUT) {
    return `it is nested more than ${DEEPEST_INPUT} levels deep`;
  }
  const key = repeatedKey(text);
  return key === null
    ? null
    : `its key ${JSON.stringify(key.slice(0, MOST_SHOWN))} occurs twice in one object`;
}

/**
 * Returns the decoded input of a call. If the text is not a JSON object, returns the end of a sentence that says what
 * the text is.
 */
export function decodeCallInput(text: string): Record<string, unknown> | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return text.trim() === ""
      ? "it is empty"
      : `it is not valid JSON: ${error instanceof Error ? error.message : error}`;
  }
  if (Array.isArray(value)) return "it is an array";
  return isObject(value) ? value : `it is ${value === null ? "null" : `a ${typeof value}`}`;
}
