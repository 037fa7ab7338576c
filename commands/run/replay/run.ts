// `flemma replay run`: replays conversations as regression tests of their project.

import { openChat } from "../../../agent/open.ts";
import { absolutePath, isInside, parentOf } from "../../../base/paths.ts";
import { failure, type Outcome, type Problem, success, thrownText } from "../../../base/problem.ts";
import { readDocument } from "../../../cycle/storage/read.ts";
import { writeResult } from "../../../parser/edits/placement.ts";
import { parse } from "../../../parser/mod.ts";
import { hostOptions } from "../../document/host.ts";
import type { Invocation } from "../../invocation.ts";
import { Exit, exitOf, worstExit } from "../../io/exit.ts";
import { Interrupts } from "../../io/interrupt.ts";
import { refuse } from "../../io/refuse.ts";
import { safeJson } from "../../io/safe_json.ts";
import { writeLines, writeOutput } from "../../io/streams.ts";
import { switchOption, textOption } from "../../line/options.ts";
import { findRecordedHelpers } from "./helpers.ts";
import { type DocumentToPlay, play } from "./play.ts";
import type { Played } from "./player.ts";
import { formatJunit, formatTap, isAsRecorded, plainLines, type Replayed } from "./report.ts";

export async function run(invocation: Invocation): Promise<number> {
  const { arguments: given, environment, messages } = invocation;
  const host = hostOptions(invocation);
  if (!host.ok) return refuse(invocation, host.problem);
  const interrupts = new Interrupts((fault, exit) => {
    if (fault !== null) messages.say(`flemma: Internal error: ${fault}`);
    messages.close(exit);
    return exit;
  });
  try {
    const codes: number[] = [];
    const replayed: Replayed[] = [];
    for (const file of given.positionals) {
      if (interrupts.received) break;
      const all = await replay(invocation, file, interrupts.signal);
      replayed.push(...all);
      for (const one of all) {
        if (one.problem !== null) codes.push(interrupts.received ? Exit.interrupted : exitOf(one.problem));
        else codes.push(isAsRecorded(one) ? Exit.ok : Exit.failure);
      }
    }
    tell(invocation, replayed);
    const path = textOption(given, "junit");
    if (path !== undefined) {
      try {
        await Deno.writeTextFile(absolutePath(environment, path), formatJunit(replayed));
      } catch (thrown) {
        messages.say(`flemma: ${path} cannot be written: ${thrownText(thrown)}.`);
        codes.push(Exit.failure);
      }
    }
    return interrupts.received ? Exit.interrupted : worstExit(codes);
  } finally {
    interrupts.dispose();
  }
}

/** Next step if a document cannot be replayed. */
const RECORDED = "Name a document in which tools ran.";

/** Replays a document and its helpers. The document comes first. */
async function replay(
  invocation: Invocation,
  file: string,
  signal: AbortSignal,
): Promise<readonly Replayed[]> {
  const { arguments: given, environment } = invocation;
  const none = (problem: Problem): readonly Replayed[] => [{ file, played: [], problem }];
  const host = hostOptions(invocation);
  if (!host.ok) return none(host.problem);
  const read = await readDocument(file, environment);
  // The usual advice does not fit, because a new, empty document would have nothing to replay.
  if (!read.ok) return none({ ...read.problem, next: RECORDED });
  const own = { path: read.value.realPath, chat: parse(read.value.bytes) };
  const bare = switchOption(given, "sandbox") === false;
  const checked = await checkTrust(file, host.value, bare);
  if (!checked.ok) return none(checked.problem);
  const folder = folderOf(invocation, own.path, checked.value);
  if (!folder.ok) return none(folder.problem);
  const found = await findRecordedHelpers(own, environment);
  if (!found.ok) return none(found.problem);
  const helpers: DocumentToPlay[] = [];
  for (const each of found.value) {
    const trusted = await checkTrust(each.path, host.value, bare);
    if (!trusted.ok) return none(trusted.problem);
    helpers.push({ ...each, workFolder: trusted.value });
  }
  const played = await play({ ...own, workFolder: checked.value }, {
    host: host.value,
    folder: folder.value,
    helpers,
    keepsFiles: switchOption(given, "update") === true,
    bare,
    lenient: switchOption(given, "lenient") === true,
    signal,
  });
  if (!played.ok) return none(played.problem);
  if (played.value.every(({ played }) => played.length === 0)) {
    return none({
      code: "nothing-to-replay",
      message: `${file} has no calls with results, so nothing was replayed.`,
      next: RECORDED,
    });
  }
  const all: Replayed[] = [];
  for (const { path, played: results } of played.value) {
    const shown = path === own.path ? file : nameBeside(file, own.path, path);
    if (switchOption(given, "update") !== true) {
      all.push({ file: shown, played: results, problem: null });
      continue;
    }
    const problem = await update(path === own.path ? file : path, results, host.value);
    const updated = results.map((each) => ({ ...each, differs: [] }));
    all.push({ file: shown, played: problem === null ? updated : results, problem });
  }
  return all;
}

