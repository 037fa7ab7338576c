// Public interface of the agent folder for hosts: open documents, new documents, and their types.

export type { FirstBlock, FrontmatterDiagnostic } from "../config/document/first_block.ts";
export type { LoadedSettings, SettingsOverrides } from "../config/sources/find.ts";
export type { PlanEnd, Step } from "../cycle/plan/types.ts";
export type { Resolution } from "../cycle/plan/resolution.ts";
export type { TargetSpec } from "../cycle/plan/targets.ts";
export type { Estimate } from "../cycle/send/estimate.ts";
export type { Prepared } from "../cycle/send/request.ts";
export type { Holder } from "../cycle/storage/lock.ts";
export type {
  AutopilotState,
  CycleEvent,
  DocumentStore,
  Emit,
  Growth,
  Piece,
  Reclaim,
  Stop,
  StopReason,
  UsageRecord,
} from "../cycle/types.ts";
export type { UsageTotal } from "../cycle/usage/record.ts";
export { newChat } from "./conversation/new_chat.ts";
export { chatInMemoryOfHost as chatInMemory, openChatOfHost as openChat } from "./open.ts";
export type * from "./types.ts";
export type { EditEvent, MessageEvent, RunEvent, StoppedEvent } from "./views/run_event.ts";
