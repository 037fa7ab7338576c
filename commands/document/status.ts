// `flemma status`: what stands open in a document, and what the next advance would do and why.

import { contextFill } from "../../agent/conversation/context_fill.ts";
import { listed } from "../../base/names.ts";
import { decidedBy } from "../../agent/views/decided_by.ts";
import { lastMessages, messagesKey } from "../../cycle/storage/kept_messages.ts";
import { knownPath } from "../../cycle/storage/read.ts";
import { documentKey } from "../../cycle/storage/state_files.ts";
import { recordsOf } from "../../cycle/usage/log.ts";
import type { Fill } from "../../cycle/usage/fill.ts";
import { totalOf } from "../../cycle/usage/record.ts";
import type { UsageRecord } from "../../cycle/types.ts";
import { parse } from "../../parser/mod.ts";
import { advised, compactAdvice } from "../line/advice.ts";
import { pipedBeside } from "../io/piped_document.ts";
import type { Step } from "../../cycle/mod.ts";
import type { Rest } from "../../cycle/plan/plan.ts";
import type { Chat, Diagnostic } from "../../parser/types.ts";
import { modelInForce } from "../../providers/models/find.ts";
import { fileChangeSentence, type RunSandbox } from "../../sandbox/mod.ts";
import { visible } from "../../base/visible.ts";
import { operands } from "../../base/shell_word.ts";
import type { ChatSession, OpenCall, ProposedRule } from "../../agent/types.ts";
import { diagnosticJson } from "../io/diagnostics.ts";
import { openForReport } from "./open.ts";
import { Exit } from "../io/exit.ts";
import { refuse } from "../io/refuse.ts";
import type { Invocation } from "../invocation.ts";
import { switchOption, textOption } from "../line/options.ts";
import { counted, fillWords, usageWords, windowWords } from "../io/amounts.ts";
import { usageJson } from "../io/usage_json.ts";
import { reasonJson } from "../../agent/views/explanation.ts";
import { safeJson } from "../io/safe_json.ts";
import { writeOutput } from "../io/streams.ts";
import { handyNames } from "../../cycle/plan/targets.ts";
import { decisionAdvice, lastWordSentence } from "../line/way_on.ts";

type Next = "categorise" | "execute" | "wait" | "send" | "idle";

export async function run(invocation: Invocation): Promise<number> {
  if (switchOption(invocation.arguments, "last") === true) return await showLast(invocation);
  const opened = await openForReport(invocation);
  if ("exit" in opened) return opened.exit;
  const { label, file } = opened;
  await using session = opened.session;
  for (const notice of session.loaded.notices) invocation.messages.notice(notice);
  const { sandbox, blockers, chat, doubts } = session;
  const holder = await session.holder();
  const calls = await session.calls();
  const login = await session.rules();
  if (!login.ok) return refuse(invocation, login.problem);
  const rules = login.value;
  const busy = calls.some(({ status }) => status === "running");
  const steps = busy ? [] : await session.plan();
  const next = busy ? "wait" : nextStep(chat, steps);
  const used = session.path === null ? [] : await recordsOf(invocation.environment, session.path);
  const fill = contextFill(session.settings, chat.byteLength, used);
  if (switchOption(invocation.arguments, "json") === true) {
    const summary = await sandboxSummary(session);
    const document = session.path ?? label;
    const explained = await session.explain();
    const reasons = new Map((explained.ok ? explained.value : []).map((call) => [call.id, reasonJson(call)]));
    const files_changed = (await session.fileChanges())
      .map(({ path, change, obeyedBy }) => ({ path, change, obeyed_by: obeyedBy }));
    const report = {
      document,
      provider: session.settings.provider,
      model: modelInForce(session.settings),
      calls: calls.map((call) => ({ ...callJson(call), ...reasons.get(call.id) })),
      next,
      next_step: nextSentence(next, { chat, calls, document: file, steps, blockers }),
      problems: blockers.map(diagnosticJson),
      in_use_by: holder,
      left_running: sandbox.leftRunning(),
      files_changed,
      sandbox: summary,
      doubts,
      login_rules: rules.map(({ written }) => written),
      usage: usageJson(used),
      context: fill,
    };
    writeOutput(`${safeJson(report)}\n`);
    return Exit.ok;
  }
  const lines = calls.map((call) => {
    const { status, preview, line, number, id } = call;
    // While the first block is wrong, nobody decides anything.
    const fateOf = blockers.length === 0 ? fate(call, steps) : "";
    const told = fateOf === "" ? "" : `   ${fateOf}`;
    return `${status.padEnd(8)}  ${preview}   line ${line}   #${number} ${id}${told}`;
  });
  if (holder !== null) lines.push(`in use by process ${holder.pid} on ${holder.host}`);
  for (const left of sandbox.leftRunning()) lines.push(`left running: ${left}`);
  lines.push(...(await session.fileChanges()).map(fileChangeSentence));
  lines.push(`next: ${nextSentence(next, { chat, calls, document: file, steps, blockers })}`);
  lines.push(`model: ${session.settings.provider} ${modelInForce(session.settings) ?? "(none named)"}`);
  lines.push(`sandbox: ${await sandboxSentence(sandbox, calls.length > 0)}`);
  for (const doubt of doubts) lines.push(`trust: ${doubt}`);
  lines.push(...ruleLines(rules, file));
  lines.push(...usageLines(used, session.settings.ui.pricing.enabled));
  lines.push(...fillLines(fill, session, file));
  writeOutput(visible(`${lines.join("\n")}\n`, { lines: true }));
  return Exit.ok;
}

