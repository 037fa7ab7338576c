// The cycle of a document: what commands and the library use of this room.

export { Cycle, type CycleParts } from "./cycle.ts";
export type { Step } from "./plan.ts";
export { type Survey, survey } from "./survey.ts";
export { callAtLine, resolveTargets, type TargetSpec } from "./target.ts";
export type * from "./types.ts";
