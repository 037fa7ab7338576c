// Carries out a cancel request of another process in the run that the request addresses.

import type { Problem } from "../../../base/problem.ts";
import type { Cancelled } from "../../../cycle/mod.ts";
import { callAtLine, resolveTargets } from "../../../cycle/plan/targets.ts";
import { jobOf } from "../../../parser/view/jobs.ts";
import type { Call, Chat } from "../../../parser/types.ts";
import type { CancelAnswer, CancelRequest } from "./request.ts";

/** The running work on a document, and the ways to cancel it. */
export interface Cancellable {
  readonly chat: Chat;
  /** The running calls, in the order of their start. */
  readonly running: readonly Call[];
  readonly requesting: boolean;
  /** Ids of the background jobs that run. */
  readonly jobs: readonly string[];
  /**
   * Cancels one thing: the request; if none is running, the call that started first; if no call is running either, a
   * step that is about to begin. Returns null if there is nothing to cancel.
   */
  cancel(): Cancelled | null;
  /** Cancels one call; false if that call is not running. */
  cancelCall(id: string): boolean;
  /** Stops a background job; false if it is not running. */
  stopJob(id: string): boolean;
}

/** Carries out a request and reports the result. */
export function answerTo(request: CancelRequest, run: Cancellable): CancelAnswer {
  const done = carryOut(request, run);
  return {
    cancelled: "cancelled" in done ? done.cancelled : [],
    running: [
      ...run.running.map(({ id, name }) => ({ id, tool: name })),
      ...run.jobs.map((id) => ({ id, tool: "background job" })),
    ],
    requesting: run.requesting &&
      !("cancelled" in done && done.cancelled.some(({ what }) => what === "request")),
    problem: "problem" in done ? done.problem : null,
  };
}

type Done = { readonly cancelled: readonly Cancelled[] } | { readonly problem: Problem };

function carryOut(request: CancelRequest, run: Cancellable): Done {
  switch (request.kind) {
    case "list":
      return { cancelled: [] };
    case "one":
      return first(run);
    case "all":
      return all(run);
    case "call": {
      if (run.stopJob(request.text)) return { cancelled: [{ what: "job", id: request.text }] };
      const found = resolveTargets(run.chat, { kind: "id", text: request.text });
      if (!found.ok) return { problem: found.problem };
      const [id = ""] = found.value;
      return cancelCall(id, run) ?? stopJobOf(id, run) ?? { problem: notRunning(id, run) };
    }
    case "line": {
      const at = callAtLine(run.chat, request.line);
      return (at.ok ? cancelCall(at.value, run) ?? stopJobOf(at.value, run) : null) ?? first(run);
    }
  }
}

function first(run: Cancellable): Done {
  const cancelled = run.cancel();
  if (cancelled !== null) return { cancelled: [cancelled] };
  return { problem: run.jobs.length === 0 ? nothingRuns() : onlyJobsRun(run.jobs) };
}

/**
 * Cancels the request, every running call and every background job. If neither a request nor a call is running, cancels a step that is about
 * to begin.
 */
function all(run: Cancellable): Done {
  const cancelled: Cancelled[] = [];
  if (run.requesting) {
    const request = run.cancel();
    if (request !== null) cancelled.push(request);
  }
  for (const call of run.running) {
    const done = cancelCall(call.id, run);
    if (done !== null) cancelled.push(...done.cancelled);
  }
  for (const id of run.jobs) if (run.stopJob(id)) cancelled.push({ what: "job", id });
  return cancelled.length === 0 ? first(run) : { cancelled };
}

function cancelCall(id: string, run: Cancellable): { readonly cancelled: readonly Cancelled[] } | null {
  const tool = run.running.find((call) => call.id === id)?.name;
  if (tool === undefined || !run.cancelCall(id)) return null;
  return { cancelled: [{ what: "call", id, tool }] };
}

/** Stops the background job that a call started. */
function stopJobOf(id: string, run: Cancellable): { readonly cancelled: readonly Cancelled[] } | null {
  const result = run.chat.result(id);
  const job = result === undefined ? null : jobOf(result);
  return job !== null && run.stopJob(job) ? { cancelled: [{ what: "job", id: job }] } : null;
}

function notRunning(id: string, { running, requesting, jobs }: Cancellable): Problem {
  const others = [...running.map((call) => call.id), ...jobs];
  return {
    code: "not-running",
    message: `The call ${id} is not running.`,
    ...(others.length > 0
      ? { next: `Running: ${others.join(", ")}` }
      : requesting
      ? { next: "A request is running. To cancel it, name no call." }
      : {}),
  };
}

function onlyJobsRun(jobs: readonly string[]): Problem {
  return {
    code: "nothing-runs",
    message: "No request or call is running.",
    next: `To stop a background job, name it: ${jobs.join(", ")}`,
  };
}

export function nothingRuns(): Problem {
  return { code: "nothing-runs", message: "Nothing is running, so there is nothing to cancel." };
}
