// The tool that replaces a passage of a file.

import { textOrEmpty } from "../../base/is_object.ts";
import {
  type BuiltinTool,
  CODING_ASSISTANT,
  type ExecutionContext,
  type ExecutionResult,
  type Rewrite,
  type ToolInput,
} from "../definition.ts";
import { wideEncoding } from "../../base/text/text_fault.ts";
import { unpackError } from "../../base/disk/failures.ts";
import { performOnDisk, runUninterrupted } from "../files/on_disk.ts";
import { replacePassage } from "../files/text/passage.ts";
import { STOPPED } from "../definition.ts";
import { inputValidator } from "../validate.ts";
import { fileSentence } from "./file_failures.ts";
import { labelComment, strictSchema, WRITES_FILES } from "./schema.ts";
import { validators } from "./validators.generated.ts";
import { changeInOrder } from "./writable_target.ts";

export interface EditOptions {
  /** True if the input schema has the member `replaceAll` (setting `tools.edit.replace_all`). */
  readonly replaceAll: boolean;
}

export function editTool({ replaceAll }: EditOptions): BuiltinTool {
  const wanted = replaceAll ? " unless replaceAll is true" : "";
  return {
    name: "edit",
    description:
      "Replaces text in a file. oldText must match byte for byte, including whitespace and line endings, and " +
      `occur exactly once${wanted}; read the file first. An empty newText deletes the match. All other bytes stay ` +
      "unchanged.",
    input_schema: strictSchema({
      path: { type: "string", description: "File path: absolute, relative, or starting with ~/." },
      oldText: { type: "string", description: "Text to replace, with enough context to occur only once." },
      newText: { type: "string", description: "Replacement text." },
      ...(replaceAll
        ? {
          replaceAll: { type: ["boolean", "null"], description: "Replace every occurrence (null: false)." },
        }
        : {}),
    }),
    ...WRITES_FILES,
    personalities: {
      [CODING_ASSISTANT]: {
        snippet: "replaces text in a file, matched byte for byte",
        guidelines: [
          "Prefer edit to rewriting a whole file; give just enough context for the text to occur once.",
        ],
      },
    },
    validate: inputValidator(replaceAll ? validators.editAll : validators.edit),
    format_preview: (input) => `${textOrEmpty(input.path)}${labelComment(input)}`,
    rewrites,
    execute: (input, context) => editFile(input, context, replaceAll && input.replaceAll === true),
  };
}

function rewrites({ oldText, newText, replaceAll }: ToolInput, before: Uint8Array | null): Rewrite {
  const fails = (obstacle: string | null): Rewrite => ({ after: null, obstacle });
  if (typeof oldText !== "string" || typeof newText !== "string") return fails(null);
  if (before === null) return fails("The file does not exist, so the edit will fail.");
  const wide = wideEncoding(before);
  if (wide !== null) return fails(`The file is encoded in ${wide.exact}, so the edit will fail.`);
  if (oldText === "") return fails("The text to replace is empty, so the edit will fail.");
  const replaced = replacePassage(before, oldText, newText, { all: replaceAll === true });
  switch (replaced.kind) {
    case "absent":
      return fails("The text to replace is not in the file, so the edit will fail.");
    case "ambiguous":
      return fails(
        `The text to replace occurs ${replaced.count} times in the file, so the edit will fail.`,
      );
    case "unchanged":
      return fails("The edit changes nothing, so it will fail.");
    case "replaced":
      return { after: replaced.bytes, obstacle: null };
  }
}

async function editFile(
  input: ToolInput,
  context: ExecutionContext,
  replaceAll: boolean,
): Promise<ExecutionResult> {
  const path = textOrEmpty(input.path);
  const { oldText, newText } = input;
  if (path === "") return failed("The path is empty.");
  if (typeof oldText !== "string" || oldText === "") {
    return failed("oldText is empty. Give the text to replace.");
  }
  if (typeof newText !== "string") {
    return failed("newText is missing. To delete the text, pass an empty string.");
  }
  const passage = { oldText, newText, all: replaceAll };
  let doing: "read" | "written" = "written";
  try {
    const changed = await changeInOrder(
      path,
      context,
      (target) =>
        runUninterrupted(
          context,
          (signal) => performOnDisk(context, "edit", { ...target, ...passage }, signal),
        ),
    );
    if ("unreadable" in changed) {
      doing = "read";
      throw unpackError(changed.unreadable);
    }
    return changed.done ? { success: true, output: changed.text } : failed(changed.text);
  } catch (thrown) {
    if (context.signal.aborted) return failed(STOPPED);
    return failed(await fileSentence(path, doing, thrown, context));
  }
}

function failed(error: string): ExecutionResult {
  return { success: false, error };
}
