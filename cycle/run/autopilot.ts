// The autopilot as a pure state machine.

import type { AutopilotState } from "../types.ts";

export interface Autopilot {
  readonly state: AutopilotState;
  /** Number of replies with tool calls that were processed so far in this run. */
  readonly turns: number;
  readonly enabled: boolean;
  readonly maxTurns: number;
}

/** Facts about the document once nothing runs. */
export interface Check {
  readonly open: boolean;
  /** Empty approved blocks, or denied, rejected or aborted blocks remain. */
  readonly actionable: boolean;
  /** An empty pending block or a protected one remains. */
  readonly blocked: boolean;
  /** A tool returned control to the user. */
  readonly yielded: boolean;
}

export type AutopilotEvent =
  | { readonly kind: "response"; readonly hasCalls: boolean }
  /** The step ran approved calls, or only wrote error results. */
  | { readonly kind: "worked" }
  /** The step ended at a protected block. */
  | { readonly kind: "protected" }
  | { readonly kind: "check"; readonly check: Check }
  /** The user executed one call by hand. */
  | { readonly kind: "executed-one" }
  | { readonly kind: "cancel" };

/** What the cycle does next: take another step, report that the limit is reached, or wait for the user. */
export type AutopilotEffect = "advance" | "limit" | "pause" | null;

export interface Transition {
  readonly autopilot: Autopilot;
  readonly effect: AutopilotEffect;
}

export function startAutopilot(
  settings: { readonly enabled: boolean; readonly max_turns: number },
): Autopilot {
  return { state: "idle", turns: 0, enabled: settings.enabled, maxTurns: settings.max_turns };
}

/** Returns the next state and the resulting effect. While the autopilot is off nothing changes. */
export function react(autopilot: Autopilot, event: AutopilotEvent): Transition {
  const stay: Transition = { autopilot, effect: null };
  const to = (state: AutopilotState, effect: AutopilotEffect = null): Transition => ({
    autopilot: { ...autopilot, state },
    effect,
  });
  if (!autopilot.enabled) return stay;
  switch (event.kind) {
    case "response": {
      if (!event.hasCalls) return stay;
      const turns = autopilot.turns + 1;
      const over = turns > autopilot.maxTurns;
      return {
        autopilot: { ...autopilot, turns, state: over ? "idle" : "armed" },
        effect: over ? "limit" : "advance",
      };
    }
    case "worked":
      return to("armed");
    case "protected":
      return to("paused", "pause");
    case "check":
      return autopilot.state === "armed" ? afterCheck(event.check, stay, to) : stay;
    case "executed-one":
      return autopilot.state === "paused" ? to("armed") : stay;
    case "cancel":
      return { autopilot: { ...autopilot, state: "idle", turns: 0 }, effect: null };
  }
}

function afterCheck(
  check: Check,
  stay: Transition,
  to: (state: AutopilotState, effect: AutopilotEffect) => Transition,
): Transition {
  if (check.open) return stay;
  // This is checked before `blocked`, so that calls that waited for a slot still run before the user is asked.
  if (check.actionable) return to("sending", "advance");
  if (check.blocked || check.yielded) return to("paused", "pause");
  return to("sending", "advance");
}
