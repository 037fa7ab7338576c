// What of an answer of a server the model gets to see: text within the limits.

import type { ExecutionContext, ExecutionResult } from "../definition.ts";

/** The result with its texts cut as those of every tool, the whole of them in a file. */
export async function shortened(
  result: ExecutionResult,
  { truncate }: Pick<ExecutionContext, "truncate">,
): Promise<ExecutionResult> {
  const cut = (text: string) => truncate.truncateWithOverflow(text, { direction: "head", source: "mcp" });
  return {
    ...result,
    ...(typeof result.output === "string" ? { output: await cut(result.output) } : {}),
    ...(result.error === undefined ? {} : { error: await cut(result.error) }),
  };
}
