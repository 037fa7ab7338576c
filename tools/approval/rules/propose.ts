// Proposes the rule that the answer "always" writes for one call: the narrowest rule that approves the same call
// again.

import { failed, failure, type Outcome, success } from "../../../base/problem.ts";
import { shellWord } from "../../../base/shell_word.ts";
import { readRule, ruleText, type WrittenRule } from "../../../config/rules/read_rule.ts";
import type { PlacedRule } from "../../../config/rules/rule.ts";
import { isBounded } from "../../definition.ts";
import { readStrictly } from "../shell/read.ts";
import { evaluateCommands } from "./approve_command.ts";
import { evaluateCall, type RuleParts } from "./evaluate.ts";

/** A rule that approves one call again. */
export interface ProposedRule {
  /** The rule as settings write it. */
  readonly written: WrittenRule;
  /** The rule in one line. */
  readonly text: string;
}

interface AskedCall {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/**
 * Returns a rule for a call. The rule matches the exact words of a command or the exact path, or else only the tool.
 * It applies only inside the sandbox if the call would run there.
 *
 * @param parts inputs for evaluating rules; the rules among them are ignored
 * @returns the rule. Fails with `rule-impossible` if no rule can approve the call, with the reason.
 */
export async function proposeRule(call: AskedCall, parts: RuleParts): Promise<Outcome<ProposedRule>> {
  const members = await membersFor(call, parts);
  if (!members.ok) {
    return failure("rule-impossible", `No rule can approve this call again: ${members.problem}.`);
  }
  const isInside = isBounded(parts.tool(call.name)) && await parts.isSandboxed();
  const sandboxed = isInside ? { sandboxed: true } : {};
  return await checkedRule({ approve: call.name, ...members.value, ...sandboxed }, call, parts);
}

/**
 * Returns a rule that a person wrote for a call, if it approves that call.
 *
 * @returns the rule. Fails with `rule-invalid` for text that is not an approving rule, and with `rule-impossible` for a
 * rule that does not approve the call.
 */
export async function checkedRule(
  written: WrittenRule,
  call: AskedCall,
  parts: RuleParts,
): Promise<Outcome<ProposedRule>> {
  const rule = readRule(written);
  if (!rule.ok) {
    const faults = rule.problem.map(({ member, message }) =>
      member === null ? message : `${member} ${message}`
    );
    return failure("rule-invalid", `This is not a rule: ${faults.join("; ")}.`);
  }
  if (rule.value.decision !== "approve") return failure("rule-invalid", "This rule approves nothing.");
  const placed: PlacedRule = { rule: rule.value, written, key: "tools.rules", layer: "R" };
  const { approved, why } = await evaluateCall(call.name, call.input, { ...parts, rules: [placed] });
  if (approved) return success({ written, text: ruleText(rule.value) });
  return failure(
    "rule-impossible",
    `This rule does not approve this call: ${why ?? "it applies to another tool"}.`,
  );
}

/** Returns the members that narrow the rule to the call, or the reason why there are none, as the end of a sentence. */
async function membersFor(
  { name, input }: AskedCall,
  parts: RuleParts,
): Promise<Outcome<WrittenRule, string>> {
  const { command_input, path_input } = parts.tool(name) ?? {};
  const command = command_input === undefined ? undefined : input[command_input];
  if (command_input !== undefined && typeof command === "string") {
    const patterns = await patternsOf(name, command, parts);
    if (!patterns.ok) return patterns;
    // If there are several commands, the rule also requires the complete text. Otherwise it would also approve each
    // command alone, or the same commands in another order or folder.
    const whole = patterns.value.length > 1 ? { input: { [command_input]: command } } : {};
    return success({ command: patterns.value, ...whole });
  }
  if (path_input === undefined) return success({});
  const { path } = await evaluateCall(name, input, { ...parts, rules: [] });
  if (path === null) return success({});
  return path.real === null
    ? failed("the path cannot be resolved")
    : success({ path: [literalGlob(path.real)] });
}

/** Patterns that match exactly the words of each simple command. */
async function patternsOf(
  name: string,
  command: string,
  parts: RuleParts,
): Promise<Outcome<readonly string[], string>> {
  const { parse } = await parts.loadShell();
  const reading = readStrictly(command, parse);
  if (reading.opaque !== null) return failed(`the command contains ${reading.opaque}`);
  const world = parts.worldNow();
  const cwd = parts.folderOf(name);
  const patterns = new Set<string>();
  for (const { words, opaque, text } of evaluateCommands(reading, { ...parts, cwd, world, rules: [] })) {
    if (opaque !== null) return failed(`"${text}" contains ${opaque}`);
    const known = words.filter((word) => word !== null);
    if (known.length < words.length) {
      return failed(`"${text}" contains words that the shell expands`);
    }
    patterns.add(known.map(shellWord).join(" "));
  }
  return patterns.size > 0 ? success([...patterns]) : failed("it contains no command");
}

/** A path pattern that matches only this path. */
function literalGlob(path: string): string {
  return path.replace(/[*?[\]{}\\!]/g, "\\$&");
}
