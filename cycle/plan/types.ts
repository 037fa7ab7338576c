// What a plan is made from, and the steps it consists of.

import type { ApprovalDecision } from "../../tools/approval/types.ts";
import type { Effects } from "../../tools/definition.ts";
import type { StartedCall, StopReason } from "../types.ts";
import type { Resolution, ToolKind } from "./resolution.ts";

/** The calls that run now; a set of ids is one. */
export interface RunningCalls {
  readonly size: number;
  has(id: string): boolean;
}

/** Everything a plan depends on besides the document. Maps go by call id. */
export interface PlanInputs {
  /** Answers of the approval chain for the calls named by `questions`. */
  readonly decisions: ReadonlyMap<string, ApprovalDecision>;
  /** Problems of inputs that their tool's schema refuses. */
  readonly invalid: ReadonlyMap<string, readonly string[]>;
  /** Approvals whose call was changed afterwards, and who had given them. */
  readonly changed: ReadonlyMap<string, "policy" | "person">;
  /** Calls that a run of the program which ended early had started. */
  readonly interrupted: ReadonlyMap<string, StartedCall>;
  /** Where the results of interrupted calls are that ran to their end and could not be written. */
  readonly kept: ReadonlyMap<string, string>;
  readonly running: RunningCalls;
  readonly toolKind: (name: string) => ToolKind;
  /** What calls of a tool may change. @default anything */
  readonly effects?: (name: string) => Effects;
  readonly closestTool: (name: string) => string | null;
  /** Whether of a reply with a call of that tool only this call runs. @default no tool is like that */
  readonly runsAlone?: (name: string) => boolean;
  /** The source that may have a tool which is `unasked`. @default unknown */
  readonly unaskedSource?: (name: string) => string | null;
  /** Calls that may run in parallel; 0 = no limit. */
  readonly maxConcurrent: number;
  /** Whether the model continues from its own turn. */
  readonly prefill: boolean;
  /** False when the autopilot advances: notices are not repeated then. */
  readonly byPerson: boolean;
}

/** Where an advance ends when it does not send: a reason to stop, or a point from which the run may go on. */
export type PlanEnd =
  | Extract<StopReason, "pending" | "protected" | "last-word" | "answered">
  /** Approved calls were met; `ids` are those left for want of a free slot. */
  | "ran"
  /** Only error results were written. */
  | "resolved"
  /** Nothing to do until the running tools are done. */
  | "running";

/** One thing that an advance does, in the order in which it is done. */
export type Step =
  /** Insert a placeholder. */
  | {
    readonly do: "place";
    readonly id: string;
    readonly status: "pending" | "approved";
    readonly decided: ApprovalDecision;
  }
  /** Write an error result, over the block or as a new one. */
  | {
    readonly do: "resolve";
    readonly id: string;
    readonly because: Resolution;
    readonly text: string;
    readonly decided?: ApprovalDecision;
  }
  /** Take the status off a block the person filled. */
  | { readonly do: "strip"; readonly id: string }
  /** Approved before, for the person again. */
  | { readonly do: "demote"; readonly id: string; readonly source: string }
  /** A changed call that policy approves again: bind the approval to the new text. */
  | { readonly do: "confirm"; readonly id: string; readonly decided: ApprovalDecision }
  | { readonly do: "run"; readonly id: string }
  | { readonly do: "notice"; readonly code: string; readonly message: string; readonly id?: string }
  /** The last step of a plan is one of these two. */
  | { readonly do: "rest"; readonly at: PlanEnd; readonly ids: readonly string[] }
  | { readonly do: "send" };
