// The tool that creates or replaces a file.

import { textOrEmpty } from "../../base/is_object.ts";
import {
  type BuiltinTool,
  CODING_ASSISTANT,
  type ExecutionContext,
  type ExecutionResult,
  type ToolInput,
} from "../definition.ts";
import { FileFailure } from "../../base/disk/failures.ts";
import { readRegularTextSync } from "../../base/system/regular_file.ts";
import { wideEncoding } from "../../base/text/text_fault.ts";
import { hiddenSecretsIn } from "../../base/text/secrets.ts";
import type { ChangeTarget } from "../files/change.ts";
import { performOnDisk, runUninterrupted } from "../files/on_disk.ts";
import { STOPPED } from "../definition.ts";
import { byteLength, formatSize } from "../truncate.ts";
import { inputValidator } from "../validate.ts";
import { fileSentence } from "./file_failures.ts";
import { labelComment, strictSchema, WRITES_FILES } from "./schema.ts";
import { validators } from "./validators.generated.ts";
import { changeInOrder } from "./writable_target.ts";

export function writeTool(): BuiltinTool {
  return {
    name: "write",
    description:
      "Creates a file with exactly the given content, or overwrites an existing file. Creates missing folders. " +
      "Adds nothing to the content, not even a final newline. To change part of a file, use edit.",
    input_schema: strictSchema({
      path: { type: "string", description: "File path: absolute, relative, or starting with ~/." },
      content: { type: "string", description: "Complete content of the file." },
    }),
    ...WRITES_FILES,
    personalities: {
      [CODING_ASSISTANT]: {
        snippet: "creates a file or overwrites a whole file",
        guidelines: ["Use write only for new files and complete rewrites."],
      },
    },
    validate: inputValidator(validators.write),
    format_preview: (input) =>
      `${textOrEmpty(input.path)}  (${formatSize(byteLength(textOrEmpty(input.content)))})${
        labelComment(input)
      }`,
    rewrites: ({ content }, before) => {
      const wide = before === null ? null : wideEncoding(before);
      if (wide !== null) {
        return { after: null, obstacle: `The file is encoded in ${wide.exact}, so the call will fail.` };
      }
      return {
        after: typeof content === "string" ? new TextEncoder().encode(content) : null,
        obstacle: null,
      };
    },
    execute: writeFile,
  };
}

async function writeFile(input: ToolInput, context: ExecutionContext): Promise<ExecutionResult> {
  const path = textOrEmpty(input.path);
  const { content } = input;
  if (path === "") return { success: false, error: "The path is empty." };
  if (typeof content !== "string") return { success: false, error: "The content is missing." };
  let note: string;
  try {
    ({ text: note } = await changeInOrder(
      path,
      context,
      async (target) => {
        refuseLosingSecret(content, target);
        return await runUninterrupted(
          context,
          (signal) => performOnDisk(context, "write", { ...target, content }, signal),
        );
      },
    ));
  } catch (thrown) {
    if (context.signal.aborted) return { success: false, error: STOPPED };
    return { success: false, error: await fileSentence(path, "written", thrown, context) };
  }
  const count = byteLength(content);
  return { success: true, output: `Wrote ${count} byte${count === 1 ? "" : "s"} to ${path}.${note}` };
}

/** The model sees a secret only by its name. Writing that name back would destroy the secret in the file. */
function refuseLosingSecret(content: string, { real, shown }: Pick<ChangeTarget, "real" | "shown">): void {
  const hidden = hiddenSecretsIn(content);
  if (hidden.length === 0) return;
  let before: string;
  try {
    before = readRegularTextSync(real);
  } catch {
    return; // There is no file yet, or one that write reports itself.
  }
  const lost = hidden.find(({ value }) => before.includes(value));
  if (lost === undefined) return;
  throw new FileFailure(
    `${shown} contains a secret that you see as [${lost.name}]. Writing that would replace the secret. ` +
      "Use edit to change other parts of the file.",
  );
}
