// The tool that searches in files.

import { textOrEmpty } from "../../../base/is_object.ts";
import { performOnDisk } from "../../files/on_disk.ts";
import { plural } from "../../../base/text/plural.ts";
import type { FoundLines } from "../../files/search/search.ts";
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

/** Default limit of lines in one call. */
const USUAL_LIMIT = 100;

/** Defines grep for the given limits, which its description names. */
export function grepTool(limits: SearchLimits): BuiltinTool {
  return {
    name: "grep",
    description:
      "Searches text files for lines that match a regular expression (RE2 syntax: no lookaround, no backreferences; " +
      "start with (?i) to ignore case). Hidden files and files ignored by .gitignore are searched only if path names " +
      `them. Returns path:line:text, at most ${limits.maxLines} lines or ${formatSize(limits.maxBytes)}, ` +
      "whichever is smaller.",
    input_schema: strictSchema({
      pattern: { type: "string", description: "Regular expression." },
      path: {
        type: ["string", "null"],
        description: "Folder or file to search (null: the working folder).",
      },
      glob: {
        type: ["string", "null"],
        description: "Search only files that match this glob, such as *.ts (null: all).",
      },
      limit: { type: ["number", "null"], description: `Maximum number of lines (null: ${USUAL_LIMIT}).` },
    }),
    ...READS_FILES,
    capabilities: [SANDBOX_CAPABILITY],
    searches: "contents",
    personalities: {
      [CODING_ASSISTANT]: {
        snippet: "searches file contents with a regular expression",
        guidelines: ["Narrow a search with a folder or a glob before you raise its limit."],
      },
    },
    config_schema: searchConfig(),
    validate: inputValidator(validators.grep),
    format_preview: (input) =>
      [`/${textOrEmpty(input.pattern)}/`, textOrEmpty(input.path), textOrEmpty(input.glob)].filter((part) =>
        part !== ""
      ).join(
        "  ",
      ) +
      labelComment(input),
    execute: (input, context) => grep(input, context, limits),
  };
}

async function grep(
  input: ToolInput,
  context: ExecutionContext,
  limits: SearchLimits,
): Promise<ExecutionResult> {
  const pattern = textOrEmpty(input.pattern);
  if (pattern === "") return { success: false, error: "The pattern is empty." };
  const limit = wholeNumber(input.limit, USUAL_LIMIT);
  const glob = textOrEmpty(input.glob) || null;
  return await runSearch(input, context, { folder: false }, async (place, options, signal) => {
    const found = await performOnDisk(context, "grep", { ...options, pattern, glob, limit }, signal);
    if ("badPattern" in found) {
      return { success: false, error: `The ${found.of} is not valid: ${found.badPattern}.` };
    }
    const lines = found.lines.map(({ path, line, text }) => `${formatPath(place, path)}:${line}:${text}`);
    return answer("No matches.", lines, (shown) => notes(found, shown), found, {
      ...limits,
      seconds: options.seconds,
    });
  });
}

function notes(found: FoundLines, shown: number): string[] {
  const { lines, limited, binary, closedFiles, closedFolders, encoded } = found;
  const count = `${shown < lines.length ? `${shown} of ` : ""}${lines.length} match${
    lines.length === 1 ? "" : "es"
  }`;
  return [
    ...(lines.length === 0 ? [] : [count]),
    ...(limited ? ["limit reached"] : []),
    ...(binary ? ["the file is not text"] : []),
    ...encodingNotes(lines, encoded),
    ...noteCount(closedFiles, "file", "not readable"),
    ...noteCount(closedFolders, "folder", "not readable"),
  ];
}

/** Notes about files and lines that are not UTF-8. */
function encodingNotes(lines: FoundLines["lines"], encoded: readonly string[]): string[] {
  const names = [...new Set(encoded)];
  return [
    ...(lines.some(({ isBroken }) => isBroken) ? ["\ufffd stands for bytes that are not UTF-8"] : []),
    ...(names.length === 0 ? [] : [
      `not searched: ${plural(encoded.length, "file")} in ${names.join(" and ")}; ` +
      `to search one: iconv -f ${names[0]} -t UTF-8 FILE | grep PATTERN`,
    ]),
  ];
}
