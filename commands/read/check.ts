// `flemma check`: prints diagnostics, one per line.

import { blocksOf } from "../../agent/settings.ts";
import { openJobFindings } from "../../agent/runtime/jobs/open_findings.ts";
import { diagnoseDocument, doubtFindings } from "../../agent/views/diagnose.ts";
import { visible } from "../../base/visible.ts";
import { diagnosticLine, findingJson } from "../io/diagnostics.ts";
import { readForReport, type ReadText, settingsFor } from "../document/read.ts";
import { approvedCalls } from "../../agent/trust/approved_calls.ts";
import { Exit } from "../io/exit.ts";
import type { Invocation } from "../invocation.ts";
import { switchOption } from "../line/options.ts";
import { refuse } from "../io/refuse.ts";
import { safeJson } from "../io/safe_json.ts";
import { writeOutput } from "../io/streams.ts";

interface Report {
  readonly document: string;
  readonly diagnostics: readonly ReturnType<typeof findingJson>[];
}

export async function run(invocation: Invocation): Promise<number> {
  const { positionals } = invocation.arguments;
  const asJson = switchOption(invocation.arguments, "json") === true;
  const reports: Report[] = [];
  let exit: number = Exit.ok;
  for (const file of positionals.length === 0 ? [undefined] : positionals) {
    const opened = await readForReport(invocation, file);
    if ("exit" in opened) {
      exit = opened.exit;
      continue;
    }
    const { label, path, chat } = opened;
    const subject = await settingsFor(invocation, { path, ...blocksOf(chat) });
    if (!subject.ok) return refuse(invocation, subject.problem);
    const { environment } = subject.value;
    const doubts = await doubtsOf(invocation, opened);
    if ("exit" in doubts) return doubts.exit;
    const jobs = path === null ? [] : await openJobFindings(environment, path, chat);
    const found = [...doubtFindings(chat, doubts), ...jobs];
    const { diagnostics, blocked } = await diagnoseDocument(
      { path, chat },
      environment,
      subject.value,
      found,
    );
    if (blocked && exit === Exit.ok) exit = Exit.diagnostics;
    if (asJson) reports.push({ document: label, diagnostics: diagnostics.map(findingJson) });
    else for (const each of diagnostics) writeOutput(`${visible(diagnosticLine(label, each))}\n`);
  }
  if (asJson) writeOutput(`${safeJson(reports)}\n`);
  return exit;
}

/** Why calls that say `approved` wait all the same. A document without such a call needs no session. */
async function doubtsOf(
  invocation: Invocation,
  read: ReadText,
): Promise<readonly string[] | { readonly exit: number }> {
  if (approvedCalls(read.chat).length === 0) return [];
  const { openAsRead } = await import("../document/open.ts");
  const opened = await openAsRead(invocation, read);
  if ("exit" in opened) return opened;
  await using session = opened;
  return session.doubts;
}
