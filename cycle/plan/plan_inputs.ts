// Gathers the inputs of a plan: checks tool inputs, compares approvals with the text, asks the approval chain.

import type { Settings } from "../../config/settings.generated.ts";
import { helperOf } from "../../parser/edits/result_block.ts";
import type { Call, Chat, Result } from "../../parser/types.ts";
import { type ApprovalDecision, waitsForSource } from "../../tools/approval/types.ts";
import type { HookQuestion } from "../../tools/approval/downgrades.ts";
import type { Effects, ToolDefinition } from "../../tools/definition.ts";
import { isExecutable } from "../../tools/registry.ts";
import { callHash } from "./call_hash.ts";
import { liveCalls } from "./open_calls.ts";
import { callsToCheck, questions } from "./questions.ts";
import { QUESTIONS_GONE } from "./sentences.ts";
import type { AnswersCheck, PlanInputs, RunningCalls } from "./types.ts";
import type { ToolKind } from "./resolution.ts";
import type { Approval, Journal } from "../types.ts";

/** The tools a cycle knows, such as a ToolRegistry. */
export interface Tools {
  get(name: string): ToolDefinition | undefined;
  has(name: string): boolean;
  closestMatch(name: string): string | null;
  /**
   * Returns the source that may provide or replace a tool of that name but is not available: it failed, is not
   * trusted, or was excluded. @default no such source
   */
  unaskedSource?(name: string): string | null;
}

export interface PlanSources {
  readonly journal: Journal;
  /** Returns the recorded approval of a call, if it is valid. @default the approval in the journal */
  readonly approvalOf?: (id: string) => Approval | null | Promise<Approval | null>;
  readonly settings: Settings;
  readonly tools: Tools;
  decide(
    call: Pick<Call, "id" | "name" | "input">,
    options?: { readonly hooks?: HookQuestion },
  ): Promise<ApprovalDecision>;
  /** Returns problems of an input by the tool's schema, as `pointer: what is wrong`; empty means valid. */
  checkInput(
    definition: ToolDefinition,
    input: Call["input"],
  ): readonly string[] | Promise<readonly string[]>;
  /**
   * Returns whether a call that waits in another document can go on. Asked only about approved calls. @default no call
   * waits in another document
   */
  goesOn?(call: Call, helper: string): Promise<boolean>;
  /** Checks the answers in the block of a call to what its server asked. @default no server asks */
  checkAnswers?(call: Call, result: Result): Promise<AnswersCheck | null>;
  /** True if the model can continue its own turn, and the user wants it to. @default false */
  prefill?(): boolean | Promise<boolean>;
}

/**
 * Returns the inputs of a plan for the current document. The approval chain decides each call once, in document order.
 * `running` is read when the inputs are used, so it may change in between.
 *
 * @param hooks aborts hooks, which are then asked too; undefined if the plan is not carried out
 */
export async function gatherPlanInputs(
  chat: Chat,
  sources: PlanSources,
  running: RunningCalls,
  byPerson: boolean,
  hooks?: AbortSignal,
): Promise<PlanInputs> {
  const { journal, tools } = sources;
  const invalid = new Map<string, readonly string[]>();
  const changed = new Map<string, "policy" | "person">();
  for (const call of callsToCheck(chat, running)) {
    const problems = await inputProblems(call, sources);
    if (problems.length > 0) invalid.set(call.id, problems);
    const by = chat.result(call.id) === undefined ? null : await changedSince(sources, call);
    if (by !== null) changed.set(call.id, by);
  }
  const decisions = new Map<string, ApprovalDecision>();
  const asked = hooks === undefined ? {} : { hooks: { signal: hooks, approved: false } };
  const kindOf = (name: string) => kindIn(tools, name);
  for (const { id, name, input } of questions(chat, { invalid, changed, running, toolKind: kindOf })) {
    const source = kindOf(name) === "unasked" ? tools.unaskedSource?.(name) : null;
    decisions.set(id, source ? waitsForSource(source) : await sources.decide({ id, name, input }, asked));
  }
  return {
    decisions,
    invalid,
    changed,
    interrupted: new Map([...journal.started()].filter(([id]) => !running.has(id))),
    kept: journal.savedResults(),
    running,
    toolKind: kindOf,
    effects: (name) => effectsOf(tools, name),
    closestTool: (name) => tools.closestMatch(name),
    runsAlone: (name) => tools.get(name)?.exclusive === true,
    unaskedSource: (name) => tools.unaskedSource?.(name) ?? null,
    continues: (name) => tools.get(name)?.continues === true,
    goOn: await continuingCalls(chat, sources, running),
    answers: await answeredCalls(chat, sources, running),
    ownLimit: (name) => tools.get(name)?.most_parallel,
    maxConcurrent: sources.settings.tools.max_concurrent,
    prefill: await sources.prefill?.() ?? false,
    byPerson,
  };
}

