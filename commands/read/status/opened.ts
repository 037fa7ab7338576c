// `flemma status` of a document as a session has it: calls that are open, what was decided about them and by whom.

import { contextFill } from "../../../agent/conversation/context_fill.ts";
import { reasonJson } from "../../../agent/views/explanation.ts";
import { recordsOf } from "../../../cycle/usage/log.ts";
import { fileChangeSentence, type RunSandbox } from "../../../sandbox/mod.ts";
import type { Invocation } from "../../invocation.ts";
import { Exit } from "../../io/exit.ts";
import { refuse } from "../../io/refuse.ts";
import { writeLines, writeOutput } from "../../io/streams.ts";
import { switchOption } from "../../line/options.ts";
import { openForReport } from "../../document/open.ts";
import { callJson, reportJson, sandboxSummary } from "./json.ts";
import { nextStep, reportLines } from "./report.ts";

/** Tells of a document by its session. */
export async function run(invocation: Invocation): Promise<number> {
  const opened = await openForReport(invocation);
  if ("exit" in opened) return opened.exit;
  const { label, file } = opened;
  await using session = opened.session;
  for (const notice of session.loaded.notices) invocation.messages.notice(notice);
  const { sandbox, settings, blockers, chat, doubts } = session;
  const holder = await session.holder();
  const calls = await session.calls();
  const login = await session.rules();
  if (!login.ok) return refuse(invocation, login.problem);
  const busy = calls.some(({ status }) => status === "running");
  const steps = busy ? [] : await session.plan();
  const used = session.path === null ? [] : await recordsOf(invocation.environment, session.path);
  const report = {
    file,
    chat,
    settings,
    calls,
    steps,
    next: busy ? "wait" : nextStep(chat, steps),
    blockers,
    holder,
    leftRunning: sandbox.leftRunning(),
    fileChanges: await session.fileChanges(),
    doubts,
    rules: login.value,
    used,
    fill: contextFill(settings, chat.byteLength, used),
  } as const;
  if (switchOption(invocation.arguments, "json") === true) {
    const summary = await sandboxSummary(sandbox, settings);
    const explained = await session.explain();
    const reasons = new Map((explained.ok ? explained.value : []).map((call) => [call.id, reasonJson(call)]));
    const json = reportJson(report, {
      document: session.path ?? label,
      calls: calls.map((call) => callJson(call, reasons.get(call.id))),
      sandbox: summary,
    });
    writeOutput(`${json}\n`);
    return Exit.ok;
  }
  const lines = reportLines(report, {
    sandbox: await sandboxSentence(sandbox, calls.length > 0),
    changes: report.fileChanges.map(fileChangeSentence),
  });
  writeLines(`${lines.join("\n")}\n`);
  return Exit.ok;
}

/** Only what is shown, and looked at only where a call waits for it: the look takes longer than all the rest. */
async function sandboxSentence(sandbox: RunSandbox, needed: boolean): Promise<string> {
  if (!sandbox.enabled) return "off";
  if (!needed) return "on";
  const available = await sandbox.available();
  return available.ok ? `on (${available.value})` : `not usable: ${available.problem.message}`;
}
