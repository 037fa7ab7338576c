// `flemma status` of a document, in a file or piped in, in which no call is open and that says nothing about settings: most
// of those that an editor asks about all day. Its session would be loaded and composed only to say that there is nothing to
// decide.

import { contextFill } from "../../../agent/conversation/context_fill.ts";
import { fileChangesOf } from "../../../agent/trust/file_changes.ts";
import { type ReadChat, standing } from "../../../agent/views/status.ts";
import type { ProposedRule } from "../../../agent/types.ts";
import type { Environment } from "../../../base/environment.ts";
import { mayBeThere } from "../../../base/files.ts";
import { sessionFolder } from "../../../base/folders.ts";
import { type Outcome, success } from "../../../base/problem.ts";
import { holderOf } from "../../../cycle/storage/lock.ts";
import { readDocument } from "../../../cycle/storage/read.ts";
import { recordsOf } from "../../../cycle/usage/log.ts";
import { parse } from "../../../parser/mod.ts";
import { absolutePath } from "../../../base/paths.ts";
import { leftRunning } from "../../../sandbox/process/leftovers.ts";
import { hostOptions } from "../../document/host.ts";
import type { Invocation } from "../../invocation.ts";
import { Exit } from "../../io/exit.ts";
import { writeLines, writeOutput } from "../../io/streams.ts";
import { switchOption } from "../../line/options.ts";
import { labelOf, namedPath, nameOf, refusalOf } from "../../document/read.ts";
import { nextStep, reportLines } from "./report.ts";

/** Tells of such a document; null, and nothing is told, where its session has to be asked. */
export async function quietStatus(invocation: Invocation): Promise<number | null> {
  const { arguments: given, environment, messages } = invocation;
  const host = hostOptions(invocation);
  const read = host.ok ? await readQuietly(invocation) : null;
  if (!host.ok || read === null) return null;
  const { path, chat } = read;
  const found = await standing(host.value, read);
  const rules = found === null ? null : await rulesOf(environment, path);
  if (found === null || rules === null || !rules.ok) return null;
  const { subject, steps, blockers } = found;
  const { settings } = subject;
  const used = path === null ? [] : await recordsOf(environment, path);
  const report = {
    file: read.file,
    chat,
    settings,
    calls: [],
    steps,
    next: nextStep(chat, steps),
    blockers,
    holder: path === null ? null : await holderOf(path, environment, settings.lock.place),
    leftRunning: leftRunning(environment),
    fileChanges: path === null ? [] : await fileChangesOf(environment, path),
    doubts: [],
    rules: rules.value,
    used,
    fill: contextFill(settings, chat.byteLength, used),
  };
  for (const notice of subject.loaded.notices) messages.notice(notice);
  if (switchOption(given, "json") === true) {
    const { reportJson, sandboxOf, sandboxSummary } = await import("./json.ts");
    const sandbox = await sandboxSummary(sandboxOf(environment, read, subject), settings);
    writeOutput(`${reportJson(report, { document: path ?? labelOf(invocation), calls: [], sandbox })}\n`);
    return Exit.ok;
  }
  const changed = report.fileChanges.length === 0 ? null : await import("../../../sandbox/mod.ts");
  const lines = reportLines(report, {
    sandbox: settings.sandbox.enabled ? "on" : "off",
    changes: report.fileChanges.map((change) => changed!.fileChangeSentence(change)),
  });
  writeLines(`${lines.join("\n")}\n`);
  return Exit.ok;
}

/** Reads the document without a word about what is wrong with it; null where something is. */
async function readQuietly(
  invocation: Invocation,
): Promise<ReadChat & { readonly file: string | null } | null> {
  const { arguments: { positionals: [file] }, environment, input } = invocation;
  if (file !== undefined && file !== "-") {
    const read = await readDocument(file, environment);
    if (!read.ok) return null;
    const { realPath: path, bytes } = read.value;
    return { file, path, named: absolutePath(environment, file), chat: parse(bytes) };
  }
  let bytes: Uint8Array;
  try {
    const piped = input.read();
    if (refusalOf(piped) !== null) return null;
    bytes = piped.bytes;
  } catch {
    return null; // Who opens it says why it cannot be read.
  }
  return { file: null, path: await namedPath(invocation), named: nameOf(invocation), chat: parse(bytes) };
}

/** The rules of this login. Most people have none, and then nothing that reads them is loaded. */
async function rulesOf(
  environment: Environment,
  document: string | null,
): Promise<Outcome<readonly ProposedRule[]>> {
  if (document === null || !mayBeThere(sessionFolder(environment).path)) return success([]);
  const { loginRules } = await import("../../../agent/rules/session_rules.ts");
  return await loginRules({ environment, document });
}
