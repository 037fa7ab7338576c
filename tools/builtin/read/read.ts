// The tool that reads a file: text by lines, anything else as a reference the provider gets as a file (tools 8.2).

import { isAttachable, isTextual, typeOfName, typeOfSignature } from "../../../base/media.ts";
import { textFault } from "../../../base/text_fault.ts";
import { isSystemFile, isSystemPath, within } from "../../../base/reading.ts";
import type { ExecutionContext, ExecutionResult, ToolDefinition, ToolInput } from "../../definition.ts";
import { realPath } from "../../../sandbox/paths/real_path.ts";
import { STOPPED } from "../../run.ts";
import { formatSize } from "../../truncate.ts";
import { inputValidator } from "../../validate.ts";
import { fileSentence, leading } from "../file_failures.ts";
import { type LineSelection, LineSelector } from "../../files/text/line_selector.ts";
import { escapeReference, fileReference } from "./file_reference.ts";
import { labelComment, strictSchema, text, wholeNumber } from "../schema.ts";
import { nowhereSentence } from "../replace_file.ts";
import { seenNow } from "../seen_files.ts";
import { validators } from "../validators.generated.ts";

const CHUNK = 64 * 1024;

/** Bytes from the beginning of a file that decide what an unknown one is. */
const SNIFFED_BYTES = 8192;

export interface ReadOptions {
  readonly maxLines: number;
  readonly maxBytes: number;
}

