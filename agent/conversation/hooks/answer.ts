// Reads what a hook answered: its exit code, its output, and decisions in JSON.

import { isObject } from "../../../base/is_object.ts";
import type { HookEvent } from "../../../config/hooks/definition.ts";
import { cutText } from "./hook_text.ts";

/** How a hook ended. */
export interface HookEnd {
  /** Exit code; null if a signal ended it. */
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  /** True if the hook printed more than was kept. */
  readonly isCut: boolean;
  readonly stderr: string;
  /** What is wrong with the script that the command begins with. */
  readonly scriptFault: ScriptFault | null;
}

/** What is wrong with the file of a script. */
export type ScriptFault =
  | { readonly kind: "missing" }
  /** Counts only if the shell refuses the script: an interpreter runs it nevertheless. */
  | { readonly kind: "not-executable"; readonly remedy: string };

/** What a hook says. */
export interface HookAnswer {
  /** `deny` also means that a message is blocked, or that the model continues. */
  readonly decision: "deny" | "ask" | "allow" | null;
  /** The reason of a decision; empty if the hook gives none. */
  readonly reason: string;
  /** Text for the model; empty if there is none. */
  readonly context: string;
  /** Text for the person; empty if there is none. */
  readonly notice: string;
  /** Input that the hook wants in place of the call's; null if it wants none. */
  readonly updatedInput: Readonly<Record<string, unknown>> | null;
  /** True if the hook ends the run. */
  readonly endsRun: boolean;
  readonly code: number;
}

/** An answer, or why the hook failed, as the end of the sentence "The hook NAME …". */
export type HookOutcome = { readonly answer: HookAnswer } | { readonly failed: string };

const NOTHING = {
  decision: null,
  reason: "",
  context: "",
  notice: "",
  updatedInput: null,
  endsRun: false,
} as const;

/** Reads the answer of a hook that has ended. */
export function readAnswer(event: HookEvent, end: HookEnd): HookOutcome {
  const { code, signal, stdout, stderr, isCut, scriptFault } = end;
  if (code === null || signal !== null) return { failed: `was killed by ${signal ?? "a signal"}` };
  if (scriptFault?.kind === "missing") return { failed: "names a script that does not exist" };
  if (code === 126 && scriptFault !== null) {
    return { failed: `could not be started, because its script is not executable (${scriptFault.remedy})` };
  }
  if (code === 126 || code === 127) {
    return { failed: `could not be started (exit code ${code})${firstLine(stderr)}` };
  }
  if (code === 2) {
    const reason = stderr.trim();
    if (reason === "") return { failed: "exited with code 2 without a reason on standard error" };
    return { answer: { ...NOTHING, decision: "deny", reason: cutText(reason), code } };
  }
  const text = stdout.trim();
  if (!text.startsWith("{")) {
    if (code !== 0) return { failed: failedWith(code, stderr) };
    // For other events, words on standard output are for a log.
    return { answer: { ...NOTHING, context: event === "UserPromptSubmit" ? cutText(text) : "", code } };
  }
  const value = isCut ? null : parsed(text);
  if (value === null) {
    return { failed: code === 0 ? "printed JSON that cannot be read" : failedWith(code, stderr) };
  }
  return readDecision(event, value, code);
}

function readDecision(event: HookEvent, value: Record<string, unknown>, code: number): HookOutcome {
  const specific = isObject(value.hookSpecificOutput) ? value.hookSpecificOutput : {};
  const word = event === "PreToolUse" ? specific.permissionDecision ?? value.decision : value.decision;
  const decision = wordMeaning(event, word);
  if (decision === undefined) {
    return { failed: `answered with the unknown decision ${JSON.stringify(word)}` };
  }
  const { updatedInput } = specific;
  if (updatedInput !== undefined && updatedInput !== null && !isObject(updatedInput)) {
    return { failed: "answered with an updatedInput that is not a table" };
  }
  const endsRun = value.continue === false;
  const stopReason = textIn(value.stopReason);
  return {
    answer: {
      decision: endsRun && event === "PreToolUse" ? "deny" : decision,
      reason: cutText(textIn(specific.permissionDecisionReason) || textIn(value.reason) || stopReason),
      context: cutText(textIn(specific.additionalContext)),
      notice: cutText(textIn(value.systemMessage)),
      updatedInput: isObject(updatedInput) ? updatedInput : null,
      endsRun,
      code,
    },
  };
}

/** Returns the meaning of a decision's word; undefined for an unknown word. */
function wordMeaning(event: HookEvent, word: unknown): HookAnswer["decision"] | undefined {
  if (word === undefined || word === null) return null;
  if (event !== "PreToolUse") return word === "block" ? "deny" : word === "approve" ? null : undefined;
  switch (word) {
    case "allow":
    case "approve":
      return "allow";
    case "deny":
    case "block":
      return "deny";
    case "ask":
    case "defer":
      return "ask";
    default:
      return undefined;
  }
}

function failedWith(code: number, stderr: string): string {
  return `exited with code ${code}${firstLine(stderr)}`;
}

function firstLine(stderr: string): string {
  const [line = ""] = stderr.trim().split("\n", 1);
  return line === "" ? "" : `: ${line.slice(0, 200)}`;
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function textIn(value: unknown): string {
  return typeof value === "string" ? value.trim() : "";
}
