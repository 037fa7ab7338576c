// The tool `ask_document`, with which a model asks a helper. It runs in this process, because it needs the key.

import type { ToolDefinition } from "../../../tools/definition.ts";
import { textOrEmpty } from "../../../base/is_object.ts";
import type { AskingDocument, DocumentHelpers } from "./ask.ts";
import { questionProblems } from "./bounds.ts";
import { ASK_TOOL } from "./names.ts";

/** Defines the tool for one document. */
export function askTool(helpers: DocumentHelpers, { subject: { settings } }: AskingDocument): ToolDefinition {
  const presets = Object.keys(settings.tools.presets);
  const nullable = (description: string) => ({ type: ["string", "null"], description });
  return {
    name: ASK_TOOL,
    description:
      "Asks a helper: another conversation with a model, in a document of its own. The helper knows nothing of this " +
      "conversation, so put all that it needs into the question. It has tools and rights of this document at most. " +
      "The result is its last message. Several calls in one message work in parallel.",
    input_schema: {
      type: "object",
      properties: {
        question: { type: "string", description: "The task, complete in itself." },
        document: nullable("Name of an existing helper to continue (null: a new helper)."),
        name: nullable("Name of a new helper: a-z, 0-9 and - (null: chosen automatically)."),
        preset: nullable(
          presets.length === 0
            ? "Always null, because the user has no presets."
            : `Preset with model, tools and instructions: ${
              presets.join(", ")
            } (null: those of this document).`,
        ),
        files: {
          type: ["array", "null"],
          items: { type: "string" },
          description: "Paths of files to attach (null: none).",
        },
      },
      required: ["question", "document", "name", "preset", "files"],
      additionalProperties: false,
    },
    strict: true,
    runs: "here",
    async: true,
    continues: true,
    most_parallel: settings.subagents.max_concurrent,
    validate: questionProblems,
    format_preview: ({ question, document, name, preset, files }) => ({
      label: [document ?? name, preset].filter((each) => typeof each === "string" && each !== "").join(" "),
      detail: [
        textOrEmpty(question),
        ...(Array.isArray(files) ? files.filter((each) => typeof each === "string") : []),
      ],
    }),
    execute: (input, context) => helpers.ask(input, context),
  };
}