/** Returns the path of a helper, written like that of the document whose folder contains it. */
function nameBeside(file: string, path: string, helper: string): string {
  return `${file}${helper.slice(path.length)}`;
}

/**
 * Refuses a document that weakens the sandbox without the person's agreement. A replay executes each call
 * without asking, so no later question would catch it. Returns the document's working folder; null for its own.
 */
async function checkTrust(
  file: string,
  host: Parameters<typeof openChat>[1],
  bare: boolean,
): Promise<Outcome<string | null>> {
  const opened = await openChat(file, { ...host, readOnly: true });
  if (!opened.ok) return opened;
  await using session = opened.value;
  // A disabled sandbox is refused by another check.
  const [doubt] = bare || !session.sandbox.enabled ? [] : session.doubts;
  return doubt === undefined
    ? success(session.settings.cwd)
    : failure("document-not-trusted", `Nothing was replayed. ${doubt}`);
}

/**
 * Returns the folder to copy: the document's own or the working folder around it, or the one that `--folder` names around
 * it.
 */
function folderOf(
  { arguments: given, environment }: Invocation,
  path: string,
  workFolder: string | null,
): Outcome<string> {
  const named = textOption(given, "folder");
  if (named === undefined) {
    return success(workFolder !== null && isInside(path, workFolder) ? workFolder : parentOf(path));
  }
  try {
    const folder = Deno.realPathSync(absolutePath(environment, named));
    if (isInside(path, folder)) return success(folder);
    return failure("usage", `--folder ${named} does not contain the document.`);
  } catch (thrown) {
    return failure("usage", `--folder ${named} cannot be used: ${thrownText(thrown)}.`);
  }
}

async function update(
  file: string,
  played: readonly Played[],
  host: Parameters<typeof openChat>[1],
): Promise<Problem | null> {
  const changed = played.filter(({ differs, found }) => differs.length > 0 && found !== null);
  if (changed.length === 0) return null;
  const opened = await openChat(file, host);
  if (!opened.ok) return opened.problem;
  await using session = opened.value;
  for (const { recorded: { id }, found } of changed) {
    const call = session.chat.call(id);
    if (call === undefined || found === null) continue;
    const { content, isError: error, language, attachments } = found;
    const block = { content, error, language, attachments };
    const problem = await session.edit(writeResult(session.chat, call, block));
    if (problem !== null) return problem;
  }
  return null;
}

function tell({ arguments: given, messages }: Invocation, replayed: readonly Replayed[]): void {
  if (switchOption(given, "tap") === true) return writeLines(formatTap(replayed));
  if (switchOption(given, "json") === true) {
    const value = replayed.map(({ file, played, problem }) => ({
      document: file,
      results: played.map(({ recorded: { id, name, line }, differs, found }) => ({
        id,
        name,
        line,
        outcome: found === null ? "left out" : differs.length === 0 ? "same" : "different",
        diff: differs,
      })),
      problem,
    }));
    return writeOutput(`${safeJson(value)}\n`);
  }
  for (const each of replayed) {
    for (const line of plainLines(each)) {
      if (isAsRecorded(each)) messages.note(line);
      else messages.say(line);
    }
  }
}
