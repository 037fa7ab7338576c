// Shortens a server's answer to the limits of a result.

import type { ExecutionContext, ExecutionResult } from "../definition.ts";

/** Shortens the texts of a result as for every tool, and writes the complete text to a file. */
export async function shortenResult(
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
