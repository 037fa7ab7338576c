// Everything that is wrong with a document: its text, its first block, its templates and the files they name.

import type { Environment } from "../../base/environment.ts";
import { conflictMarks } from "../../cycle/plan/conflict_marks.ts";
import { lastWordIsModels } from "../../cycle/plan/open_calls.ts";
import { markerMeantLast, noMarkerSentence } from "../../parser/view/near_marker.ts";
import type { Chat, Diagnostic } from "../../parser/types.ts";
import { evaluate } from "../../prompt/evaluate.ts";
import type { SubjectSettings } from "../settings.ts";
import type { Diagnosis } from "../types.ts";

/** Evaluates the document as a request would, and keeps what that finds. Nothing is sent and nothing written. */
export async function diagnose(
  { path, chat }: { readonly path: string | null; readonly chat: Chat },
  environment: Environment,
  { evaluated, settings }: Pick<SubjectSettings, "evaluated" | "settings">,
  unknownTools: readonly Diagnostic[] = [],
): Promise<Diagnosis> {
  const frontmatter = await evaluated();
  const prompt = await evaluate(chat, {
    document: path,
    environment,
    frontmatter,
    settings,
    attaches: "looks",
  });
  const conflicts = conflictMarks(chat);
  const diagnostics = [...prompt.diagnostics, ...unknownTools, ...lastWord(chat), ...conflicts].sort(byPlace);
  return { diagnostics, blocked: prompt.blocked || unknownTools.length > 0 || conflicts.length > 0 };
}

/** That the model spoke last, which no request could follow. */
function lastWord(chat: Chat): Diagnostic[] {
  if (!lastWordIsModels(chat)) return [];
  const near = markerMeantLast(chat);
  const line = chat.turns.findLast(({ role }) => role === "Assistant")?.place.start;
  return [{
    code: "last_word",
    type: "parse",
    severity: "warning",
    message: "The last word is the model's: write below a line @You:, or let it go on with --continue." +
      (near === null ? "" : ` ${noMarkerSentence(near)}`),
    ...(line === undefined ? {} : { start: line, end: line }),
  }];
}

function byPlace(a: Place, b: Place): number {
  return lineOf(a) - lineOf(b) || (a.startCol ?? 0) - (b.startCol ?? 0);
}

/** Where a finding is; one about the whole first block may know the very line. */
type Place = Diagnostic & { readonly line?: number };

function lineOf({ line, start }: Place): number {
  return line ?? start ?? 1;
}