/** What a person lets through without asking until logout, and how it is taken back. */
function ruleLines(rules: readonly ProposedRule[], file: string | null): readonly string[] {
  const back = `   take back: flemma session reset ${file === null ? "FILE" : operands(file)}`;
  return rules.map(({ text }, at) => `until logout: ${text}${at === rules.length - 1 ? back : ""}`);
}

/** What the document has used so far. */
function usageLines(records: readonly UsageRecord[], prices: boolean): readonly string[] {
  const last = records.at(-1);
  if (last === undefined) return [];
  const total = totalOf(records);
  const requests = `${counted(total.requests)} request${total.requests === 1 ? "" : "s"}`;
  const window = windowWords(last);
  return [`used: ${requests}, ${usageWords(total, { prices })}${window === "" ? "" : `; last ${window}`}`];
}

/** What there is to know of it beside the last request: an estimate where there was none, and what helps where it is full. */
function fillLines(
  fill: Fill,
  { settings: { context } }: ChatSession,
  file: string | null,
): readonly string[] {
  const { share, estimated } = fill;
  const size = fillWords(fill);
  if (share !== null && share >= context.warn_at) {
    return [`context: ${size}; ${compactAdvice(file)} goes on in a smaller document`];
  }
  return estimated ? [`context: ${size} (nothing was sent yet)`] : [];
}

/** The messages of the last filter run of a document; of the last one at all when none is named or piped in. */
async function showLast({ arguments: given, environment, messages, input }: Invocation): Promise<number> {
  const [file = textOption(given, "name")] = given.positionals;
  const piped = file === undefined ? await pipedBeside(environment, input) : null;
  const key = file !== undefined && file !== "-"
    ? await documentKey(await knownPath(environment, file))
    : piped === null
    ? null
    : await messagesKey(parse(piped.bytes), null);
  const text = await lastMessages(environment, key);
  writeOutput(text ?? "");
  if (text === null) {
    messages.note(`flemma: No filter run${key === null ? "" : " of this document"} said anything.`);
  }
  return Exit.ok;
}

/** A call as JSON has it. */
function callJson({ id, number, name, status, line, preview, verdict: { decision, source } }: OpenCall) {
  return { id, number, name, status, line, preview, decision, source };
}

const CANNOT_RUN: ReadonlySet<string> = new Set(["unknown-tool", "not-executable", "invalid-input"]);

/** What becomes of a call, and who says so; empty where its status says it all. */
function fate(
  { id, status, hasText, verdict: { decision, source, rule } }: OpenCall,
  steps: readonly Step[],
): string {
  const resolved = steps.find((step) => step.do === "resolve" && step.id === id);
  if (resolved?.do === "resolve" && CANNOT_RUN.has(resolved.because)) return "cannot run: the model is told";
  if (hasText && status === "pending") return "your text becomes its result";
  if (hasText && status === "approved") return "does not run: there is text in its block";
  if (status !== "open") return "";
  const who = decidedBy(source, rule !== undefined);
  if (decision === "approve") return `will run (${who})`;
  if (decision === "deny") return `will be denied (${who})`;
  return who === "default" ? "will wait for you" : `will wait for you (${who})`;
}

