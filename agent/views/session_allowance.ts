// A tool that the person lets run in one document, or in all, until they log out.

import type { Environment } from "../../base/environment.ts";
import { type Outcome, success } from "../../base/problem.ts";
import { operands } from "../../base/shell_word.ts";
import { addToSession } from "../../config/sources/session_overrides.ts";

/**
 * Approves a tool for this login.
 *
 * @param document real path of the document; null for every document
 * @returns how to take it back, as a sentence
 */
export async function allowForSession(
  environment: Environment,
  document: string | null,
  tool: string,
): Promise<Outcome<string>> {
  const operation = { op: "append", path: ["tools", "auto_approve"], value: tool } as const;
  const added = await addToSession(environment, document, [operation], new Date());
  if (!added.ok) return added;
  const files = document === null ? "" : ` ${operands(document)}`;
  return success(`To take that back: flemma session set ${operands(`tools.auto_approve-=${tool}`)}${files}`);
}
