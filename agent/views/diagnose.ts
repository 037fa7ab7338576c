// Everything that is wrong with a document: its text, its first block, its templates and the files they name.

import type { Environment } from "../../base/environment.ts";
import type { Chat, Diagnostic } from "../../parser/types.ts";
import { evaluate } from "../../prompt/evaluate.ts";
import type { SubjectSettings } from "../settings.ts";
import type { Diagnosis } from "../types.ts";

/** Evaluates the document as a request would, and keeps what that finds. Nothing is sent and nothing written. */
export async function diagnose(
  { path, chat }: { readonly path: string | null; readonly chat: Chat },
  environment: Environment,
  evaluated: SubjectSettings["evaluated"],
): Promise<Diagnosis> {
  const prompt = await evaluate(chat, { document: path, environment, frontmatter: await evaluated() });
  return { diagnostics: [...prompt.diagnostics].sort(byPlace), blocked: prompt.blocked };
}

function byPlace(a: Place, b: Place): number {
  return lineOf(a) - lineOf(b) || (a.startCol ?? 0) - (b.startCol ?? 0);
}

/** Where a finding is; one about the whole first block may know the very line. */
type Place = Diagnostic & { readonly line?: number };

function lineOf({ line, start }: Place): number {
  return line ?? start ?? 1;
}
