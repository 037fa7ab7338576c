// The tool that finds files by their names.

import { textOrEmpty } from "../../../base/is_object.ts";
import { performOnDisk } from "../../files/on_disk.ts";
import type { FoundFiles } from "../../files/search/search.ts";
import {
  type BuiltinTool,
  CODING_ASSISTANT,
  type ExecutionContext,
  type ExecutionResult,
  type ToolInput,
} from "../../definition.ts";
import { formatSize } from "../../truncate.ts";
import { inputValidator } from "../../validate.ts";
import { labelComment, READS_FILES, strictSchema, wholeNumber } from "../schema.ts";
import { validators } from "../validators.generated.ts";
import { answer, formatPath, noteCount, runSearch, searchConfig, type SearchLimits } from "./searched.ts";

/** Default limit of files in one call. */
const USUAL_LIMIT = 500;

/** Defines find for the given limits, which its description names. */
export function findTool(limits: SearchLimits): BuiltinTool {
  return {
    name: "find",
    description:
      "Finds files by a glob: * and ? within a name, ** for any folders, [ab], {a,b}. A pattern without a slash is held " +
      "against the names of files at any depth, one with a slash against their paths from where the search begins. " +
      "Hidden files are found only by a pattern with a dot at that place; what .gitignore leaves out is not found. " +
      `At most ${limits.maxLines} lines or ${formatSize(limits.maxBytes)} are returned, whichever is less.`,
    input_schema: strictSchema({
      pattern: { type: "string", description: "The glob, such as *.ts or src/**/*_test.ts." },
      path: {
        type: ["string", "null"],
        description: "The folder to search below (null: the working folder).",
      },
      limit: { type: ["number", "null"], description: `The number of files wanted (null: ${USUAL_LIMIT}).` },
    }),
    ...READS_FILES,
    searches: "names",
    personalities: {
      [CODING_ASSISTANT]: {
        snippet: "finds files by their names, with a glob",
        guidelines: ["Find out where things are before you say that they are not there."],
      },
    },
    config_schema: searchConfig(),
    validate: inputValidator(validators.find),
    format_preview: (input) => {
      const path = textOrEmpty(input.path);
      return `${textOrEmpty(input.pattern)}${path === "" ? "" : `  in ${path}`}${labelComment(input)}`;
    },
    execute: (input, context) => find(input, context, limits),
  };
}

async function find(
  input: ToolInput,
  context: ExecutionContext,
  limits: SearchLimits,
): Promise<ExecutionResult> {
  const pattern = textOrEmpty(input.pattern);
  if (pattern === "") return { success: false, error: "The pattern is empty." };
  const limit = wholeNumber(input.limit, USUAL_LIMIT);
  return await runSearch(input, context, { folder: true }, async (place, options, signal) => {
    const found = await performOnDisk(context, "find", { ...options, pattern, limit }, signal);
    if ("badPattern" in found) {
      return { success: false, error: `The pattern cannot be read: ${found.badPattern}.` };
    }
    const lines = found.paths.map((path) => formatPath(place, path));
    return answer(lines.length === 0 ? "No files found." : "", lines, noticeOf(found, limit), found, {
      ...limits,
      seconds: options.seconds,
    });
  });
}

function noticeOf({ paths, limited, closedFolders }: FoundFiles, limit: number): (shown: number) => string[] {
  return (shown) => [
    ...(shown < paths.length
      ? [`${shown} of ${paths.length}${limited ? " or more" : ""} files are shown`]
      : []),
    ...(limited && shown === paths.length
      ? [`the first ${limit === 1 ? "file" : `${limit} files`}, limit reached`]
      : []),
    ...noteCount(closedFolders, "folder", "not readable"),
  ];
}
