// Finds everything that is wrong with a document: its text, its frontmatter, its templates, and the files that it
// names.

import type { Environment } from "../../base/environment.ts";
import { brokenPlaceholder } from "../../cycle/plan/batched.ts";
import { conflictMarks } from "../../cycle/plan/conflict_marks.ts";
import { firstLine, lastWordIsModels } from "../../cycle/plan/open_calls.ts";
import { approvedCalls } from "../trust/approved_calls.ts";
import { markerMeantLast, noMarkerSentence } from "../../parser/view/near_marker.ts";
import type { Chat, Diagnostic } from "../../parser/types.ts";
import { replyPlaceholder } from "../../parser/view/placeholder.ts";
import { evaluateChat } from "../../prompt/evaluate.ts";
import type { SubjectSettings } from "../settings.ts";
import type { Diagnosis } from "../types.ts";

/** Evaluates the document like a request, and collects the findings. Sends and writes nothing. */
export async function diagnoseDocument(
  { path, chat }: { readonly path: string | null; readonly chat: Chat },
  environment: Environment,
  { evaluated, settings }: Pick<SubjectSettings, "evaluated" | "settings">,
  further: readonly Diagnostic[] = [],
): Promise<Diagnosis> {
  const frontmatter = await evaluated();
  const prompt = await evaluateChat(chat, {
    document: path,
    environment,
    frontmatter,
    settings,
    attaches: "looks",
  });
  const conflicts = [...conflictMarks(chat), ...brokenPlaceholder(chat)];
  const tools = await serverTools(chat, environment);
  const diagnostics = [
    ...prompt.diagnostics,
    ...tools,
    ...further,
    ...lastWord(chat),
    ...batched(chat),
    ...conflicts,
  ].sort(byPlace);
  return { diagnostics, blocked: prompt.blocked || further.some(isError) || conflicts.length > 0 };
}

/** Returns findings about blocks of provider tools. A document without such blocks loads no code for them. */
async function serverTools(chat: Chat, environment: Environment): Promise<readonly Diagnostic[]> {
  if (!chat.turns.some(({ segments }) => segments.some(({ kind }) => kind === "server_tool"))) return [];
  const { serverToolFindings } = await import("../../cycle/memory/server_tools.ts");
  return await serverToolFindings(chat, environment);
}

/** The sentences about what waits for a person, at the first call that says `approved`. */
export function doubtFindings(chat: Chat, doubts: readonly string[]): Diagnostic[] {
  const line = firstLine(chat, approvedCalls(chat).map(({ id }) => id)) ?? 1;
  return doubts.map((message) => ({
    code: "waits_for_you",
    type: "tool_result",
    severity: "warning",
    message,
    start: line,
    end: line,
  }));
}

function isError({ severity }: Diagnostic): boolean {
  return severity === "error";
}

/** Returns a finding if the model spoke last, because no request can follow. */
function lastWord(chat: Chat): Diagnostic[] {
  if (!lastWordIsModels(chat)) return [];
  const near = markerMeantLast(chat);
  const line = chat.turns.findLast(({ role }) => role === "Assistant")?.place.start;
  return [{
    code: "last_word",
    type: "parse",
    severity: "warning",
    message: "The last message is the model's: write below a line @You:, or let it go on with --continue." +
      (near === null ? "" : ` ${noMarkerSentence(near)}`),
    ...(line === undefined ? {} : { start: line, end: line }),
  }];
}

/** Returns a finding if the request is in a batch, because nothing can be sent until its reply is there. */
function batched(chat: Chat): Diagnostic[] {
  const placeholder = replyPlaceholder(chat);
  if (placeholder === null) return [];
  const { place: { start, end }, batch } = placeholder;
  const message = `The request is in the batch ${batch}: flemma batch fetch writes the reply here.`;
  return [{ code: "batched", type: "parse", severity: "info", message, start, end }];
}

function byPlace(a: Place, b: Place): number {
  return lineOf(a) - lineOf(b) || (a.startCol ?? 0) - (b.startCol ?? 0);
}

/** A finding. If it is about the whole frontmatter, it may also have the exact line. */
type Place = Diagnostic & { readonly line?: number };

function lineOf({ line, start }: Place): number {
  return line ?? start ?? 1;
}
