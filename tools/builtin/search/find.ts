// The tool that finds files by their names.

import { textOrEmpty } from "../../../base/is_object.ts";
import { performOnDisk } from "../../files/on_disk.ts";
import type { FoundFiles } from "../../files/search/search.ts";
import {
  type BuiltinTool,
  CODING_ASSISTANT,
  type ExecutionContext,
  type ExecutionResult,
  SANDBOX_CAPABILITY,
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
      "Finds files by glob: * and ? match within a name, ** matches any folders, also [ab] and {a,b}. A pattern without " +
      "a slash matches file names at any depth; with a slash, it matches paths relative to the search folder. Hidden " +
      "files match only if the pattern contains the dot; files ignored by .gitignore are skipped. " +
      `Returns at most ${limits.maxLines} lines or ${formatSize(limits.maxBytes)}, whichever is smaller.`,
    input_schema: strictSchema({
      pattern: { type: "string", description: "Glob, such as *.ts or src/**/*_test.ts." },
      path: {
        type: ["string", "null"],
        description: "Folder to search (null: the working folder).",
      },
      limit: { type: ["number", "null"], description: `Maximum number of files (null: ${USUAL_LIMIT}).` },
    }),
    ...READS_FILES,
    capabilities: [SANDBOX_CAPABILITY],
    searches: "names",
    personalities: {
      [CODING_ASSISTANT]: {
        snippet: "finds files by name with a glob",
        guidelines: ["Search before you say that something does not exist."],
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
      return { success: false, error: `The pattern is not valid: ${found.badPattern}.` };
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
      ? [`showing ${shown} of ${paths.length}${limited ? " or more" : ""} files`]
      : []),
    ...(limited && shown === paths.length
      ? [`the first ${limit === 1 ? "file" : `${limit} files`}, limit reached`]
      : []),
    ...noteCount(closedFolders, "folder", "not readable"),
  ];
}
