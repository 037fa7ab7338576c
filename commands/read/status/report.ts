// Formats the output of `flemma status` about one document for a person.

import type { Environment } from "../../../base/environment.ts";
import { joinNames } from "../../../base/names.ts";
import type { Outcome, Problem } from "../../../base/problem.ts";
import { operands } from "../../../base/shell_word.ts";
import { plural } from "../../../base/text/plural.ts";
import { decidedBy } from "../../../agent/review/decided_by.ts";
import type { WaitingRun } from "../../../agent/runtime/cancel/waiting_run.ts";
import type { InstructionFile } from "../../../agent/conversation/instructions/list.ts";
import type { OpenCall, ProposedRule, WaitingHelper } from "../../../agent/types.ts";
import type { reasonJson } from "../../../agent/views/explanation.ts";
import type { JobView } from "../../../agent/runtime/jobs/records.ts";
import type { Settings } from "../../../config/settings.generated.ts";
import type { PlanEnd, Step } from "../../../cycle/plan/types.ts";
import { shortCallNames } from "../../../cycle/plan/targets.ts";
import type { Holder } from "../../../cycle/storage/lock.ts";
import { formatDuration } from "../../../providers/http/patience.ts";
import type { UsageRecord } from "../../../cycle/types.ts";
import type { Fill } from "../../../cycle/usage/fill.ts";
import { totalOf } from "../../../cycle/usage/record.ts";
import type { Chat, Diagnostic } from "../../../parser/types.ts";
import { currentModel } from "../../../providers/models/choice.ts";
import type { FileChange, RunSandbox } from "../../../sandbox/mod.ts";
import { fillWords, formatCount, sizeWords, usageWords, windowWords } from "../../io/amounts.ts";
import { compactAdvice, formatCommand } from "../../line/advice.ts";
import { decisionAdvice, lastWordSentence } from "../../line/next_steps.ts";

export type Next = "categorise" | "execute" | "wait" | "send" | "idle";

/** Facts about a document that are known with or without a session. */
export interface StatusFacts {
  readonly settings: Settings;
  readonly calls: readonly OpenCall[];
  readonly steps: readonly Step[];
  readonly blockers: readonly Diagnostic[];
  readonly holder: Holder | null;
  /** The run that waits for its provider; anyone can use the document meanwhile. */
  readonly waiting: WaitingRun | null;
  /** One sentence for each process that a killed run left running. */
  readonly leftRunning: readonly string[];
  readonly fileChanges: readonly FileChange[];
  readonly doubts: readonly string[];
}

/** `StatusFacts` with facts that are computed only on demand. */
export interface StatusView extends StatusFacts {
  /** The environment with the folder in which the document's tools work. */
  readonly environment: Environment;
  /** Problems that are shown first. */
  readonly notices: readonly Problem[];
  /** Warnings about settings files. */
  readonly warnings: readonly string[];
  readonly rules: Outcome<readonly ProposedRule[]>;
  sandbox(): Promise<RunSandbox>;
  /** Reasons for the decision about each call, by id. */
  reasons(): Promise<ReadonlyMap<string, ReturnType<typeof reasonJson>>>;
}

export interface Report extends StatusFacts {
  /** The document in suggested commands; null for piped text. */
  readonly file: string | null;
  readonly chat: Chat;
  readonly next: Next;
  readonly rules: readonly ProposedRule[];
  readonly used: readonly UsageRecord[];
  readonly fill: Fill;
  /** The project's instruction files that the document includes. */
  readonly instructions: readonly InstructionFile[];
  /** Number of warnings about settings files, without those about keys of the editor plugin. */
  readonly warned: number;
  /** Background jobs whose results are not in the document. */
  readonly jobs: readonly JobView[];
}

/**
 * Returns the lines for a person. `sandbox` describes the sandbox in words, and `changes` the files that commands
 * changed.
 */
