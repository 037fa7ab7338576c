// The tool that reads a file: text by lines, anything else as a reference that the provider gets as a file.

import { textOrEmpty } from "../../../base/is_object.ts";
import { isAttachable } from "../../../base/media.ts";
import { isSystemFile, isSystemPath } from "../../../base/system/system_files.ts";
import {
  type BuiltinTool,
  CODING_ASSISTANT,
  type ExecutionContext,
  type ExecutionResult,
  FILE_RESULT_CAPABILITY,
  type ToolInput,
} from "../../definition.ts";
import { DAMAGED } from "../../../base/text/text_fault.ts";
import { realPath } from "../../../base/disk/real_path.ts";
import { Exchanged } from "../../../base/disk/failures.ts";
import { performOnDisk, runWithTimeout } from "../../files/on_disk.ts";
import type { ReadFileResult } from "../../files/read.ts";
import { printAsUtf8, shellPath } from "../../files/text/encoding.ts";
import type { LineSelection } from "../../files/text/line_selector.ts";
import { STOPPED } from "../../definition.ts";
import { formatSize } from "../../truncate.ts";
import { inputValidator } from "../../validate.ts";
import { fileSentence, nowhereSentence, unreadableSentence } from "../file_failures.ts";
import { escapeReference, fileReference } from "./file_reference.ts";
import { labelComment, READS_FILES, strictSchema, wholeNumber } from "../schema.ts";
import { validators } from "../validators.generated.ts";

export interface ReadOptions {
  readonly maxLines: number;
  readonly maxBytes: number;
}

/** Defines read for the given limits, which its description names. */
export function readTool(limits: ReadOptions): BuiltinTool {
  return {
    name: "read",
    description: "Reads a file. Returns at most " +
      `${limits.maxLines} lines or ${
        formatSize(limits.maxBytes)
      } of text, whichever is smaller; if there is ` +
      "more, a note gives the offset to continue with. Images and PDF files are attached. Relative paths start at the " +
      "document's folder.",
    input_schema: strictSchema({
      path: { type: "string", description: "File path: absolute, relative, or starting with ~/." },
      offset: { type: ["number", "null"], description: "First line to read, counted from 1 (null: 1)." },
      limit: {
        type: ["number", "null"],
        description: "Maximum number of lines (null: as many as allowed).",
      },
    }),
    ...READS_FILES,
    capabilities: [FILE_RESULT_CAPABILITY],
    personalities: {
      [CODING_ASSISTANT]: {
        snippet: "reads text files by line, images and PDF files",
        guidelines: [
          "Before you change code, read the files concerned and follow the conventions around them.",
        ],
      },
    },
    validate: inputValidator(validators.read),
    format_preview: (input) => `${textOrEmpty(input.path)}${rangeText(input)}${labelComment(input)}`,
    execute: (input, context) => readFile(input, context, limits),
  };
}

function rangeText({ offset, limit }: ToolInput): string {
  const isGiven = (value: unknown): boolean => value !== null && value !== undefined;
  if (!isGiven(offset) && !isGiven(limit)) return "";
  return `  +${isGiven(offset) ? offset : 0}${isGiven(limit) ? `,${limit}` : ""}`;
}

async function readFile(
  input: ToolInput,
  context: ExecutionContext,
  limits: ReadOptions,
): Promise<ExecutionResult> {
  const shown = textOrEmpty(input.path);
  if (shown === "") return failed("The path is empty.");
  try {
    return await runWithTimeout(context, (signal) => readRegular(shown, input, context, limits, signal));
  } catch (thrown) {
    if (context.signal.aborted) return failed(STOPPED);
    if (thrown instanceof Exchanged) {
      return failed(`${shown} was replaced while it was being opened. Read it again.`);
    }
    return failed(await fileSentence(shown, "read", thrown, context));
  }
}

