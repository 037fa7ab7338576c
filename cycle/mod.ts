// The cycle of a document: what commands and the library use of this room.

export { type Cancelled, Cycle, type CycleParts } from "./run/cycle.ts";
export type { Step } from "./plan/types.ts";
export { type OpenCallSummary, summarizeOpenCalls } from "./plan/open_calls.ts";
export { callAtLine, resolveTargets, type TargetSpec } from "./plan/targets.ts";
export type * from "./types.ts";
