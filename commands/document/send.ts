// `flemma send`: only the request. It refuses while calls have no result, since a model must get them all.

import { hostOf } from "../host.ts";
import { dryRun } from "../../cycle/send/send.ts";
import { getProvider } from "../../providers/registry.ts";
import { sendOnly } from "../../agent/send_only.ts";
import { compose } from "../../agent/session.ts";
import { diagnosticLine } from "../io/diagnostics.ts";
import { readForReport, withDocument } from "./open.ts";
import { drive } from "./drive.ts";
import { Exit } from "../io/exit.ts";
import type { Invocation } from "../invocation.ts";
import { switchOption } from "../line/options.ts";
import { refuse } from "../io/refuse.ts";
import { writeOutput } from "../io/streams.ts";

export async function run(invocation: Invocation): Promise<number> {
  if (switchOption(invocation.arguments, "dry-run") === true) return await showRequest(invocation);
  if (switchOption(invocation.arguments, "headers") === true) {
    return await withDocument(invocation, () => {
      invocation.messages.say("flemma: --headers goes with --dry-run.");
      return Promise.resolve(Exit.usage);
    });
  }
  return await withDocument(invocation, (document) => {
    return drive(invocation, document, (runtime) => sendOnly(runtime, document.interrupts.signal));
  });
}

/** Prints the request in place of sending it. A report: the document is only read. */
async function showRequest(invocation: Invocation): Promise<number> {
  const { messages, environment } = invocation;
  const opened = await readForReport(invocation, invocation.arguments.positionals[0]);
  if ("exit" in opened) return opened.exit;
  const { label, store } = opened;
  const runtime = await compose(hostOf(invocation), store, { emit: () => {} });
  if (!runtime.ok) return refuse(invocation, runtime.problem);
  const { settings, loaded, offered, evaluated, files } = runtime.value;
  for (const notice of loaded.notices) messages.notice(notice);
  const provider = getProvider(settings.provider);
  if (!provider.ok) return refuse(invocation, provider.problem);
  const prepared = await dryRun({
    chat: store.chat,
    document: store.path,
    settings,
    environment,
    provider: provider.value,
    tools: offered(),
    frontmatter: await evaluated(),
    files,
  });
  if (prepared.kind === "failed") return refuse(invocation, prepared.problem);
  for (const each of prepared.diagnostics) messages.say(diagnosticLine(label, each));
  if (prepared.kind === "blocked") return Exit.diagnostics;
  const { method, url, headers, body } = prepared.request;
  for (const warning of prepared.warnings) messages.note(`flemma: ${warning}`);
  if (switchOption(invocation.arguments, "headers") === true) {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    writeOutput([`${method} ${url}`, ...lines, "", ""].join("\n"));
  }
  writeOutput(body);
  return Exit.ok;
}