/** The definition of read for the given limits, which its description names. */
export function readTool(limits: ReadOptions): ToolDefinition {
  return {
    name: "read",
    description: "Reads a file. Text is returned by lines, at most " +
      `${limits.maxLines} lines or ${
        formatSize(limits.maxBytes)
      } at a time, whichever is less; a note at the end ` +
      "says how to go on. Images and PDF files are attached. Relative paths start at the folder of the document.",
    input_schema: strictSchema({
      path: { type: "string", description: "The file: absolute, relative, or beginning with ~/." },
      offset: { type: ["number", "null"], description: "The line to begin with, counted from 1 (null: 1)." },
      limit: {
        type: ["number", "null"],
        description: "The number of lines wanted (null: as many as allowed).",
      },
    }),
    strict: true,
    capabilities: ["template_tool_result"],
    personalities: {
      "coding-assistant": {
        snippet: "reads a file, by lines; images and PDF files too",
        guidelines: [
          "Read before you write: look at the files concerned, and at how the code around them does things.",
        ],
      },
    },
    path_input: "path",
    files: "read",
    validate: inputValidator(validators.read),
    format_preview: (input) => `${text(input.path)}${rangeText(input)}${labelComment(input)}`,
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
  const shown = text(input.path);
  if (shown === "") return failed("The path is empty.");
  try {
    return await within(context.timeout, readRegular(shown, input, context, limits), context.signal);
  } catch (thrown) {
    if (context.signal.aborted) return failed(STOPPED);
    return failed(fileSentence(shown, "read", thrown, context));
  }
}

async function readRegular(
  shown: string,
  input: ToolInput,
  context: ExecutionContext,
  limits: ReadOptions,
): Promise<ExecutionResult> {
  const path = targetOf(shown, context);
  if (path === null) return failed(nowhereSentence(shown));
  if (!isReadable(path, context)) return failed(refusedSentence(shown, path, context));
  const info = await Deno.stat(path);
  if (info.isDirectory) return failed(`${shown} is a folder. List it with ls.`);
  // Opening a pipe would wait for somebody to write into it.
  if (!info.isFile) return failed(`${shown} is a pipe, a socket or a device, not a regular file.`);
  if (isSystemFile(path, info)) return failed(refusedSentence(shown, path, context));
  const file = await Deno.open(path);
  try {
    // A link may have taken the place of what was judged, between judging and opening.
    if (targetOf(shown, context) !== path || !isReadable(path, context) || !await isStill(file, path, info)) {
      return failed(`${shown} was exchanged for something else while it was opened.`);
    }
    // Taken before reading: should the file change meanwhile, the model has to read it again before it writes over it.
    const now = context.seen === undefined ? null : await seenNow(path);
    const source = { path: context.path.resolve(shown), shown, size: info.size };
    const result = await readOpen(file, source, input, limits, context.signal);
    if (result.success && now !== null) await context.seen?.record([[path, now]]);
    return result;
  } finally {
    file.close();
  }
}

/** The real path; null when it leads nowhere. */
function targetOf(shown: string, context: ExecutionContext): string | null {
  return realPath(context.path.resolve(shown), context.environment.cwd);
}

/** Whether the sandbox lets tools read a real path (sandbox 12.1) and it is none of the system's own files (S7). */
function isReadable(real: string, { sandbox }: ExecutionContext): boolean {
  return !isSystemPath(real) && sandbox.isPathReadable(real);
}

function refusedSentence(shown: string, real: string, context: ExecutionContext): string {
  return `Sandbox: ${leading(shown, real, context)} may not be read by tools.`;
}

/** Whether an open file is what was judged and what stands at the path, itself and not through a link. */
async function isStill(file: Deno.FsFile, path: string, judged: Deno.FileInfo): Promise<boolean> {
  const [opened, standing] = [await file.stat(), await Deno.lstat(path)];
  return [judged, standing].every(({ dev, ino }) => dev === opened.dev && ino === opened.ino);
}

interface Source {
  readonly path: string;
  /** The path as the model wrote it. */
  readonly shown: string;
  readonly size: number;
}

async function readOpen(
  file: Deno.FsFile,
  source: Source,
  input: ToolInput,
  limits: ReadOptions,
  signal: AbortSignal,
): Promise<ExecutionResult> {
  const buffer = new Uint8Array(CHUNK);
  const first = buffer.slice(0, await fill(file, buffer.subarray(0, SNIFFED_BYTES)));
  const unnamed = () => first.includes(0) ? "application/octet-stream" : "text/plain";
  const type = typeOfName(source.path) ?? typeOfSignature(first) ?? unnamed();
  if (!isTextual(type)) {
    if (isAttachable(type)) return { success: true, output: fileReference(source.shown, type) };
    return failed(
      `${source.shown} is not text (${type}, ${formatSize(source.size)}) and cannot be attached. ` +
        "Use a program that understands its format.",
    );
  }
  if (first.length === 0) return { success: true, output: "[The file is empty.]" };
  const encoding = textFault(first)?.encoding ?? "";
  if (encoding.startsWith("UTF-16")) {
    return failed(
      `${source.shown} is written in ${encoding}, which read and edit do not take. Read it with: ` +
        `iconv -f ${encoding} -t UTF-8 ${shellQuote(source.shown)}`,
    );
  }
  const offset = wholeNumber(input.offset, 1);
  const count = wholeNumber(input.limit, Infinity);
  const selector = new LineSelector({ offset, count, ...limits });
  selector.push(first);
  for (let read = await file.read(buffer); read !== null; read = await file.read(buffer)) {
    if (signal.aborted) return failed(STOPPED);
    selector.push(buffer.subarray(0, read));
  }
  const selection = selector.finish();
  if (offset > selection.total) {
    return failed(
      `Line ${offset} is beyond the end of ${source.shown}, which has ${lineCount(selection.total)}.`,
    );
  }
  return { success: true, output: shownText(selection, offset, source, limits) };
}

/** Reads until the buffer is full or the file ends; the number of bytes read. */
async function fill(file: Deno.FsFile, buffer: Uint8Array): Promise<number> {
  let filled = 0;
  while (filled < buffer.length) {
    const count = await file.read(buffer.subarray(filled));
    if (count === null) break;
    filled += count;
  }
  return filled;
}

function shownText(selection: LineSelection, offset: number, source: Source, limits: ReadOptions): string {
  const notice = noticeFor(selection, offset, source, limits);
  const { text, kept } = selection;
  if (notice === null) return escapeReference(text);
  return kept === 0 ? notice : `${text}\n\n${notice}`;
}

/** The bracketed line about what is missing; null when nothing is. */
function noticeFor(
  { kept, total, cutBy, firstLineBytes }: LineSelection,
  offset: number,
  source: Source,
  { maxBytes }: ReadOptions,
): string | null {
  const size = formatSize(maxBytes);
  if (firstLineBytes !== null) {
    const command = `sed -n ${offset}p ${shellQuote(source.shown)} | head -c ${maxBytes}`;
    return `[Line ${offset} has ${formatSize(firstLineBytes)}, more than the limit of ${size}. ` +
      `Its beginning: ${command}]`;
  }
  const last = offset + kept - 1;
  const next = `Go on with offset ${last + 1}.`;
  if (cutBy === "lines") return `[Lines ${offset}-${last} of ${total} are shown. ${next}]`;
  if (cutBy === "bytes") {
    return `[Lines ${offset}-${last} of ${total} are shown, up to the limit of ${size}. ${next}]`;
  }
  return last < total ? `[${lineCount(total - last)} more in the file. ${next}]` : null;
}

function lineCount(count: number): string {
  return `${count} line${count === 1 ? "" : "s"}`;
}

/** One word for a shell; a leading `~/` stays outside the quotes, where it means the home folder. */
function shellQuote(path: string): string {
  if (path.startsWith("~/")) return `~/${shellQuote(path.slice(2))}`;
  return `'${path.replaceAll("'", "'\\''")}'`;
}

function failed(error: string): ExecutionResult {
  return { success: false, error };
}
