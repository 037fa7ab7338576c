// `flemma compact`: continues a long conversation in a smaller document, with a summary or with shorter results.

import { makeDocument, movedText, nextCompacted } from "../../agent/conversation/derived_document.ts";
import { compactChat, longResults, withShortResults } from "../../agent/conversation/compacted.ts";
import { type Cut, cutOf, keepLess } from "../../agent/conversation/cut.ts";
import { sameCut } from "../../agent/compaction/same_cut.ts";
import { requestSummary, SILENT, type Split } from "../../agent/compaction/summary.ts";
import { keepWholeResults } from "../../agent/conversation/whole_results.ts";
import { chatInMemory } from "../../agent/open.ts";
import { callsWait, nextNeed } from "../../agent/views/next_need.ts";
import { sameBytes } from "../../base/bytes.ts";
import { absolutePath } from "../../base/paths.ts";
import { failure, type Outcome, type Problem, success } from "../../base/problem.ts";
import { readDocument } from "../../cycle/storage/read.ts";
import type { ChatSession } from "../../agent/types.ts";
import { CONTEXT_OVERFLOW } from "../../cycle/run/stop.ts";
import type { Emit } from "../../cycle/types.ts";
import { parse } from "../../parser/mod.ts";
import { drive } from "../run/drive.ts";
import type { CommandDocument } from "../document/open.ts";
import { hostOptions } from "../document/host.ts";
import type { Invocation } from "../invocation.ts";
import { formatCount } from "../io/amounts.ts";
import { Exit } from "../io/exit.ts";
import { refuse } from "../io/refuse.ts";
import { safeJson } from "../io/safe_json.ts";
import { writeOutput } from "../io/streams.ts";
import { formatCommand } from "../line/advice.ts";
import { numberOption, switchOption, textOption } from "../line/options.ts";
import { suggestNextStep } from "../line/next_steps.ts";
import { agreeAsBefore, notAFile } from "./derived_trust.ts";

/** Number of the person's messages that are kept by default. */
const KEPT = 2;

export async function run(invocation: Invocation): Promise<number> {
  const { arguments: given } = invocation;
  if (given.positionals[0] === "-") return refuse(invocation, notAFile("compact"));
  if (switchOption(given, "results-only") === true && textOption(given, "instructions") !== undefined) {
    const message = "--instructions has no effect with --results-only, which asks no model.";
    return refuse(invocation, { code: "usage", message, next: "Leave one of them out." });
  }
  // The command prints one JSON value and no events.
  const options = new Map([...given.options].filter(([name]) => name !== "json"));
  const run = { ...invocation, arguments: { ...given, options } };
  return await drive(run, async (document, emit) => ({ exit: await compact(invocation, document, emit) }));
}

async function compact(invocation: Invocation, document: CommandDocument, emit: Emit): Promise<number> {
  const { environment, arguments: given, messages } = invocation;
  const { session, file, label } = document;
  const { chat, path } = session;
  if (path === null) throw new Error("a document that was opened by its path has none");
  if (callsWait(chat)) {
    messages.say(
      `flemma: ${label} has calls without a result, so it was not compacted. ${suggestNextStep(chat, file)}`,
    );
    return Exit.person;
  }
  const pruned = switchOption(given, "results-only") === true;
  const keep = numberOption(given, "keep") ?? KEPT;
  const cut = cutOf(chat, keep);
  if (!cut.ok) return refuse(invocation, pruned ? nothingLong(document, keep) : cut.problem);
  const split = { chat, cut: cut.value };
  const name = textOption(given, "to") ?? nextCompacted(environment, file ?? label);
  if (switchOption(given, "dry-run") === true) return foretell(invocation, split, name);
  const made = pruned
    ? await shortened(invocation, document, split, { name, keep })
    : await summedUp(invocation, document, split, emit);
  if (!made.ok) return refuse(invocation, made.problem);
  const target = absolutePath(environment, name);
  const bytes = movedText(made.value, path, target);
  const written = await makeDocument(name, target, bytes);
  if (!written.ok) return refuse(invocation, written.problem);
  const problem = await agreeAsBefore(invocation, session, name);
  if (problem !== null) messages.notice(problem);
  report(invocation, { split, name, target, path, bytes, pruned });
  return Exit.ok;
}

/** Creates the new document with a summary by the model. */
async function summedUp(
  invocation: Invocation,
  document: CommandDocument,
  { chat, cut }: Split,
  emit: Emit,
): Promise<Outcome<Uint8Array>> {
  const { session, label, interrupts } = document;
  const summary = await requestSummary({ chat, cut }, {
    open: openerOf(invocation, document, emit),
    instructions: textOption(invocation.arguments, "instructions") ?? "",
    pruneOver: session.settings.context.prune_over,
    label,
  });
  if (!summary.ok) {
    const { problem } = summary;
    return {
      ok: false,
      problem: problem.code === CONTEXT_OVERFLOW ? { ...problem, next: ONE_TOO_LONG } : problem,
    };
  }
  if (interrupts.received) return failure("cancelled", "Interrupted. No document was created.");
  // The person may have added text below the cut meanwhile. If text above the cut changed, the summary would no longer
  // match it.
  const now = await readDocument(session.path!, invocation.environment);
  if (!now.ok) return now;
  const { bytes } = now.value;
  const current = sameBytes(bytes, chat.bytes) ? chat : parse(bytes);
  const again = current === chat ? success(cut) : sameCut(current, chat, cut);
  return again.ok ? success(compactChat(current, again.value, summary.value, label)) : again;
}

