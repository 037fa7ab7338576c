// Selects the backend of a run: the named one, or the first that works.

import { failure, type Outcome, type Problem, success, thrownText } from "../../base/problem.ts";
import type { BackendDiagnosis } from "./diagnose.ts";
import { CALLS_WAIT } from "../process/unsandboxed.ts";
import type { SetupFailure } from "../types.ts";
import type { BackendEntry, BackendRegistry } from "./registry.ts";

/** A backend that works. */
export interface FoundBackend {
  readonly entry: BackendEntry;
  /** Why calls wait for the person although the backend works; null if they need not. */
  readonly whyCallsWait: Problem | null;
}

/**
 * Tries the backends that `mode` allows, one after another, and diagnoses each. If a diagnosis throws, its result is
 * unknown. After a failure that may be temporary, only a backend that covers the whole policy is used. A backend that
 * only repairs protected files is used last, and calls wait then, unless `mode` names it.
 *
 * Fails with `unknown-backend`. If no backend can work on this machine, fails with `backend-unavailable` and all
 * reasons. If one of them might work, fails with `backend-setup`; then no command may run without a sandbox.
 */
export async function detect(
  registry: BackendRegistry,
  mode: string,
  diagnose: (entry: BackendEntry) => Promise<BackendDiagnosis>,
): Promise<Outcome<FoundBackend>> {
  if (mode === "auto" || mode === "required") return await firstWorking(registry.getAll(), diagnose);
  const named = registry.get(mode);
  if (named === null) {
    const known = registry.getAll().map(({ name }) => name);
    return failure(
      "unknown-backend",
      `There is no sandbox backend named "${mode}".`,
      `Set sandbox.backend to ${["auto", "required", ...known].join(", ")}.`,
    );
  }
  const found = await firstWorking([named], diagnose);
  return found.ok ? success({ ...found.value, whyCallsWait: null }) : found;
}

/** Why calls wait if the only backend that works repairs, and how the person chooses it. */
function waiting({ name }: BackendEntry, reasons: readonly Problem[]): Problem {
  const reported = reportedOf(reasons);
  const why = reported.map(({ message }) => `${message} `).join("");
  const remedy = reported.find(({ next }) => next !== undefined)?.next;
  const offer = `To use the sandbox ${name}, which covers less: flemma sandbox use ${name}`;
  return {
    code: CALLS_WAIT,
    message:
      `${why}The sandbox ${name} works, but it restores protected files only after a command. Until you choose it, calls wait for you.`,
    next: remedy === undefined ? offer : `${remedy} ${offer}`,
  };
}

/** Codes of reasons that say nothing about this machine. They are reported only if no backend has another reason. */
const UNREPORTED: ReadonlySet<string> = new Set(["other-system", "container-not-trusted"]);

async function firstWorking(
  entries: readonly BackendEntry[],
  diagnose: (entry: BackendEntry) => Promise<BackendDiagnosis>,
): Promise<Outcome<FoundBackend>> {
  const reasons: Problem[] = [];
  let unknown: Problem | null = null;
  let last: BackendEntry | null = null;
  for (const entry of entries) {
    if (unknown !== null && (entry.confines === false || entry.coverage !== undefined)) continue;
    const diagnosis = await guarded(entry, diagnose);
    if (diagnosis.kind === "works") {
      if (diagnosis.repairs !== true) return success({ entry, whyCallsWait: null });
      last ??= entry;
      continue;
    }
    if (diagnosis.kind === "unknown") unknown ??= diagnosis.problem;
    reasons.push({ ...diagnosis.problem, message: `${entry.name}: ${whyOf(diagnosis.problem)}` });
  }
  // If a better backend may work the next moment, nothing runs in this one.
  if (unknown !== null) {
    return { ok: false, problem: { ...explained(unknown, reasons), code: "backend-setup" } };
  }
  if (last !== null) return success({ entry: last, whyCallsWait: waiting(last, reasons) });
  const reported = reportedOf(reasons);
  const why = reported.length === 0
    ? "no backend is registered."
    : reported.map(({ message }) => message).join(" ");
  const next = reported.find(({ next }) => next !== undefined)?.next;
  return failure("backend-unavailable", `No sandbox works on this machine: ${why}`, next);
}

/** The problem, with the reasons of the other backends if they tell something. */
function explained(unknown: Problem, reasons: readonly Problem[]): Problem {
  const telling = reasons.filter(({ code }) => !UNREPORTED.has(code));
  if (telling.length < 2) return unknown;
  const message = `The sandbox could not be set up: ${telling.map(({ message }) => message).join(" ")}`;
  const remedies = new Set(telling.flatMap(({ next }) => next ?? []));
  return { ...unknown, message, next: remedies.size === 0 ? undefined : [...remedies].join(" ") };
}

function reportedOf(reasons: readonly Problem[]): readonly Problem[] {
  const telling = reasons.filter(({ code }) => !UNREPORTED.has(code));
  return telling.length > 0 ? telling : reasons;
}

/**
 * Returns the reason why a backend does not work. If the set-up failed, this is only the cause of the failure, because
 * the full message is about a command that did not run.
 */
function whyOf(problem: Problem & Pick<SetupFailure, "cause">): string {
  return problem.cause ?? problem.message;
}

async function guarded(
  entry: BackendEntry,
  diagnose: (entry: BackendEntry) => Promise<BackendDiagnosis>,
): Promise<BackendDiagnosis> {
  try {
    return await diagnose(entry);
  } catch (thrown) {
    const message = `The sandbox backend ${entry.name} failed: ${thrownText(thrown)}`;
    return { kind: "unknown", problem: { code: "backend-failed", message } };
  }
}
