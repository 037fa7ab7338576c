// What a press by a person, and all that follows from it, came to.

import type { Problem } from "../base/problem.ts";
import type { Chat } from "../parser/types.ts";
import { firstLine, survey } from "./plan/open_calls.ts";
import type { Stop, StopReason } from "./types.ts";

export class PressOutcome {
  /** Set when the press ends for a reason that the document does not show. */
  stop: Stop | null = null;
  /** Calls stopped by the person; null when nobody cancelled anything. */
  cancelled: readonly string[] | null = null;
  /** Calls whose tools asked for the person. */
  readonly yielded: string[] = [];
  /** The reply that just came has calls: the next press must find work. */
  expectsWork = false;

  /** True when nothing more may be started. */
  get over(): boolean {
    return this.stop !== null || this.cancelled !== null;
  }

  /** Ends the press with a problem; the first one counts. */
  fail(problem: Problem): void {
    this.stop ??= stopped(problem.code === "document-changed" ? "conflict" : "failed", { problem });
  }

  /** Notes that the person stopped something, possibly before any call ran. */
  cancel(ids: readonly string[]): void {
    this.cancelled = [...this.cancelled ?? [], ...ids];
  }

  /** How the press ended, once everything is quiet: what the document waits for, unless something else was. */
  conclude(chat: Chat): Stop {
    const of = (reason: StopReason, ids: readonly string[]): Stop =>
      stopped(reason, { ids, line: firstLine(chat, ids) });
    if (this.stop !== null) return this.stop;
    if (this.cancelled !== null) return of("cancelled", this.cancelled);
    const { approved, pending, protected: guarded } = survey(chat);
    if (approved.length > 0) return of("throttled", approved);
    if (pending.length > 0) return of("pending", pending);
    if (guarded.length > 0) return of("protected", guarded);
    return this.yielded.length > 0 ? of("yield", this.yielded) : stopped("stepped");
  }
}

/** A stop with no calls and no line unless given. */
export function stopped(reason: StopReason, rest: Partial<Omit<Stop, "reason">> = {}): Stop {
  return { ids: [], line: null, ...rest, reason };
}
