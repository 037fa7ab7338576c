// `flemma status` of a document in which no call is open and that says nothing about settings: most of those that an editor
// asks about all day. Its session would be loaded, composed and probed only to say that there is nothing to decide.

import { contextFill } from "../../../agent/conversation/context_fill.ts";
import { fileChangesOf } from "../../../agent/review/file_changes.ts";
import { standing } from "../../../agent/views/standing.ts";
import type { ProposedRule } from "../../../agent/types.ts";
import type { Environment } from "../../../base/environment.ts";
import { isThere } from "../../../base/files.ts";
import { sessionFolder } from "../../../base/folders.ts";
import { type Outcome, success } from "../../../base/problem.ts";
import { holderOf } from "../../../cycle/storage/lock.ts";
import { readDocument } from "../../../cycle/storage/read.ts";
import { recordsOf } from "../../../cycle/usage/log.ts";
import { parse } from "../../../parser/mod.ts";
import { absolutePath } from "../../../base/paths.ts";
import { leftRunning } from "../../../sandbox/process/left_behind.ts";
import { hostOptions } from "../../host.ts";
import type { Invocation } from "../../invocation.ts";
import { Exit } from "../../io/exit.ts";
import { writeLines } from "../../io/streams.ts";
import { switchOption } from "../../line/options.ts";
import { nextStep, reportLines } from "./report.ts";

/** Tells of such a document; null, and nothing is told, where its session has to be asked. */
export async function quietStatus(invocation: Invocation): Promise<number | null> {
  const { arguments: given, environment, messages } = invocation;
  const [file] = given.positionals;
  if (file === undefined || file === "-" || switchOption(given, "json") === true) return null;
  const host = hostOptions(invocation);
  if (!host.ok) return null;
  const read = await readDocument(file, environment);
  if (!read.ok) return null;
  const { realPath: path, bytes } = read.value;
  const chat = parse(bytes);
  const found = await standing(host.value, { path, named: absolutePath(environment, file), chat });
  const rules = found === null ? null : await rulesOf(environment, path);
  if (found === null || rules === null || !rules.ok) return null;
  const { settings, notices, steps, blockers } = found;
  const changes = await fileChangesOf(environment, path);
  const changed = changes.length === 0 ? null : await import("../../../sandbox/mod.ts");
  const used = await recordsOf(environment, path);
  const lines = reportLines({
    file,
    chat,
    settings,
    calls: [],
    steps,
    next: nextStep(chat, steps),
    blockers,
    holder: await holderOf(path, environment, settings.lock.place),
    leftRunning: leftRunning(environment),
    fileChanges: changes.map((change) => changed!.fileChangeSentence(change)),
    sandbox: settings.sandbox.enabled ? "on" : "off",
    doubts: [],
    rules: rules.value,
    used,
    fill: contextFill(settings, chat.byteLength, used),
  });
  for (const notice of notices) messages.notice(notice);
  writeLines(`${lines.join("\n")}\n`);
  return Exit.ok;
}

/** The rules of this login. Most people have none, and then nothing that reads them is loaded. */
async function rulesOf(
  environment: Environment,
  document: string,
): Promise<Outcome<readonly ProposedRule[]>> {
  if (!isThere(sessionFolder(environment).path)) return success([]);
  const { loginRules } = await import("../../../agent/review/login_rules.ts");
  return await loginRules({ environment, document });
}
