// Evaluates the policy for commands and paths outside of any document, under the current settings and trial rules.

import type { Environment } from "../../base/environment.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import { readRule, readShortRule } from "../../config/rules/read_rule.ts";
import type { PlacedRule, Rule } from "../../config/rules/rule.ts";
import { openSeenFiles } from "../../cycle/storage/seen_files.ts";
import { rulesOf } from "../../tools/approval/rules_of.ts";
import { sandboxOf } from "../sandbox.ts";
import { blocksOf, type SettingsHost, subjectSettings } from "../settings.ts";
import { waitForTool } from "../extensions/waiting.ts";
import { createDecideCall, registerTools } from "../tools.ts";
import type { ExplainedCall } from "../types.ts";
import { explainCall } from "./explain.ts";

export interface CommandTrial {
  readonly host: SettingsHost;
  readonly environment: Environment;
  readonly tool: string;
  /** Rules in addition to the settings, in the short form or as JSON objects. */
  readonly rules: readonly string[];
}

/** Evaluates several texts one after another, each as the command, or as the path, of a call. */
export type EvaluateText = (text: string) => Promise<ExplainedCall>;

/**
 * Prepares an evaluation. Fails with what is wrong in the settings or the rules, or if the tool takes neither a
 * command nor a path.
 */
export async function createCommandEvaluator(
  { host, environment, tool, rules: tried }: CommandTrial,
): Promise<Outcome<EvaluateText>> {
  const subject = await subjectSettings(host, { path: null, ...blocksOf(null) });
  if (!subject.ok) return subject;
  const added: PlacedRule[] = [];
  for (const text of tried) {
    const rule = ruleOf(text);
    if (!rule.ok) return rule;
    added.push({ rule: rule.value, written: text, key: "--rule", layer: "C" });
  }
  const { loaded } = subject.value;
  const settings = {
    ...subject.value.settings,
    tools: { ...subject.value.settings.tools, rules: [...subject.value.settings.tools.rules, ...added] },
  };
  const sandbox = sandboxOf(environment, { path: null }, { settings, loaded });
  // Tools of servers take neither a command nor a path, so no server is started.
  const withoutServers = { ...settings, mcp: { ...settings.mcp, servers: {} } };
  const registered = await registerTools(
    { settings: withoutServers, environment, document: null, sandbox },
    host.tools,
  );
  if (!registered.ok) return registered;
  const { tools } = registered.value;
  // A module or tool file may bring the tool, or replace a built-in one.
  await waitForTool(tool, tools, () => {}, { asked: "code" });
  const definition = tools.get(tool);
  const member = definition?.command_input ?? definition?.path_input;
  if (member === undefined) {
    const what = definition === undefined
      ? "There is no tool"
      : "Neither a command nor a path is given to the tool";
    return failure("usage", `${what} ${tool}.`);
  }
  const rules = await rulesOf({ settings, tools, sandbox, environment, document: null, loaded });
  const seen = await openSeenFiles(environment, null);
  const decideCall = createDecideCall(
    { tools, settings, sandbox, environment, document: null, seen, rules, paths: null },
    [],
    () => {},
  );
  if (!decideCall.ok) return decideCall;
  return success((text) =>
    explainCall({ id: "", name: tool, input: { [member]: text } }, {
      decide: decideCall.value,
      rules,
      settings: settings.tools,
      preview: () => text,
    })
  );
}

/** Parses a rule of the command line: `bash(git log **)`, `deny bash(git push **)`, or a JSON object. */
function ruleOf(text: string): Outcome<Rule> {
  const [, word = "approve", short = text] = /^(approve|ask|deny)\s+(.*)$/s.exec(text) ?? [];
  const read = text.trimStart().startsWith("{")
    ? tableOf(text)
    : readShortRule(short, word as Rule["decision"]);
  if (read.ok) return read;
  const why = read.problem.map(({ member, message }) => (member === null ? message : `${member} ${message}`));
  return failure(
    "usage",
    `"${text}" is not a rule: ${why.join("; ")}.`,
    "Write it like bash(git log **), deny bash(git push **), or as a table in JSON.",
  );
}

function tableOf(text: string): ReturnType<typeof readRule> {
  try {
    return readRule(JSON.parse(text));
  } catch {
    return { ok: false, problem: [{ member: null, message: "it is not JSON" }] };
  }
}