/** Checks the answers of calls that the person approved or rejected, by call id. */
async function answeredCalls(
  chat: Chat,
  sources: PlanSources,
  running: RunningCalls,
): Promise<ReadonlyMap<string, AnswersCheck>> {
  const found = new Map<string, AnswersCheck>();
  for (const call of liveCalls(chat)) {
    const result = chat.result(call.id);
    const isDecided = result?.status === "approved" || result?.status === "rejected";
    if (result === undefined || !isDecided || result.content !== "" || running.has(call.id)) continue;
    const check = await answersCheck(call, result, sources);
    if (check !== null) found.set(call.id, check);
  }
  return found;
}

/** Checks the answers in the block of a call; null if its server asked nothing. */
export async function answersCheck(
  call: Call,
  result: Result,
  { journal, checkAnswers }: Pick<PlanSources, "journal" | "checkAnswers">,
): Promise<AnswersCheck | null> {
  if (result.questions === null && journal.asked(call.id) === null) return null;
  const check = await checkAnswers?.(call, result) ?? null;
  return check === null && result.questions !== null ? { can: "nothing", why: QUESTIONS_GONE } : check;
}

/** Returns the pending calls that wait in another document, were approved here, and can go on. */
async function continuingCalls(
  chat: Chat,
  sources: PlanSources,
  running: RunningCalls,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  if (sources.goesOn === undefined) return found;
  for (const result of chat.results) {
    const helper = helperOf(result);
    const call = chat.call(result.id);
    if (helper === null || call === undefined || result.status !== "pending" || running.has(call.id)) {
      continue;
    }
    const approval = await recordedApproval(sources, call.id);
    const isApproved = approval !== null && approval.asked !== true && approval.hash === await callHash(call);
    if (isApproved && await sources.goesOn(call, helper)) found.add(call.id);
  }
  return found;
}

/** Returns why a call cannot run even if approved; empty if it can run, and for an unknown tool. */
export async function inputProblems(
  call: Call,
  { tools, checkInput }: Pick<PlanSources, "tools" | "checkInput">,
): Promise<readonly string[]> {
  const definition = tools.get(call.name);
  if (definition === undefined) return [];
  return call.flaw === null ? await checkInput(definition, call.input) : [`/: ${call.flaw}`];
}

export function kindIn(tools: Tools, name: string): ToolKind {
  return (tools.unaskedSource?.(name) ?? null) === null ? toolKind(tools.get(name)) : "unasked";
}

/** Returns the recorded approval of a call, if it is valid. */
export function recordedApproval(
  { journal, approvalOf = (id) => journal.approval(id) }: Pick<PlanSources, "journal" | "approvalOf">,
  id: string,
): Approval | null | Promise<Approval | null> {
  return approvalOf(id);
}

/** Returns who approved a call that was changed afterwards; null if nobody approved it or it was not changed. */
export async function changedSince(
  sources: Pick<PlanSources, "journal" | "approvalOf">,
  call: Call,
): Promise<"policy" | "person" | null> {
  const approval = await recordedApproval(sources, call.id);
  if (approval === null || approval.hash === await callHash(call)) return null;
  return approval.by;
}

/** Returns what calls of a tool may change; an unknown tool counts as `writes`. */
export function effectsOf(tools: Pick<Tools, "get">, name: string): Effects {
  return tools.get(name)?.effects ?? "writes";
}

export function toolKind(definition: ToolDefinition | undefined): ToolKind {
  if (definition === undefined) return "unknown";
  if (!isExecutable(definition)) return "definition-only";
  return definition.async === true ? "async" : "sync";
}
