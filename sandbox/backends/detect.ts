// Which backend serves a run: the named one, or the first that works (sandbox section 5 and 6.2).

import { failure, type Outcome, success, thrownText } from "../../base/problem.ts";
import type { BackendEntry, BackendRegistry } from "./registry.ts";

/**
 * Asks the backends that `mode` allows; `check` answers for one of them, presence and probe. A backend that
 * throws counts as unavailable.
 *
 * Fails with `unknown-backend`, or with `backend-unavailable` and the reason of every backend that was asked.
 */
export async function detect(
  registry: BackendRegistry,
  mode: string,
  check: (entry: BackendEntry) => Promise<Outcome<void>>,
): Promise<Outcome<BackendEntry>> {
  if (mode === "auto" || mode === "required") return await firstWorking(registry.getAll(), check);
  const named = registry.get(mode);
  if (named === null) {
    const known = registry.getAll().map(({ name }) => name);
    return failure(
      "unknown-backend",
      `There is no sandbox backend called "${mode}".`,
      `Set sandbox.backend to ${["auto", "required", ...known].join(", ")}.`,
    );
  }
  return await firstWorking([named], check);
}

async function firstWorking(
  entries: readonly BackendEntry[],
  check: (entry: BackendEntry) => Promise<Outcome<void>>,
): Promise<Outcome<BackendEntry>> {
  const reasons: string[] = [];
  let next: string | undefined;
  for (const entry of entries) {
    const answer = await guarded(entry, check);
    if (answer.ok) return success(entry);
    reasons.push(`${entry.name}: ${answer.problem.message}`);
    next ??= answer.problem.next;
  }
  const why = reasons.length === 0 ? "no backend is registered." : reasons.join(" ");
  return failure("backend-unavailable", `No sandbox works here: ${why}`, next);
}

async function guarded(
  entry: BackendEntry,
  check: (entry: BackendEntry) => Promise<Outcome<void>>,
): Promise<Outcome<void>> {
  try {
    return await check(entry);
  } catch (thrown) {
    return failure("backend-failed", thrownText(thrown));
  }
}