/** Only what is shown, and looked at only where a call waits for it: the look takes longer than all the rest. */
async function sandboxSentence(sandbox: RunSandbox, needed: boolean): Promise<string> {
  if (!sandbox.enabled) return "off";
  if (!needed) return "on";
  const available = await sandbox.available();
  return available.ok ? `on (${available.value})` : `not usable: ${available.problem.message}`;
}

async function sandboxSummary({ sandbox, settings }: ChatSession) {
  const available = await sandbox.available();
  const { network } = settings.sandbox.policy;
  const backend = sandbox.enabled ? await sandbox.backend() : null;
  return {
    enabled: sandbox.enabled,
    backend: backend?.ok ? backend.value.name : null,
    available: available.ok,
    network: network === true
      ? "allowed"
      : network === false || network.allow.length === 0
      ? "blocked"
      : "list",
    error: available.ok ? null : available.problem.message,
  };
}

/** No steps at all: there is nothing to advance. */
function nextStep(chat: Chat, steps: readonly Step[]): Next {
  if (steps.length === 0) return "idle";
  if (steps.some((step) => step.do === "place" || (step.do === "resolve" && isNew(chat, step)))) {
    return "categorise";
  }
  if (steps.some((step) => ["run", "resolve", "confirm", "demote"].includes(step.do))) return "execute";
  if (ends(steps, "last-word") || ends(steps, "answered")) return "idle";
  return steps.at(-1)?.do === "send" ? "send" : "wait";
}

/** Whether steps end in a rest of that kind. */
function ends(steps: readonly Step[], at: Rest): boolean {
  const end = steps.at(-1);
  return end?.do === "rest" && end.at === at;
}

function isNew(chat: Chat, step: Extract<Step, { do: "resolve" }>): boolean {
  return chat.result(step.id) === undefined;
}

function nextSentence(
  next: Next,
  { chat, calls, document, steps, blockers }: {
    readonly chat: Chat;
    readonly calls: readonly OpenCall[];
    readonly document: string | null;
    readonly steps: readonly Step[];
    readonly blockers: readonly Diagnostic[];
  },
): string {
  const advance = advised("advance", document);
  const waiting = calls.filter(({ status, hasText }) => status === "pending" && !hasText).map(({ id }) => id);
  switch (next) {
    case "categorise":
      return `${advance} decides about ${count(calls, "open")}`;
    case "execute":
      return `${advance} ${carriedOut(calls, steps)}`;
    case "wait": {
      if (waiting.length > 0) {
        return `${decisionAdvice(handyNames(chat, waiting), document)}${
          waiting.length === 1 ? ", or reject it, or write the result yourself" : ""
        }`;
      }
      const end = steps.at(-1);
      return end?.do === "rest" && end.at === "protected"
        ? `look at ${listed(end.ids)}: approved, but there is text in the block; ` +
          "delete the text to run the call, or write pending to send the text as its result"
        : "wait for what runs";
    }
    case "send":
      return calls.some(({ hasText }) => hasText)
        ? `${advance} takes your text as the result and sends the conversation`
        : `${advance} sends the conversation`;
    case "idle":
      if (blockers[0]?.code === "conflict_marks") return blockers[0].message;
      if (blockers.length > 0) return `correct the first block: ${blockers[0]!.message}`;
      return ends(steps, "last-word")
        ? lastWordSentence(document)
        : `write a message below @You:, then ${advance}`;
  }
}

/** What an advance does with the calls that a decision stands for already. */
function carriedOut(calls: readonly OpenCall[], steps: readonly Step[]): string {
  const back = new Set(steps.flatMap((step) => step.do === "demote" ? [step.id] : []));
  const forward = calls.filter(({ id, status }) => status !== "pending" && !back.has(id)).length;
  return [
    ...(forward > 0 ? [`carries out ${forward} of ${count(calls)}`] : []),
    ...(back.size > 0 ? [`asks you again about ${listed([...back])}`] : []),
  ].join(" and ");
}

/** `1 call`, `2 calls`: all, or those of a status. */
function count(calls: readonly OpenCall[], status?: string): string {
  const found = calls.filter((call) => status === undefined || call.status === status).length;
  return found === 1 ? "1 call" : `${found} calls`;
}
