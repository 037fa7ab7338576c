// `flemma send`: sends only the request. It refuses to send while calls have no result, since a model needs all
// results.

import type { Invocation } from "../invocation.ts";
import { diagnosticLine } from "../io/diagnostics.ts";
import { Exit } from "../io/exit.ts";
import { refuse } from "../io/refuse.ts";
import { writeData } from "../io/streams.ts";
import { switchOption } from "../line/options.ts";
import { drive, goesOn } from "./drive.ts";
import { openForReport } from "../document/open.ts";

export async function run(invocation: Invocation): Promise<number> {
  if (switchOption(invocation.arguments, "dry-run") === true) return await showRequest(invocation);
  return await drive(invocation, ({ session }) => session.send({ goOn: goesOn(invocation) }));
}

/** Prints the request instead of sending it. The document is only read. */
async function showRequest(invocation: Invocation): Promise<number> {
  const { messages } = invocation;
  const opened = await openForReport(invocation);
  if ("exit" in opened) return opened.exit;
  const { label } = opened;
  await using session = opened.session;
  for (const notice of session.loaded.notices) messages.notice(notice);
  const prepared = await session.request();
  if (prepared.kind === "failed") return refuse(invocation, prepared.problem);
  for (const each of prepared.diagnostics) {
    if (each.severity !== "info") messages.say(diagnosticLine(label, each));
  }
  if (prepared.kind === "blocked") return Exit.diagnostics;
  const { method, url, headers, body } = prepared.request;
  for (const warning of prepared.warnings) messages.note(`flemma: ${warning}`);
  if (switchOption(invocation.arguments, "headers") === true) {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    writeData([`${method} ${url}`, ...lines, "", ""].join("\n"));
  }
  writeData(body);
  return Exit.ok;
}
