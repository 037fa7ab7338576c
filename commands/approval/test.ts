// `flemma approval test`: shows what the policy decides about commands, with current settings and trial rules.

import type { ExplainedCall } from "../../agent/types.ts";
import { createCommandEvaluator } from "../../agent/views/evaluate_commands.ts";
import { absolutePath, normalPath } from "../../base/paths.ts";
import { hostOptions } from "../document/host.ts";
import type { Invocation } from "../invocation.ts";
import { refuse } from "../io/refuse.ts";
import { safeJson } from "../io/safe_json.ts";
import { writeLines, writeOutput } from "../io/streams.ts";
import { listOption, switchOption, textOption } from "../line/options.ts";
import { decidedBy } from "../../agent/review/decided_by.ts";
import { explanationJson } from "../../agent/views/explanation.ts";
import { DECISION_WORDS, exitOfDecisions } from "./decisions.ts";

export async function run(invocation: Invocation): Promise<number> {
  const { arguments: given } = invocation;
  const folder = textOption(given, "cwd");
  const cwd = folder === undefined
    ? invocation.environment.cwd
    : normalPath(absolutePath(invocation.environment, folder));
  if (!isFolder(cwd)) return refuse(invocation, { code: "usage", message: `There is no folder ${folder}.` });
  const environment = { ...invocation.environment, cwd };
  const host = hostOptions({ ...invocation, environment });
  if (!host.ok) return refuse(invocation, host.problem);
  const evaluate = await createCommandEvaluator({
    host: host.value,
    environment,
    tool: textOption(given, "tool") ?? "bash",
    rules: listOption(given, "rule"),
  });
  if (!evaluate.ok) return refuse(invocation, evaluate.problem);
  const commands = given.positionals.length > 0 ? given.positionals : linesOf(invocation);
  if (commands.length === 0) {
    const next = 'Write one command per line, or name it: flemma approval test "git push"';
    return refuse(invocation, { code: "usage", message: "Standard input has no command to test.", next });
  }
  const found: ExplainedCall[] = [];
  const asJson = switchOption(given, "json") === true;
  for (const command of commands) {
    const explained = await evaluate.value(command);
    found.push(explained);
    if (!asJson) writeLines(`${lineOf(command, explained)}\n`);
  }
  if (asJson) {
    writeOutput(
      `${safeJson(found.map((each, at) => ({ command: commands[at], ...explanationJson(each) })))}\n`,
    );
  }
  return exitOfDecisions(found);
}

/** Returns the lines of standard input, each of which is one command. */
function linesOf({ input }: Invocation): string[] {
  return new TextDecoder().decode(input.read().bytes).split("\n").filter((line) => line.trim() !== "");
}

/** Returns the decision, the command, and the rule or the part that decided. */
function lineOf(command: string, { decision, source, detail, commands }: ExplainedCall): string {
  const stopped = commands.find((part) => part.rule === null);
  const why = detail !== null
    ? detail
    : source !== "default"
    ? `by ${decidedBy(source)}`
    : stopped === undefined
    ? "no rule matches"
    : `"${stopped.text}": ${stopped.why}`;
  return `${DECISION_WORDS[decision].padEnd(7)}  ${command.replaceAll("\n", "↵")}   ${why}`;
}

function isFolder(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    // Any error here would also keep commands from starting in the folder, so the folder counts as unusable.
    return false;
  }
}