async function readRegular(
  shown: string,
  input: ToolInput,
  context: ExecutionContext,
  limits: ReadOptions,
  signal: AbortSignal,
): Promise<ExecutionResult> {
  const real = realPath(context.path.resolve(shown), context.environment.cwd);
  if (real === null) return failed(nowhereSentence(shown));
  if (!isReadable(real, context)) return failed(refusedSentence(shown, real, context));
  const info = await Deno.stat(real);
  if (info.isDirectory) return failed(`${shown} is a folder. Use ls to list it.`);
  // Opening a pipe would wait for a writer.
  if (!info.isFile) return failed(`${shown} is a pipe, socket or device, not a regular file.`);
  if (isSystemFile(real, info)) return failed(refusedSentence(shown, real, context));
  const offset = wholeNumber(input.offset, 1);
  const count = typeof input.limit === "number" ? wholeNumber(input.limit, 1) : null;
  const named = context.path.resolve(shown);
  const remember = context.seen !== undefined;
  const request = { real, named, range: { offset, count, ...limits }, remember };
  const read = await performOnDisk(context, "read", request, signal);
  // The file was replaced after the check.
  if (read === null) throw new Exchanged(shown);
  const result = resultOf(read, shown, offset, limits);
  if (result.success && read.now !== null) await context.seen?.record([[real, read.now]]);
  return result;
}

/** True if tools may read a real path: the sandbox allows it, and the path is not one of the system's own files. */
function isReadable(real: string, { sandbox }: ExecutionContext): boolean {
  return !isSystemPath(real) && sandbox.isPathReadable(real);
}

function refusedSentence(shown: string, real: string, context: ExecutionContext): string {
  return unreadableSentence(shown, real, context);
}

function resultOf(read: ReadFileResult, shown: string, offset: number, limits: ReadOptions): ExecutionResult {
  switch (read.kind) {
    case "binary":
      if (isAttachable(read.type)) return { success: true, output: fileReference(shown, read.type) };
      return failed(
        `${shown} is not text (${read.type}, ${formatSize(read.size)}) and cannot be attached. ` +
          "Use a program that can read this format.",
      );
    case "empty":
      return { success: true, output: "[The file is empty.]" };
    case "encoded":
      return failed(
        `${shown} is encoded in ${read.encoding}, which read and edit do not support. Read it with: ` +
          printAsUtf8(shown, read.encoding),
      );
    case "text": {
      const { total } = read.selection;
      if (offset <= total) return { success: true, output: shownText(read.selection, offset, shown, limits) };
      return failed(`Line ${offset} is past the end of ${shown}, which has ${lineCount(total)}.`);
    }
  }
}

function shownText(selection: LineSelection, offset: number, shown: string, limits: ReadOptions): string {
  const { text, kept, encoding } = selection;
  const notice = [noticeFor(selection, offset, shown, limits), encodingNotice(encoding, shown)]
    .filter((each) => each !== null).join("\n") || null;
  if (notice === null) return escapeReference(text);
  return kept === 0 ? notice : `${text}\n\n${notice}`;
}

/** Returns the bracketed line about bytes that cannot be shown; null if all can. */
function encodingNotice(encoding: string | null, shown: string): string | null {
  if (encoding === null) return null;
  if (encoding === DAMAGED) return "[\ufffd stands for bytes that are not UTF-8.]";
  return `[The file is not UTF-8, perhaps ${encoding}; \ufffd stands for its other characters. ` +
    `To read them: ${printAsUtf8(shown, encoding)}]`;
}

/** Returns the bracketed line about what is missing; null if nothing is missing. */
function noticeFor(
  { kept, total, cutBy, firstLineBytes }: LineSelection,
  offset: number,
  shown: string,
  { maxBytes }: ReadOptions,
): string | null {
  const size = formatSize(maxBytes);
  if (firstLineBytes !== null) {
    const command = `sed -n ${offset}p ${shellPath(shown)} | head -c ${maxBytes}`;
    return `[Line ${offset} has ${formatSize(firstLineBytes)}, more than the limit of ${size}. ` +
      `To read its beginning: ${command}]`;
  }
  const last = offset + kept - 1;
  const next = `Continue with offset ${last + 1}.`;
  if (cutBy === "lines") return `[Showing lines ${offset}-${last} of ${total}. ${next}]`;
  if (cutBy === "bytes") {
    return `[Showing lines ${offset}-${last} of ${total} (limit ${size}). ${next}]`;
  }
  return last < total ? `[${lineCount(total - last)} more in the file. ${next}]` : null;
}

function lineCount(count: number): string {
  return `${count} line${count === 1 ? "" : "s"}`;
}

function failed(error: string): ExecutionResult {
  return { success: false, error };
}
