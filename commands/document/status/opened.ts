// `flemma status` of a document as a session has it: calls that are open, what was decided about them and by whom.

import { contextFill } from "../../../agent/conversation/context_fill.ts";
import type { ChatSession, OpenCall } from "../../../agent/types.ts";
import { reasonJson } from "../../../agent/views/explanation.ts";
import { recordsOf } from "../../../cycle/usage/log.ts";
import { modelInForce } from "../../../providers/models/find.ts";
import { fileChangeSentence, type RunSandbox } from "../../../sandbox/mod.ts";
import type { Invocation } from "../../invocation.ts";
import { diagnosticJson } from "../../io/diagnostics.ts";
import { Exit } from "../../io/exit.ts";
import { refuse } from "../../io/refuse.ts";
import { safeJson } from "../../io/safe_json.ts";
import { writeLines, writeOutput } from "../../io/streams.ts";
import { usageJson } from "../../io/usage_json.ts";
import { switchOption } from "../../line/options.ts";
import { openForReport } from "../open.ts";
import { nextSentence, nextStep, reportLines } from "./report.ts";

/** Tells of a document by its session. */
export async function run(invocation: Invocation): Promise<number> {
  const opened = await openForReport(invocation);
  if ("exit" in opened) return opened.exit;
  const { label, file } = opened;
  await using session = opened.session;
  for (const notice of session.loaded.notices) invocation.messages.notice(notice);
  const { sandbox, blockers, chat, doubts } = session;
  const holder = await session.holder();
  const calls = await session.calls();
  const login = await session.rules();
  if (!login.ok) return refuse(invocation, login.problem);
  const rules = login.value;
  const busy = calls.some(({ status }) => status === "running");
  const steps = busy ? [] : await session.plan();
  const next = busy ? "wait" : nextStep(chat, steps);
  const used = session.path === null ? [] : await recordsOf(invocation.environment, session.path);
  const fill = contextFill(session.settings, chat.byteLength, used);
  if (switchOption(invocation.arguments, "json") === true) {
    const summary = await sandboxSummary(session);
    const document = session.path ?? label;
    const explained = await session.explain();
    const reasons = new Map((explained.ok ? explained.value : []).map((call) => [call.id, reasonJson(call)]));
    const files_changed = (await session.fileChanges())
      .map(({ path, change, obeyedBy }) => ({ path, change, obeyed_by: obeyedBy }));
    const report = {
      document,
      provider: session.settings.provider,
      model: modelInForce(session.settings),
      calls: calls.map((call) => ({ ...callJson(call), ...reasons.get(call.id) })),
      next,
      next_step: nextSentence(next, { chat, calls, document: file, steps, blockers }),
      problems: blockers.map(diagnosticJson),
      in_use_by: holder,
      left_running: sandbox.leftRunning(),
      files_changed,
      sandbox: summary,
      doubts,
      login_rules: rules.map(({ written }) => written),
      usage: usageJson(used),
      context: fill,
    };
    writeOutput(`${safeJson(report)}\n`);
    return Exit.ok;
  }
  const lines = reportLines({
    file,
    chat,
    settings: session.settings,
    calls,
    steps,
    next,
    blockers,
    holder,
    leftRunning: sandbox.leftRunning(),
    fileChanges: (await session.fileChanges()).map(fileChangeSentence),
    sandbox: await sandboxSentence(sandbox, calls.length > 0),
    doubts,
    rules,
    used,
    fill,
  });
  writeLines(`${lines.join("\n")}\n`);
  return Exit.ok;
}

/** A call as JSON has it. */
function callJson({ id, number, name, status, line, preview, verdict: { decision, source } }: OpenCall) {
  return { id, number, name, status, line, preview, decision, source };
}

/** Only what is shown, and looked at only where a call waits for it: the look takes longer than all the rest. */
async function sandboxSentence(sandbox: RunSandbox, needed: boolean): Promise<string> {
  if (!sandbox.enabled) return "off";
  if (!needed) return "on";
  const available = await sandbox.available();
  return available.ok ? `on (${available.value})` : `not usable: ${available.problem.message}`;
}

async function sandboxSummary({ sandbox, settings }: ChatSession) {
  const available = await sandbox.available();
  const { network } = settings.sandbox.policy;
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