/** Hint if not even parts of the conversation fit. */
const ONE_TOO_LONG =
  "A single message is too long: use a model with a larger window (--model NAME), or delete text from it.";

/** Opens texts in order to ask for a summary, with the model that is set for summaries. */
function openerOf(
  invocation: Invocation,
  { session, interrupts }: CommandDocument,
  emit: Emit,
): (bytes: Uint8Array) => Promise<Outcome<ChatSession>> {
  return async (bytes) => {
    const host = hostOptions(invocation);
    if (!host.ok) return host;
    const { compact_model: model } = session.settings.context;
    const { settings = {} } = host.value;
    const own = model === null || textOption(invocation.arguments, "model") !== undefined ? {} : { model };
    return await chatInMemory(bytes, {
      ...host.value,
      settings: { ...settings, overrides: { ...settings.overrides, ...own, hooks: SILENT } },
      path: session.path,
      isAside: true,
      emit,
      signal: interrupts.signal,
    });
  };
}

/** Creates the new document with shorter results; the full results are saved to files. */
async function shortened(
  { environment }: Invocation,
  document: CommandDocument,
  { chat, cut }: Split,
  { name, keep }: { readonly name: string; readonly keep: number },
): Promise<Outcome<Uint8Array>> {
  const { session } = document;
  const { context: { prune_over: limit }, tools: { truncate } } = session.settings;
  const results = longResults(chat, cut, limit);
  if (results.length === 0) return { ok: false, problem: nothingLong(document, keep, { cut }) };
  const target = absolutePath(environment, name);
  const kept = await keepWholeResults(results, {
    format: truncate.output_path_format,
    document: target,
    environment,
  });
  return kept.ok
    ? success(withShortResults(chat, results, limit, (result) => kept.value.get(result)!))
    : kept;
}

/** Returns why no result is shortened, and which options would shorten one. */
function nothingLong(
  { session: { chat, settings } }: CommandDocument,
  keep: number,
  split: { readonly cut: Cut } | null = null,
): Problem {
  const limit = settings.context.prune_over;
  const less = keepLess(chat, keep, (cut) => longResults(chat, cut, limit).length > 0);
  const shorter = split !== null && longResults(chat, split.cut, 0).length > 0;
  const ways = [
    ...(less.includes("--keep") ? [less] : []),
    ...(shorter ? ["Lower context.prune_over."] : []),
    ...(split === null ? [] : ["Let a model summarize: leave out --results-only."]),
  ];
  return {
    code: "nothing-to-compact",
    message: `No result before the kept messages is longer than ${
      formatCount(limit)
    } bytes (context.prune_over).`,
    next: ways.length === 0 ? less : ways.join(" Or: "),
  };
}

/** Prints what the command would do, without sending a request to a model. */
function foretell(invocation: Invocation, { chat, cut }: Split, name: string): number {
  const tokens = Math.ceil((cut.kept - cut.head) / 4);
  const { summed, turns } = cut;
  const [first, last] = [summed[0]!.place.start, summed.at(-1)!.place.end];
  if (switchOption(invocation.arguments, "json") === true) {
    const outputJson = {
      to: name,
      summed: { messages: summed.length, lines: [first, last], tokens },
      kept: turns.length,
    };
    writeOutput(`${safeJson(outputJson)}\n`);
    return Exit.ok;
  }
  invocation.messages.note(
    `${name} would contain a summary of ${summed.length} messages (lines ${first} to ${last}, about ${
      formatCount(tokens)
    } tokens) and the last ${turns.length} unchanged${
      cut.asked === null ? "" : `, with the message in line ${cut.asked.place.start} that they answer`
    }. ${chat.turns.length} messages in all.`,
  );
  return Exit.ok;
}

interface Made {
  readonly split: Split;
  readonly name: string;
  readonly target: string;
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly pruned: boolean;
}

function report(invocation: Invocation, { split, name, target, path, bytes, pruned }: Made): void {
  const { messages, arguments: given } = invocation;
  const { summed, turns } = split.cut;
  if (switchOption(given, "json") === true) {
    const lines = [summed[0]!.place.start, summed.at(-1)!.place.end];
    const outputJson = {
      document: path,
      made: target,
      summed: { messages: summed.length, lines },
      kept: turns.length,
    };
    writeOutput(`${safeJson({ ...outputJson, results_only: pruned, bytes: bytes.length })}\n`);
    return;
  }
  const what = pruned
    ? "the conversation with shorter results"
    : `a summary of ${summed.length} messages and the last ${turns.length} unchanged`;
  const chat = parse(bytes);
  const way = nextNeed(chat).kind === "advance"
    ? `Continue with: ${formatCommand("advance", name)}`
    : suggestNextStep(chat, name);
  messages.note(`${name} contains ${what}. ${way}`);
}
