// The tool that replaces a passage of a file (tools 8.4).

import type { ExecutionContext, ExecutionResult, ToolDefinition, ToolInput } from "../definition.ts";
import { truncateLine } from "../truncate.ts";
import { inputValidator } from "../validate.ts";
import { textFault } from "../../base/text_fault.ts";
import { within } from "../../base/reading.ts";
import { fileSentence } from "./file_failures.ts";
import { nearPassage } from "../files/text/mismatch.ts";
import { findNearestLine, replacePassage } from "../files/text/passage.ts";
import { labelComment, strictSchema, text } from "./schema.ts";
import { validators } from "./validators.generated.ts";
import { inOrder, replaceFile, takeSnapshot } from "./replace_file.ts";
import { isAsSeen, remember } from "./seen_files.ts";

export interface EditOptions {
  /** Offer the member `replaceAll` (`tools.edit.replace_all`). */
  readonly replaceAll: boolean;
}

/** The definition of edit. */
export function editTool({ replaceAll }: EditOptions): ToolDefinition {
  const wanted = replaceAll ? " unless replaceAll is true" : "";
  return {
    name: "edit",
    description:
      "Replaces a passage of a file by another. The old text must be found byte for byte, blanks and " +
      `line ends included, and exactly once${wanted}; read the file first. An empty new text takes the passage ` +
      "out. All other bytes stay as they are.",
    input_schema: strictSchema({
      path: { type: "string", description: "The file: absolute, relative, or beginning with ~/." },
      oldText: { type: "string", description: "The passage, with enough around it to be found only once." },
      newText: { type: "string", description: "What stands there afterwards." },
      ...(replaceAll
        ? {
          replaceAll: { type: ["boolean", "null"], description: "Replace every occurrence (null: false)." },
        }
        : {}),
    }),
    strict: true,
    path_input: "path",
    personalities: {
      "coding-assistant": {
        snippet: "replaces a passage of a file, found byte for byte",
        guidelines: [
          "Prefer edit to rewriting a whole file, with just enough text around the passage to be found once.",
        ],
      },
    },
    files: "write",
    validate: inputValidator(replaceAll ? validators.editAll : validators.edit),
    format_preview: (input) => `${text(input.path)}${labelComment(input)}`,
    execute: (input, context) => editFile(input, context, replaceAll && input.replaceAll === true),
  };
}

async function editFile(
  input: ToolInput,
  context: ExecutionContext,
  replaceAll: boolean,
): Promise<ExecutionResult> {
  const path = text(input.path);
  const { oldText, newText } = input;
  if (path === "") return failed("The path is empty.");
  if (typeof oldText !== "string" || oldText === "") {
    return failed("The old text is empty; name the passage to replace.");
  }
  if (typeof newText !== "string") {
    return failed("The new text is missing; an empty one takes the passage out.");
  }
  let doing: "read" | "written" = "read";
  try {
    return await inOrder(path, context, async (real, lock) => {
      const before = await within(context.timeout, takeSnapshot(real, path), context.signal);
      const replaced = replacePassage(before.bytes, oldText, newText, { all: replaceAll });
      if (replaced.kind === "absent") return failed(absentSentence(path, before.bytes, oldText));
      if (replaced.kind === "ambiguous") {
        return failed(
          `The old text was found ${replaced.count} times in ${path}. Add lines around it until it is found once.`,
        );
      }
      if (replaced.kind === "unchanged") return failed(`The edit changes nothing in ${path}.`);
      doing = "written";
      const changed = context.seen !== undefined && await isAsSeen(context.seen, real) === false;
      await replaceFile(real, replaced.bytes, {
        shownAs: path,
        since: before,
        note: (temporary) => lock.note(temporary),
        mayWrite: (sibling) => context.sandbox.isPathWritable(sibling),
      });
      const times = replaceAll ? ` (${replaced.count} occurrence${replaced.count === 1 ? "" : "s"})` : "";
      const lineEnds = replaced.convertedLineEnds
        ? " The file ends its lines with CR LF; the texts were converted to that."
        : "";
      if (context.seen !== undefined) await remember(context.seen, real);
      context.onFileChanged?.(real);
      const since = changed ? " The file had been changed by someone else since it was read here." : "";
      // deno-lint-ignore no-control-regex -- ASCII is the same in every encoding that a file of bytes may have
      const mixed = /[^\x00-\x7f]/.test(newText) && textFault(before.bytes) !== null
        ? " The file is not UTF-8 throughout; the new text was written as UTF-8."
        : "";
      return { success: true, output: `Edited ${path}${times}.${lineEnds}${since}${mixed}` };
    });
  } catch (thrown) {
    return failed(fileSentence(path, doing, thrown, context));
  }
}

/** Larger files are not looked through for what only looks the same. */
const MOST_COMPARED = 4 * 1024 * 1024;

function absentSentence(path: string, bytes: Uint8Array, oldText: string): string {
  const sentence = `The old text was not found in ${path}.`;
  const similar = bytes.length > MOST_COMPARED ? null : nearPassage(new TextDecoder().decode(bytes), oldText);
  if (similar !== null) {
    return `${sentence} It stands in line ${similar.line}, ${similar.words}; write it as it is there, byte for byte.`;
  }
  const near = findNearestLine(bytes, oldText);
  if (near === null) return `${sentence} Read the file and copy the passage exactly.`;
  return `${sentence} Its first line occurs in line ${near.number}: ${truncateLine(near.text)}`;
}

function failed(error: string): ExecutionResult {
  return { success: false, error };
}
