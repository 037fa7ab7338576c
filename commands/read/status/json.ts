// Formats `flemma status --json` for one document, including the state of its sandbox.

import type { OpenCall, OpenQuestions, WaitingHelper } from "../../../agent/types.ts";
import type { reasonJson } from "../../../agent/views/explanation.ts";
import type { Settings } from "../../../config/settings.generated.ts";
import { currentModel } from "../../../providers/models/choice.ts";
import type { RunSandbox } from "../../../sandbox/mod.ts";
import { findingJson } from "../../io/diagnostics.ts";
import { safeJson } from "../../io/safe_json.ts";
import { usageJson } from "../../io/usage_json.ts";
import { nextSentence, type Report } from "./report.ts";

export { sandboxOf } from "../../../agent/sandbox.ts";

interface SandboxSummary {
  readonly enabled: boolean;
  readonly backend: string | null;
  readonly available: boolean;
  readonly network: "allowed" | "blocked" | "list";
  readonly error: string | null;
}

/** Returns a call with the reasons for its decision, if known. */
export function callJson(call: OpenCall, reason: ReturnType<typeof reasonJson> | undefined) {
  const { id, number, name, status, line, preview, decided: { decision, source }, helper, questions } = call;
  const waits_for = helper === null ? [] : helperCalls(helper);
  return {
    id,
    number,
    name,
    status,
    line,
    preview,
    decision,
    source,
    ...reason,
    waits_for,
    questions: questionsJson(questions),
  };
}

/** Returns what the server of a call asks; null if it asks nothing. */
function questionsJson(questions: OpenQuestions | null) {
  if (questions === null) return null;
  const { text, problem } = questions;
  return { text, problem };
}

/** A call that waits in the document of a helper. */
interface HelperCallJson {
  /** The target that `approve` takes for it. */
  readonly address: string;
  readonly document: string;
  readonly id: string;
  readonly name: string;
  readonly status: OpenCall["status"];
  readonly line: number;
  readonly preview: string;
}

/** Returns the calls that wait in the document of a helper, and in those of its own helpers. */
function helperCalls(helper: WaitingHelper, above = ""): readonly HelperCallJson[] {
  const { path: document, calls } = helper;
  return calls.flatMap(({ id, name, status, line, preview, helper: below }) => {
    const address = `${above}${helper.name}/${id}`;
    return [
      { address, document, id, name, status, line, preview },
      ...below === null ? [] : helperCalls(below, `${above}${helper.name}/`),
    ];
  });
}

export function reportJson(
  report: Report,
  { document, calls, sandbox }: {
    /** Real path of the document, or its label. */
    readonly document: string;
    readonly calls: readonly ReturnType<typeof callJson>[];
    readonly sandbox: SandboxSummary;
  },
): string {
  const {
    chat,
    settings,
    steps,
    next,
    blockers,
    holder,
    waiting,
    leftRunning,
    doubts,
    rules,
    used,
    fill,
    instructions,
  } = report;
  return safeJson({
    document,
    provider: settings.provider,
    model: currentModel(settings),
    fallback: settings.fallback,
    wait_for_limit: settings.run.wait_for_limit,
    calls,
    next,
    next_step: nextSentence(next, { chat, calls: report.calls, document: report.file, steps, blockers }),
    problems: blockers.map(findingJson),
    in_use_by: holder,
    waiting_run: waiting === null ? null : { pid: waiting.pid, host: waiting.host },
    jobs: report.jobs,
    left_running: leftRunning,
    files_changed: report.fileChanges.map(({ path, change, obeyedBy, diff }) => ({
      path,
      change,
      obeyed_by: obeyedBy,
      ...(diff === undefined ? {} : { diff }),
    })),
    sandbox,
    doubts,
    login_rules: rules.map(({ written }) => written),
    usage: usageJson(used),
    context: fill,
    instructions: instructions.map(({ path, bytes, where, leftOut }) => ({
      path,
      bytes,
      where,
      left_out: leftOut,
    })),
  });
}

/** Checks the sandbox, which takes longer than the rest of the report. */
export async function sandboxSummary(
  sandbox: RunSandbox,
  { sandbox: { policy: { network } } }: Settings,
): Promise<SandboxSummary> {
  const available = await sandbox.available();
  const backend = sandbox.enabled ? await sandbox.backend() : null;
  return {
    enabled: sandbox.enabled,
    backend: backend?.ok ? backend.value.name : null,
    available: available.ok,
    network: network === true
      ? "allowed"
      : network === false || network.allow.length === 0
      ? "blocked"
      : "list",
    error: available.ok ? null : available.problem.message,
  };
}
