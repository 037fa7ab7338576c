// Loads what is said about background jobs only if a document has one without a result.

import type { Environment } from "../../../base/environment.ts";
import type { Chat, Diagnostic } from "../../../parser/types.ts";
import { documentJobs } from "../../../parser/view/jobs.ts";

/** Returns the findings about the background jobs of a document at a path. */
export async function openJobFindings(
  environment: Environment,
  document: string,
  chat: Chat,
): Promise<readonly Diagnostic[]> {
  if (documentJobs(chat).every(({ finished }) => finished)) return [];
  const { jobFindings } = await import("./findings.ts");
  return jobFindings(environment, document, chat);
}