export function reportLines(
  report: Report,
  { sandbox, changes }: { readonly sandbox: string; readonly changes: readonly string[] },
): string[] {
  const { file, chat, settings, calls, steps, next, blockers, holder, waiting, rules, used, fill } = report;
  const lines = calls.map((call) => {
    const { status, preview, line, number, id } = call;
    // If the frontmatter is invalid, no approval decisions are made.
    const fateOf = blockers.length === 0 ? fate(call, steps) : "";
    const reported = fateOf === "" ? "" : `   ${fateOf}`;
    return [
      `${status.padEnd(8)}  ${preview}   line ${line}   #${number} ${id}${reported}`,
      ...helperLines(call.helper, ""),
    ];
  }).flat();
  if (holder !== null) lines.push(`in use by process ${holder.pid} on ${holder.host}`);
  if (waiting !== null) {
    lines.push(
      `process ${waiting.pid} on ${waiting.host} waits for the provider; meanwhile you can change the document`,
    );
  }
  for (const job of report.jobs) lines.push(jobLine(job));
  for (const left of report.leftRunning) lines.push(`still running: ${left}`);
  lines.push(...changes);
  lines.push(`next: ${nextSentence(next, { chat, calls, document: file, steps, blockers })}`);
  lines.push(`model: ${settings.provider} ${currentModel(settings) ?? "(none)"}`);
  if (settings.fallback.models.length > 0) {
    lines.push(`fallback: ${settings.fallback.models.join(", ")} (if ${settings.fallback.on.join(" or ")})`);
  }
  if (settings.run.wait_for_limit > 0) {
    lines.push(`waits for limits: up to ${formatDuration(settings.run.wait_for_limit)} in a run`);
  }
  if (report.warned > 0) {
    lines.push(`settings: ${plural(report.warned, "warning")}, see: ${formatCommand("config check", file)}`);
  }
  lines.push(`sandbox: ${sandbox}`);
  for (const doubt of report.doubts) lines.push(`trust: ${doubt}`);
  lines.push(...ruleLines(rules, file));
  lines.push(...instructionLines(report.instructions));
  lines.push(...usageLines(used, settings.ui.pricing.enabled));
  lines.push(...fillLines(fill, settings, file));
  return lines;
}

/** Returns the line about a background job. */
function jobLine({ job, command, state, pid, since }: JobView): string {
  const what = command === "" ? "" : `: ${command}`;
  switch (state) {
    case "running":
      return `background job ${job} runs since ${since?.slice(11, 19)} UTC (process ${pid})${what}`;
    case "ended":
      return `background job ${job} has ended; the next advance writes its result${what}`;
    case "lost":
      return `background job ${job} was lost with its run; the next advance writes this${what}`;
    case "elsewhere":
      return `background job ${job} belongs to a run on another machine${what}`;
  }
}

/** Returns the calls that wait in the document of a helper, each with the address that `approve` takes. */
function helperLines(helper: WaitingHelper | null, above: string): readonly string[] {
  if (helper === null) return [];
  const { name, path, calls } = helper;
  return [
    `          in ${above}${name} (${path}):`,
    ...calls.flatMap((call) => [
      `            ${call.status.padEnd(8)}  ${call.preview}   ${above}${name}/${call.id}`,
      ...helperLines(call.helper, `${above}${name}/`),
    ]),
  ];
}

/** Returns the approval rules of this session, and how to remove them. */
function ruleLines(rules: readonly ProposedRule[], file: string | null): readonly string[] {
  const back = `   undo: flemma session reset ${file === null ? "FILE" : operands(file)}`;
  return rules.map(({ text }, at) => `session rule: ${text}${at === rules.length - 1 ? back : ""}`);
}

/** Returns the instruction files with their sizes, and those that are left out with the reason. */
function instructionLines(files: readonly InstructionFile[]): readonly string[] {
  if (files.length === 0) return [];
  const shown = files.map(({ path, bytes, where, leftOut }) =>
    leftOut !== null
      ? `${path} (not included: ${leftOut})`
      : `${path} ${sizeWords(bytes)}${where === "result" ? " (in a result)" : ""}`
  );
  return [`instructions: ${shown.join(", ")}`];
}

function usageLines(records: readonly UsageRecord[], prices: boolean): readonly string[] {
  const last = records.at(-1);
  if (last === undefined) return [];
  const total = totalOf(records);
  const requests = `${formatCount(total.requests)} request${total.requests === 1 ? "" : "s"}`;
  const window = windowWords(last);
  const used = `used: ${requests}, ${usageWords(total, { prices })}${
    window === "" ? "" : `; last ${window}`
  }`;
  const { instead_of: instead, provider, model } = last;
  return instead === undefined
    ? [used]
    : [used, `last reply: by ${provider}/${model}, because ${instead} could not answer`];
}

/** Returns how full the context window is: an estimate before the first request, and advice once it is nearly full. */
function fillLines(
  fill: Fill,
  { context }: Settings,
  file: string | null,
): readonly string[] {
  const { share, estimated } = fill;
  const size = fillWords(fill);
  if (share !== null && share >= context.warn_at) {
    return [`context: ${size}; to continue in a smaller document: ${compactAdvice(file)}`];
  }
  return estimated ? [`context: ${size} (nothing has been sent yet)`] : [];
}

const CANNOT_RUN: ReadonlySet<string> = new Set(["unknown-tool", "not-executable", "invalid-input"]);

