// What of an answer of a server the model gets to see: text within the limits, bytes as a file that it can read.

import type { Environment } from "../../base/environment.ts";
import { replaceSmallFile } from "../../base/files.ts";
import { sha256 } from "../../base/hash.ts";
import type { ExecutionContext, ExecutionResult } from "../definition.ts";
import type { SaveBytes } from "./result.ts";

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

/** Puts bytes into the folder for temporary files, named by what they are. */
export function savesIn({ variables }: Environment): SaveBytes {
  return async (bytes, type) => {
    const ending = /^[\w.-]+\/([\w.-]+)/.exec(type)?.[1] ?? "bin";
    const folder = variables.TMPDIR || "/tmp";
    const path = `${folder}/flemma_mcp_${(await sha256(bytes)).slice(0, 16)}.${ending}`;
    await replaceSmallFile(path, bytes, { durable: false });
    return path;
  };
}
