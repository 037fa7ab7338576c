// Selects the backend of a run: the named one, or the first that works.

import { failure, type Outcome, type Problem, success, thrownText } from "../../base/problem.ts";
import type { BackendDiagnosis } from "./diagnose.ts";
import type { SetupFailure } from "../types.ts";
import type { BackendEntry, BackendRegistry } from "./registry.ts";

/**
 * Tries the backends that `mode` allows, one after another, and diagnoses each. If a diagnosis throws, its result is
 * unknown. After a failure that may be temporary, only a backend that itself confines commands is used.
 *
 * Fails with `unknown-backend`. If no backend can work on this machine, fails with `backend-unavailable` and all
 * reasons. If one of them might work, fails with `backend-setup`; then no command may run without a sandbox.
 *
 * @param isPresent whether a backend that only the person may choose is present
 */
export async function detect(
  registry: BackendRegistry,
  mode: string,
  diagnose: (entry: BackendEntry) => Promise<BackendDiagnosis>,
  isPresent: (entry: BackendEntry) => Promise<boolean> = () => Promise.resolve(false),
): Promise<Outcome<BackendEntry>> {
  if (mode === "auto" || mode === "required") {
    const all = registry.getAll();
    const found = await firstWorking(all.filter(({ onlyByName }) => onlyByName !== true), diagnose);
    return found.ok ? found : await withOffer(found.problem, all, isPresent);
  }
  const named = registry.get(mode);
  if (named === null) {
    const known = registry.getAll().map(({ name }) => name);
    return failure(
      "unknown-backend",
      `There is no sandbox backend named "${mode}".`,
      `Set sandbox.backend to ${["auto", "required", ...known].join(", ")}.`,
    );
  }
  return await firstWorking([named], diagnose);
}

/** Adds to the problem of a machine how to choose a backend that only the person may choose. */
async function withOffer(
  problem: Problem,
  entries: readonly BackendEntry[],
  isPresent: (entry: BackendEntry) => Promise<boolean>,
): Promise<Outcome<never>> {
  if (problem.code !== "backend-unavailable") return { ok: false, problem };
  for (const entry of entries.filter(({ onlyByName }) => onlyByName)) {
    if (!await isPresent(entry)) continue;
    const offer = `To use the sandbox ${entry.name}, which covers less: flemma sandbox use ${entry.name}`;
    const next = problem.next === undefined ? offer : `${problem.next} ${offer}`;
    return { ok: false, problem: { ...problem, next } };
  }
  return { ok: false, problem };
}

/** Codes of reasons that say nothing about this machine. They are reported only if no backend has another reason. */
const UNREPORTED: ReadonlySet<string> = new Set(["other-system", "container-not-trusted"]);

async function firstWorking(
  entries: readonly BackendEntry[],
  diagnose: (entry: BackendEntry) => Promise<BackendDiagnosis>,
): Promise<Outcome<BackendEntry>> {
  const reasons: Problem[] = [];
  let unknown: Problem | null = null;
  for (const entry of entries) {
    if (unknown !== null && entry.confines === false) continue;
    const diagnosis = await guarded(entry, diagnose);
    if (diagnosis.kind === "works") return success(entry);
    if (diagnosis.kind === "unknown") unknown ??= diagnosis.problem;
    reasons.push({ ...diagnosis.problem, message: `${entry.name}: ${whyOf(diagnosis.problem)}` });
  }
  if (unknown !== null) return { ok: false, problem: { ...unknown, code: "backend-setup" } };
  const telling = reasons.filter(({ code }) => !UNREPORTED.has(code));
  const reported = telling.length > 0 ? telling : reasons;
  const why = reported.length === 0
    ? "no backend is registered."
    : reported.map(({ message }) => message).join(" ");
  const next = reported.find(({ next }) => next !== undefined)?.next;
  return failure("backend-unavailable", `No sandbox works on this machine: ${why}`, next);
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