/** Returns what the next advance does with a call, and who decided; empty if the status already says it. */
function fate(
  { id, status, hasText, doubt, questions, decided: { decision, source, rule } }: OpenCall,
  steps: readonly Step[],
): string {
  const resolved = steps.find((step) => step.do === "resolve" && step.id === id);
  if (resolved?.do === "resolve" && CANNOT_RUN.has(resolved.because)) {
    return "cannot run: the model gets an error";
  }
  if (hasText && status === "pending") return "your text becomes its result";
  if (hasText && status === "approved") return "does not run: there is text in its block";
  if (doubt !== null) return `waits for you: ${doubt}`;
  if (questions !== null) {
    const problem = questions.problem === null ? "" : `: ${questions.problem.replace(/\.$/, "")}`;
    return status === "pending"
      ? `waits for your answers${problem}`
      : problem === ""
      ? ""
      : `waits${problem}`;
  }
  if (status !== "open") return "";
  const who = decidedBy(source, rule !== undefined);
  if (decision === "approve") return `will run (${who})`;
  if (decision === "deny") return `will be denied (${who})`;
  return who === "default" ? "will wait for you" : `will wait for you (${who})`;
}

/** Returns the kind of the next step; "idle" if there is nothing to advance. */
export function nextStep(chat: Chat, steps: readonly Step[]): Next {
  if (steps.length === 0) return "idle";
  if (steps.some((step) => step.do === "place" || (step.do === "resolve" && isNew(chat, step)))) {
    return "categorise";
  }
  if (steps.some((step) => ["run", "go-on", "resolve", "confirm", "demote"].includes(step.do))) {
    return "execute";
  }
  if ((["last-word", "answered", "batched"] as const).some((end) => ends(steps, end))) return "idle";
  return steps.at(-1)?.do === "send" ? "send" : "wait";
}

/** True if the plan ends with `at`. */
function ends(steps: readonly Step[], at: PlanEnd): boolean {
  const end = steps.at(-1);
  return end?.do === "rest" && end.at === at;
}

function isNew(chat: Chat, step: Extract<Step, { do: "resolve" }>): boolean {
  return chat.result(step.id) === undefined;
}

export function nextSentence(
  next: Next,
  { chat, calls, document, steps, blockers }: {
    readonly chat: Chat;
    readonly calls: readonly OpenCall[];
    readonly document: string | null;
    readonly steps: readonly Step[];
    readonly blockers: readonly Diagnostic[];
  },
): string {
  const advance = formatCommand("advance", document);
  const pending = calls.filter(({ status, hasText }) => status === "pending" && !hasText);
  const waiting = pending.filter(({ helper }) => helper === null).map(({ id }) => id);
  switch (next) {
    case "categorise":
      return `${advance} decides about ${count(calls, "open")}`;
    case "execute":
      return `${advance} ${carriedOut(calls, steps)}`;
    case "wait": {
      const asked = pending.find(({ questions }) => (questions?.problem ?? null) !== null);
      if (asked !== undefined) {
        const [name] = shortCallNames(chat, [asked.id]);
        return `write your answers below line ${asked.line}, then ${decisionAdvice([name!], document)}`;
      }
      if (waiting.length > 0) {
        return `${decisionAdvice(shortCallNames(chat, waiting), document)}${
          waiting.length === 1 ? ", or reject it, or write the result yourself" : ""
        }`;
      }
      if (pending.length > 0) return decisionAdvice([], document);
      const end = steps.at(-1);
      return end?.do === "rest" && end.at === "protected"
        ? `check ${joinNames(end.ids)}: approved, but there is text in the block; ` +
          "delete the text to run the call, or write pending to send the text as its result"
        : "wait for the running calls";
    }
    case "send":
      return calls.some(({ hasText }) => hasText)
        ? `${advance} takes your text as the result and sends the conversation`
        : `${advance} sends the conversation`;
    case "idle":
      if (blockers[0]?.code === "conflict_marks") return blockers[0].message;
      if (blockers.length > 0) return `correct the frontmatter: ${blockers[0]!.message}`;
      if (ends(steps, "batched")) return "flemma batch fetch writes the reply when it is there";
      return ends(steps, "last-word")
        ? lastWordSentence(document)
        : `write a message below @You:, then ${advance}`;
  }
}

/** Returns what an advance does with calls that are already decided. */
function carriedOut(calls: readonly OpenCall[], steps: readonly Step[]): string {
  const back = new Set(steps.flatMap((step) => step.do === "demote" ? [step.id] : []));
  const forward = calls.filter(({ id, status }) => status !== "pending" && !back.has(id)).length;
  return [
    ...(forward > 0 ? [`carries out ${forward} of ${count(calls)}`] : []),
    ...(back.size > 0 ? [`asks you again about ${joinNames([...back])}`] : []),
  ].join(" and ");
}

/** Counts calls in words, as in `1 call` or `2 calls`: all calls, or those of one status. */
function count(calls: readonly OpenCall[], status?: string): string {
  const found = calls.filter((call) => status === undefined || call.status === status).length;
  return found === 1 ? "1 call" : `${found} calls`;
}
