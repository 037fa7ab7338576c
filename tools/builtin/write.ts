// The tool that makes or replaces a file (tools 8.3).

import { textFault } from "../../base/text_fault.ts";
import type { ExecutionContext, ExecutionResult, ToolDefinition, ToolInput } from "../definition.ts";
import { byteLength, formatSize } from "../truncate.ts";
import { inputValidator } from "../validate.ts";
import { FileFailure, fileSentence } from "./file_failures.ts";
import { labelComment, strictSchema, text } from "./schema.ts";
import { validators } from "./validators.generated.ts";
import { inOrder, replaceFile, snapshotOrNone } from "./replace_file.ts";
import { isAsSeen, remember } from "./seen_files.ts";

/** What stands for bytes that are no text, wherever they are shown. */
const REPLACEMENT = "\ufffd";

/** The definition of write. */
export function writeTool(): ToolDefinition {
  return {
    name: "write",
    description:
      "Makes a file with exactly the given content, or replaces the whole content of an existing " +
      "one. Missing folders are made. Nothing is added to the content, also no line end. To change a part of a " +
      "file use edit.",
    input_schema: strictSchema({
      path: { type: "string", description: "The file: absolute, relative, or beginning with ~/." },
      content: { type: "string", description: "The whole content." },
    }),
    strict: true,
    path_input: "path",
    personalities: {
      "coding-assistant": {
        snippet: "makes a file, or replaces one as a whole",
        guidelines: ["Write whole files only where they are new or nothing of the old one stays."],
      },
    },
    files: "write",
    validate: inputValidator(validators.write),
    format_preview: (input) =>
      `${text(input.path)}  (${formatSize(byteLength(text(input.content)))})${labelComment(input)}`,
    execute: writeFile,
  };
}

async function writeFile(input: ToolInput, context: ExecutionContext): Promise<ExecutionResult> {
  const path = text(input.path);
  const { content } = input;
  if (path === "") return { success: false, error: "The path is empty." };
  if (typeof content !== "string") return { success: false, error: "The content is missing." };
  const bytes = new TextEncoder().encode(content);
  try {
    await inOrder(path, context, async (real, lock) => {
      const since = await snapshotOrNone(real, path);
      if (context.seen !== undefined && since !== null && await isAsSeen(context.seen, real) === false) {
        throw new FileFailure(
          `${path} was changed since it was read here, so it was not written. Read it again first.`,
        );
      }
      if (since !== null && content.includes(REPLACEMENT) && textFault(since.bytes) !== null) {
        throw new FileFailure(
          `${path} holds bytes that are not UTF-8, which read shows as ${REPLACEMENT}; written back, they would be lost. ` +
            "Change it with edit, or convert it first.",
        );
      }
      await replaceFile(real, bytes, {
        shownAs: path,
        since,
        note: (temporary) => lock.note(temporary),
        mayWrite: (sibling) => context.sandbox.isPathWritable(sibling),
      });
      if (context.seen !== undefined) await remember(context.seen, real);
      context.onFileChanged?.(real);
    });
  } catch (thrown) {
    return { success: false, error: fileSentence(path, "written", thrown, context) };
  }
  return { success: true, output: `Wrote ${bytes.length} byte${bytes.length === 1 ? "" : "s"} to ${path}.` };
}
