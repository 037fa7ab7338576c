// Public interface of this folder: the cycle of a document, its plan, its calls and its types.

export { type Cancelled, Cycle, type CycleParts } from "./run/cycle.ts";
export type { Step } from "./plan/types.ts";
export { type OpenCallSummary, summarizeOpenCalls } from "./plan/open_calls.ts";
export { callAtLine, resolveTargets, type TargetSpec } from "./plan/targets.ts";
export type * from "./types.ts";
