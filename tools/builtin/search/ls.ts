// The tool that lists a folder.

import { textOrEmpty } from "../../../base/is_object.ts";
import { plural } from "../../../base/text/plural.ts";
import {
  type BuiltinTool,
  CODING_ASSISTANT,
  type ExecutionContext,
  type ExecutionResult,
  type ToolInput,
} from "../../definition.ts";
import { SANDBOX_CAPABILITY, STOPPED } from "../../definition.ts";
import { formatSize, truncateHead } from "../../truncate.ts";
import { inputValidator } from "../../validate.ts";
import { performOnDisk, runWithTimeout } from "../../files/on_disk.ts";
import type { Listing } from "../../files/list.ts";
import { fileSentence } from "../file_failures.ts";
import { labelComment, READS_FILES, strictSchema, wholeNumber } from "../schema.ts";
import { validators } from "../validators.generated.ts";
import { placesOf, resolveTarget } from "./folder.ts";

/** Maximum depth of folders in one call. */
const MOST_DEPTH = 10;
/** Default limit of entries in one call. */
const USUAL_LIMIT = 500;

export interface LsOptions {
  readonly maxLines: number;
  readonly maxBytes: number;
}

/** Defines ls for the given limits, which its description names. */
export function lsTool(limits: LsOptions): BuiltinTool {
  return {
    name: "ls",
    description:
      "Lists a folder, including hidden entries: folders first, with a trailing slash, then files. " +
      `Returns at most ${limits.maxLines} lines or ${formatSize(limits.maxBytes)}, whichever is smaller. ` +
      "Does not follow symbolic links.",
    input_schema: strictSchema({
      path: { type: "string", description: "Folder path: absolute, relative, or starting with ~/." },
      max_depth: {
        type: ["number", "null"],
        description: `Levels to list, at most ${MOST_DEPTH} (null: 1, this folder only).`,
      },
      limit: {
        type: ["number", "null"],
        description: `Maximum number of entries (null: ${USUAL_LIMIT}).`,
      },
    }),
    ...READS_FILES,
    capabilities: [SANDBOX_CAPABILITY],
    searches: "names",
    personalities: {
      [CODING_ASSISTANT]: {
        snippet: "lists a folder",
      },
    },
    config_schema: {
      type: "object",
      properties: { cwd: { type: ["string", "null"], default: "urn:flemma:buffer:path" } },
    },
    validate: inputValidator(validators.ls),
    format_preview: (input) => {
      const depth = depthOf(input);
      return `${textOrEmpty(input.path)}${depth > 1 ? `  depth=${depth}` : ""}${labelComment(input)}`;
    },
    execute: (input, context) => list(input, context, limits),
  };
}

function depthOf(input: ToolInput): number {
  return Math.min(wholeNumber(input.max_depth, 1), MOST_DEPTH);
}

async function list(
  input: ToolInput,
  context: ExecutionContext,
  limits: LsOptions,
): Promise<ExecutionResult> {
  const shown = textOrEmpty(input.path);
  if (shown === "") return failed("The path is empty.");
  try {
    return await runWithTimeout(context, (signal) => listed(shown, input, context, signal, limits));
  } catch (thrown) {
    if (context.signal.aborted) return failed(STOPPED);
    return failed(await fileSentence(shown, "read", thrown, placesOf(context), "folder"));
  }
}

async function listed(
  shown: string,
  input: ToolInput,
  context: ExecutionContext,
  signal: AbortSignal,
  { maxLines, maxBytes }: LsOptions,
): Promise<ExecutionResult> {
  const { real, info } = await resolveTarget(shown, placesOf(context));
  if (!info.isDirectory) return failed(`${shown} is not a folder. Use read to read a file.`);
  const depth = depthOf(input);
  // Entries that cannot be shown are only counted.
  const limit = Math.min(wholeNumber(input.limit, USUAL_LIMIT), maxLines);
  const listing = await performOnDisk(context, "list", { start: real, depth, limit }, signal);
  if (listing.closed > 0 && listing.total === 0) {
    return failed(`The folder ${shown} could not be read: permission denied.`);
  }
  const { content, output_lines } = truncateHead(listing.lines.join("\n"), { maxLines, maxBytes });
  const lines = listing.lines.length === 0 ? 0 : output_lines;
  const footer = footerOf(lines, listing, depth);
  return { success: true, output: content === "" ? footer : `${content}\n\n${footer}` };
}

function footerOf(lines: number, { total, closed }: Listing, depth: number): string {
  const count = lines < total
    ? `${lines} of ${plural(total, "entry", "entries")}`
    : plural(total, "entry", "entries");
  return `[${
    [
      count,
      ...(depth > 1 ? [`depth=${depth}`] : []),
      ...(closed > 0 ? [`${plural(closed, "folder")} not readable`] : []),
    ].join(", ")
  }]`;
}

function failed(error: string): ExecutionResult {
  return { success: false, error };
}
