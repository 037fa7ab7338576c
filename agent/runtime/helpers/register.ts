// Registers the tool `ask_document` if the settings offer it and the document may offer it.

import { operands } from "../../../base/shell_word.ts";
import { type Outcome, type Problem, success } from "../../../base/problem.ts";
import type { ToolRegistry } from "../../../tools/registry.ts";
import { type AskingDocument, DocumentHelpers } from "./ask.ts";
import { ASK_TOOL } from "./names.ts";
import { askTool } from "./tool.ts";

/** Registers the tool; a host's own tool with that name is kept. Fails like every registration. */
export function registerHelpers(
  tools: ToolRegistry,
  asking: AskingDocument,
): Outcome<DocumentHelpers | null> {
  if (tools.has(ASK_TOOL)) return success(null);
  const helpers = new DocumentHelpers(asking);
  const registered = tools.registerFrom("built-in", askTool(helpers, asking));
  return registered.ok ? success(helpers) : registered;
}

/** Returns the notice about a document that offers the tool by itself and is not trusted. */
export function offeredByUntrusted(path: string): Problem {
  return {
    code: "helpers-untrusted",
    message:
      `The model does not get the tool ${ASK_TOOL}, because only the frontmatter of this document offers it.`,
    next: `If you trust it: flemma trust ${operands(path)}`,
  };
}
