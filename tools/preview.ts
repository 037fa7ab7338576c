// One-line previews of calls and results, safe to show on a terminal.

import type { ToolDefinition, ToolInput } from "./definition.ts";
import { byBytes } from "../base/bytes.ts";
import { isObject } from "../base/is_object.ts";
import { type Checked, knownProblems } from "./validate.ts";
import { visible } from "../base/visible.ts";
import { cutToWidth, displayWidth } from "../base/width.ts";

/** Width in terminal cells if none is given. */
const DEFAULT_WIDTH = 80;

const NEWLINE = "↵";
/** Number of result lines in its preview. */
const RESULT_LINES = 10;

/**
 * The part of a definition that a preview needs. With the schema, the preview also shows that an input does not fit.
 */
export type Previewed = Pick<ToolDefinition, "format_preview"> & Partial<Checked>;

/**
 * `NAME: BODY` in at most `width` cells; cut text ends in `…`. Works for unknown tools too. Control characters,
 * bidirectional controls and zero-width characters are shown as escapes. `note` precedes the body and is never cut.
 */
export function previewCall(
  definition: Previewed | undefined,
  name: string,
  input: ToolInput,
  width: number = DEFAULT_WIDTH,
  note: string | null = null,
): string {
  return cutToWidth(wholePreview(definition, name, input, width, note), width);
}

/** True if `previewCall` leaves something out at this width. */
export function previewIsCut(
  definition: Previewed | undefined,
  name: string,
  input: ToolInput,
  width: number = DEFAULT_WIDTH,
  note: string | null = null,
): boolean {
  const whole = wholePreview(definition, name, input, width, note);
  return cutToWidth(whole, width) !== whole;
}

/** `NAME: CONTENT` of a finished result, its first lines joined, in at most `width` cells. */
export function previewResult(
  name: string,
  content: string,
  options: { readonly isError?: boolean; readonly width?: number } = {},
): string {
  const all = content.trim().split("\n");
  const body = all.slice(0, RESULT_LINES).map((line) => line.trim()).join(NEWLINE).replace(/[ \t]{2,}/g, " ");
  const mark = options.isError ? "(error)" : "";
  const text = [mark, body].filter((part) => part !== "").join(" ");
  return cutToWidth(visible(text === "" ? name : `${name}: ${text}`), options.width ?? DEFAULT_WIDTH);
}

function wholePreview(
  definition: Previewed | undefined,
  name: string,
  input: ToolInput,
  width: number,
  note: string | null,
): string {
  const shownName = oneLine(name);
  const [problem] = definition === undefined ? [] : knownProblems(definition, input);
  const remark = problem === undefined ? note : `will not run, ${oneLine(problem)}`;
  const head = `${shownName}: ${remark === null ? "" : `(${remark}) `}`;
  const body = oneLine(previewBody(definition, input, width - displayWidth(head)));
  if (remark !== null) return `${head}${body}`.trimEnd();
  return body === "" ? shownName : `${shownName}: ${body}`;
}

function oneLine(text: string): string {
  return visible(text.replace(/\r?\n/g, NEWLINE));
}

function previewBody(definition: Previewed | undefined, input: ToolInput, width: number): string {
  if (definition?.format_preview === undefined) return genericBody(input);
  // If the tool's formatter fails or answers with something else, the person must still see the whole input.
  try {
    return joinPreview(definition.format_preview(input, width)) ?? genericBody(input);
  } catch {
    return genericBody(input);
  }
}

/** The text of a preview; null if it is not a preview. */
function joinPreview(preview: unknown): string | null {
  if (typeof preview === "string") return preview;
  if (preview instanceof Promise) preview.catch(() => {}); // Whatever it becomes, it is not a preview.
  if (!isObject(preview) || !("label" in preview || "detail" in preview)) return null;
  const texts = [preview.label ?? "", ...[preview.detail ?? []].flat()];
  if (!texts.every((text) => typeof text === "string")) return null;
  const [label, ...details] = texts;
  return [label, details.join("  ")].filter((part) => part !== "").join(" — ");
}

/** All members of the input: scalars first, then lists and objects, each group by name. */
function genericBody(input: ToolInput): string {
  const names = Object.keys(input).sort(byBytes);
  const scalar = names.filter((name) => !isComposite(input[name]));
  const composite = names.filter((name) => isComposite(input[name]));
  return [...scalar, ...composite].map((name) => `${name}=${genericValue(input[name])}`).join(", ");
}

function isComposite(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function genericValue(value: unknown): string {
  if (typeof value === "string") return `"${value.replace(/\r?\n/g, NEWLINE).replaceAll('"', '\\"')}"`;
  if (!isComposite(value)) return String(value);
  if (Array.isArray(value) && value.length > 0) {
    return value.length === 1 ? "[1 item]" : `[${value.length} items]`;
  }
  const names = Object.keys(value).sort(byBytes);
  if (names.length <= 2) return `{${names.join(", ")}}`;
  return `{${names.slice(0, 2).join(", ")}, +${names.length - 2} more}`;
}
