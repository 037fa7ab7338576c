// `flemma approval show`: shows calls in full, with the change that each call would make to a file.

import type { ChatSession, ShownCall, ShownPart } from "../../agent/types.ts";
import { type Outcome, success } from "../../base/problem.ts";
import { openForReport } from "../document/open.ts";
import { targetsOf } from "../line/targets.ts";
import type { Invocation } from "../invocation.ts";
import { Exit } from "../io/exit.ts";
import { refuse } from "../io/refuse.ts";
import { safeJson } from "../io/safe_json.ts";
import { writeLines, writeOutput } from "../io/streams.ts";
import { type Arguments, numberOption, switchOption } from "../line/options.ts";

export async function run(invocation: Invocation): Promise<number> {
  const { arguments: given } = invocation;
  const opened = await openForReport(invocation);
  if ("exit" in opened) return opened.exit;
  await using session = opened.session;
  const shown = await shownCalls(session, given);
  if (!shown.ok) return refuse(invocation, shown.problem);
  const calls = shown.value;
  const texts = calls.map((call) => textOf(call));
  if (switchOption(given, "json") === true) {
    writeOutput(`${safeJson(calls.map((call, at) => ({ ...call, text: texts[at] })))}\n`);
    return Exit.ok;
  }
  const printed = texts.map((lines) => `${lines.join("\n")}\n`);
  writeLines(printed.length === 0 ? "There are no open calls.\n" : printed.join("\n"));
  return Exit.ok;
}

/** Returns the named calls in order; without names, the open calls. */
async function shownCalls(session: ChatSession, given: Arguments): Promise<Outcome<readonly ShownCall[]>> {
  const words = given.positionals.slice(1);
  if (words.length === 0 && numberOption(given, "line") === undefined) return await session.showOpen();
  const calls: ShownCall[] = [];
  for (const target of targetsOf(words, given)) {
    const shown = await session.show(target);
    if (!shown.ok) return shown;
    calls.push(shown.value);
  }
  return success(calls);
}

/**
 * Returns a call as lines: its tool, the facts to know before deciding, its whole input. The parts are already safe to
 * show.
 */
function textOf({ id, number, tool, line, parts, warnings, folder, wall }: ShownCall): string[] {
  return [
    `${tool} (${id})   call ${number}, line ${line}`,
    `in ${folder}, ${wall}`,
    ...warnings.map((warning) => `! ${warning}`),
    ...parts.flatMap(partLines),
  ];
}

function partLines({ kind, name, text }: ShownPart): string[] {
  const lines = text.replace(/\n$/, "").split("\n");
  // A diff is not indented, so that editors recognize it.
  if (kind === "diff") return ["", ...lines, ""];
  return lines.length === 1 ? [`${name}: ${text}`] : [`${name}:`, ...lines.map((each) => `    ${each}`)];
}
