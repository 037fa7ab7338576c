// `flemma approval explain`: explains the approval decision of each call.

import { openForReport } from "../document/open.ts";
import type { Invocation } from "../invocation.ts";
import { Exit } from "../io/exit.ts";
import { refuse } from "../io/refuse.ts";
import { safeJson } from "../io/safe_json.ts";
import { writeLines, writeOutput } from "../io/streams.ts";
import { switchOption } from "../line/options.ts";
import { explanationJson, explanationLines } from "../../agent/views/explanation.ts";

export async function run(invocation: Invocation): Promise<number> {
  const opened = await openForReport(invocation);
  if ("exit" in opened) return opened.exit;
  await using session = opened.session;
  const explained = await session.explain(...invocation.arguments.positionals.slice(1));
  if (!explained.ok) return refuse(invocation, explained.problem);
  if (switchOption(invocation.arguments, "json") === true) {
    writeOutput(`${safeJson(explained.value.map(explanationJson))}\n`);
    return Exit.ok;
  }
  const texts = explained.value.map((call) => explanationLines(call).join("\n"));
  if (texts.length === 0) texts.push("There are no open calls.");
  for (const doubt of session.doubts) texts.push(`trust: ${doubt}`);
  writeLines(`${texts.join("\n\n")}\n`);
  return Exit.ok;
}
