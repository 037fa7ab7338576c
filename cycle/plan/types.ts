// The inputs of a plan, and the steps it consists of.

import type { ApprovalDecision } from "../../tools/approval/types.ts";
import type { Effects } from "../../tools/definition.ts";
import type { StartedCall, StopReason } from "../types.ts";
import type { Resolution, ToolKind } from "./resolution.ts";

/** The ids of the calls that run now; a `Set` is one. */
export interface RunningCalls {
  readonly size: number;
  has(id: string): boolean;
  /** True if a call did not run, because the person has to do something else first. @default never */
  isHeld?(id: string): boolean;
}

/** What can be done with the answers to a server's questions. */
export type AnswersCheck =
  /** They go to the server: the answers, or that the person declined. */
  | { readonly can: "send" }
  /** The person has to correct them; `why` continues "The answers of ID cannot be sent: ". */
  | { readonly can: "wait"; readonly why: string }
  /** The call gets this error result. */
  | { readonly can: "nothing"; readonly why: string };

/** Everything that a plan depends on in addition to the document. Maps use call ids as keys. */
export interface PlanInputs {
  /** Answers of the approval chain for the calls that `questions` selects. */
  readonly decisions: ReadonlyMap<string, ApprovalDecision>;
  /** Problems of inputs that the schema of their tool rejects. */
  readonly invalid: ReadonlyMap<string, readonly string[]>;
  /** Calls that were changed after their approval, each with who had approved it. */
  readonly changed: ReadonlyMap<string, "policy" | "person">;
  /** Calls that an earlier run started and did not finish. */
  readonly interrupted: ReadonlyMap<string, StartedCall>;
  /** Paths of the saved results of interrupted calls that finished but could not be written. */
  readonly kept: ReadonlyMap<string, string>;
  readonly running: RunningCalls;
  readonly toolKind: (name: string) => ToolKind;
  /** Returns what calls of a tool may change. @default anything */
  readonly effects?: (name: string) => Effects;
  readonly closestTool: (name: string) => string | null;
  /** Returns whether a call of this tool keeps all other calls of its reply from running. @default no tool does */
  readonly runsAlone?: (name: string) => boolean;
  /** Returns the source that may provide an `unasked` tool. @default unknown */
  readonly unaskedSource?: (name: string) => string | null;
  /**
   * Returns whether a call of this tool goes on when it is run again, so that a killed run need not be reported.
   * @default no tool does
   */
  readonly continues?: (name: string) => boolean;
  /** Calls that waited in another document and go on now. @default none */
  readonly goOn?: ReadonlySet<string>;
  /** The answers to servers in blocks that the person approved or rejected. @default no server asked */
  readonly answers?: ReadonlyMap<string, AnswersCheck>;
  /** Returns the maximum number of calls of a tool that takes no slot of the others; undefined for all other tools. */
  readonly ownLimit?: (name: string) => number | undefined;
  /** Maximum number of calls in parallel; 0 means no limit. */
  readonly maxConcurrent: number;
  /** True if the model continues its own turn. */
  readonly prefill: boolean;
  /** False if the autopilot started the step; notices are then not repeated. */
  readonly byPerson: boolean;
}

/** The end of a step that sends no request: a reason to stop, or a point from which the run may continue. */
export type PlanEnd =
  | Extract<StopReason, "pending" | "protected" | "last-word" | "answered" | "batched">
  /** Some calls were approved; `ids` are those that wait for a free slot. */
  | "ran"
  /** Only error results were written. */
  | "resolved"
  /** There is nothing to do until the running tools finish. */
  | "running";

/** One part of a plan, in the order of execution. */
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
  /** Remove the status from a block that the user filled. */
  | { readonly do: "strip"; readonly id: string }
  /** Set an approved call back to pending. */
  | { readonly do: "demote"; readonly id: string; readonly source: string }
  /** Bind an approval to the new text of a changed call that policy approves again. */
  | { readonly do: "confirm"; readonly id: string; readonly decided: ApprovalDecision }
  /** Set a call that waited in another document to approved, because it goes on. */
  | { readonly do: "go-on"; readonly id: string }
  | { readonly do: "run"; readonly id: string }
  | { readonly do: "notice"; readonly code: string; readonly message: string; readonly id?: string }
  /** Every plan ends with either `rest` or `send`. */
  | { readonly do: "rest"; readonly at: PlanEnd; readonly ids: readonly string[] }
  | { readonly do: "send" };
