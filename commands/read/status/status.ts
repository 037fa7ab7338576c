// `flemma status`: shows the open calls of a document, and what the next advance would do and why.

import { includesInstructions } from "../../../agent/conversation/instructions/sections.ts";
import type { Environment } from "../../../base/environment.ts";
import type { Problem } from "../../../base/problem.ts";
import type { JobView } from "../../../agent/runtime/jobs/records.ts";
import { contextFill } from "../../../agent/conversation/context_fill.ts";
import { lastMessages, messagesKey } from "../../io/saved_messages.ts";
import { knownPath } from "../../../cycle/storage/read.ts";
import { recordsOf } from "../../../cycle/usage/log.ts";
import { documentKey } from "../../../cycle/storage/state_files.ts";
import { parse } from "../../../parser/mod.ts";
import type { Chat } from "../../../parser/types.ts";
import { documentJobs } from "../../../parser/view/jobs.ts";
import { hostOptions } from "../../document/host.ts";
import { readForReport, type ReadText } from "../../document/read.ts";
import type { Invocation } from "../../invocation.ts";
import { Exit } from "../../io/exit.ts";
import { readPipedInput } from "../../io/piped_document.ts";
import { refuse } from "../../io/refuse.ts";
import { writeLines, writeOutput } from "../../io/streams.ts";
import { switchOption, textOption } from "../../line/options.ts";
import { nextStep, type Report, reportLines, type StatusView } from "./report.ts";
import { withoutSession } from "./settled.ts";

export async function run(invocation: Invocation): Promise<number> {
  const { arguments: given } = invocation;
  if (switchOption(given, "last") === true) return await showLast(invocation);
  const host = hostOptions(invocation);
  if (!host.ok) return refuse(invocation, host.problem);
  const read = await readForReport(invocation, given.positionals[0]);
  if ("exit" in read) return read.exit;
  const { view, subject } = await withoutSession(host.value, read);
  if (view !== null) return await show(invocation, read, view);
  const { bySession } = await import("./opened.ts");
  return await bySession(invocation, { read, subject }, (view) => show(invocation, read, view));
}

/** Prints the view of a document, for a person or as JSON. */
async function show(invocation: Invocation, read: ReadText, view: StatusView): Promise<number> {
  const { arguments: given, environment, messages } = invocation;
  const { path, file, chat, label } = read;
  const { notices, settings, calls, steps, rules } = view;
  for (const notice of [...notices, ...await sandboxLimits(view)]) messages.notice(notice);
  if (!rules.ok) return refuse(invocation, rules.problem);
  const used = path === null ? [] : await recordsOf(environment, path);
  const isRunning = calls.some(({ status }) => status === "running");
  const report: Report = {
    ...view,
    file,
    chat,
    next: isRunning ? "wait" : nextStep(chat, steps),
    rules: rules.value,
    used,
    jobs: path === null ? [] : await jobsOf(environment, path, chat),
    fill: contextFill(settings, chat.byteLength, used),
    instructions: await instructionsOf(view, read),
    warned: await warnedOf(view.warnings),
  };
  if (switchOption(given, "json") === true) {
    const { callJson, reportJson, sandboxSummary } = await import("./json.ts");
    const sandbox = await sandboxSummary(await view.sandbox(), settings);
    const reasons = await view.reasons();
    const all = calls.map((call) => callJson(call, reasons.get(call.id)));
    writeOutput(`${reportJson(report, { document: path ?? label, calls: all, sandbox })}\n`);
    return Exit.ok;
  }
  const changed = view.fileChanges.length === 0 ? null : await import("../../../sandbox/mod.ts");
  const lines = reportLines(report, {
    sandbox: await sandboxWords(view),
    changes: view.fileChanges.map((change) => changed!.fileChangeSentence(change)),
  });
  writeLines(`${lines.join("\n")}\n`);
  return Exit.ok;
}

/** Counts warnings about settings files. Most people have none; then the list of old keys is not loaded. */
async function warnedOf(warnings: readonly string[]): Promise<number> {
  if (warnings.length === 0) return 0;
  const { isAboutEditorsKey } = await import("../../../config/data/old_keys.ts");
  return warnings.filter((warning) => !isAboutEditorsKey(warning)).length;
}

/** Lists the project's instruction files, if the document includes them. */
async function instructionsOf(
  { environment, settings, sandbox }: StatusView,
  { chat, path }: ReadText,
): Promise<Report["instructions"]> {
  if (!includesInstructions(chat)) return [];
  const { listInstructions } = await import("../../../agent/conversation/instructions/list.ts");
  const readable = await sandbox();
  return await listInstructions(chat, {
    environment,
    document: path,
    settings,
    isReadable: (file) => readable.isPathReadable(file),
  });
}

/** Returns the open background jobs of a document. Most have none; then the code that reads them is not loaded. */
async function jobsOf(environment: Environment, document: string, chat: Chat): Promise<readonly JobView[]> {
  if (documentJobs(chat).every(({ finished }) => finished)) return [];
  const { openJobsOf } = await import("../../../agent/runtime/jobs/records.ts");
  return openJobsOf(environment, document, chat);
}

/**
 * Folders that are read-only because the sandbox of open calls cannot protect everything in them. Folders that are only
 * not searched completely are reported by `flemma sandbox status`: a temporary folder is often that large, and commands
 * run as usual.
 */
async function sandboxLimits({ settings, calls, sandbox }: StatusView): Promise<readonly Problem[]> {
  if (!settings.sandbox.enabled || calls.length === 0) return [];
  return (await sandbox()).limits().filter(({ code }) => code !== "folders-not-searched");
}

/** Tests the sandbox only if there is an open call, because the test takes longer than the rest. */
async function sandboxWords({ settings, calls, sandbox }: StatusView): Promise<string> {
  if (!settings.sandbox.enabled) return "off";
  if (calls.length === 0) return "on";
  const available = await (await sandbox()).available();
  return available.ok ? `on (${available.value})` : `not usable: ${available.problem.message}`;
}

/**
 * Prints the messages of a document's last filter run. If no document is given, prints those of the last run of any
 * document.
 */
async function showLast({ arguments: given, environment, messages, input }: Invocation): Promise<number> {
  const [file = textOption(given, "name")] = given.positionals;
  const piped = file === undefined ? await readPipedInput(environment, input) : null;
  const key = file !== undefined && file !== "-"
    ? await documentKey(await knownPath(environment, file))
    : piped === null
    ? null
    : await messagesKey(parse(piped.bytes), null);
  const text = await lastMessages(environment, key);
  writeLines(text ?? "");
  if (text === null) {
    messages.note(`flemma: No filter run${key === null ? "" : " of this document"} left any messages.`);
  }
  return Exit.ok;
}
