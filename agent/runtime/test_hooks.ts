// Tests the hooks before a call of a document: runs them, but not the call.

import type { Call } from "../../parser/types.ts";
import type { Decide } from "../../tools/approval/mod.ts";
import type { Runtime } from "./types.ts";
import type { ExplainedCall } from "../types.ts";
import { explainCall } from "../views/explain.ts";
import type { RanHook } from "../conversation/hooks/hooks.ts";

/** The decision about a call, and the hooks that were asked. */
export interface TestedHooks {
  readonly explained: ExplainedCall;
  /** The hooks that ran, in configured order; empty if none matches, or if the call is denied without them. */
  readonly ran: readonly RanHook[];
}

/** Asks the hooks before a call, as a run does before the call is approved. */
export async function testHooks(call: Call, runtime: Runtime, signal: AbortSignal): Promise<TestedHooks> {
  const { decide, preview, rules, hooks, subject: { settings } } = runtime;
  hooks?.begin();
  const asking: Decide = (each, options) => decide(each, { ...options, hooks: { signal, approved: false } });
  const explained = await explainCall(call, { decide: asking, preview, rules, settings: settings.tools });
  return { explained, ran: hooks?.deciding.askedAbout(call.id) ?? [] };
}
