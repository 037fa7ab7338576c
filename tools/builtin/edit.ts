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
  /** Whether to offer the member `replaceAll` (`tools.edit.replace_all`). */
  readonly replaceAll: boolean;
}

export function editTool({ replaceAll }: EditOptions): BuiltinTool {
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
    ...WRITES_FILES,
    personalities: {
      [CODING_ASSISTANT]: {
        snippet: "replaces a passage of a file, found byte for byte",
        guidelines: [
          "Prefer edit to rewriting a whole file, with just enough text around the passage to be found once.",
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
  if (before === null) return fails("There is no such file, so the edit will fail.");
  if (oldText === "") return fails("The passage to be replaced is empty, so the edit will fail.");
  const replaced = replacePassage(before, oldText, newText, { all: replaceAll === true });
  switch (replaced.kind) {
    case "absent":
      return fails("The passage to be replaced does not stand in the file, so the edit will fail.");
    case "ambiguous":
      return fails(
        `The passage to be replaced stands in the file ${replaced.count} times, so the edit will fail.`,
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
    return failed("The old text is empty; name the passage to replace.");
  }
  if (typeof newText !== "string") {
    return failed("The new text is missing; an empty one takes the passage out.");
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
