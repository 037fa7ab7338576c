// Converts a rule to one line that a person can edit, and back to the form of settings.

import type { ProposedRule } from "../../../agent/types.ts";
import { failed, type Outcome, success } from "../../../base/problem.ts";
import { isCommandTool, shortRuleTable, type WrittenRule } from "../../../config/rules/read_rule.ts";

/** Returns the short form of the rule: its tool and patterns, without other restrictions. */
export function formatRule({ written }: ProposedRule): string {
  const { approve, command, path } = written;
  const patterns = command ?? path;
  return Array.isArray(patterns)
    ? `${approve}(${patterns.map((each) => String(each).replaceAll(",", "\\,")).join(", ")})`
    : String(approve);
}

/**
 * Returns the rule for an edited line; the proposed rule if the line is unchanged. An edited line names patterns for
 * the same tool, and stays limited to the sandbox if the proposed rule is.
 */
export function ruleFrom(line: string, proposed: ProposedRule): Outcome<WrittenRule, string> {
  const text = line.trim();
  if (text === formatRule(proposed)) return success(proposed.written);
  const { approve, command, sandboxed } = proposed.written;
  const inside = sandboxed === true ? { sandboxed } : {};
  if (/^[\w:.-]+$/.test(text)) return success({ approve: text, ...inside });
  const table = shortRuleTable(
    text,
    "approve",
    (tool) => tool === approve ? command !== undefined : isCommandTool(tool),
  );
  if (table.ok) return success({ ...table.value, ...inside });
  return failed(table.problem.map(({ message }) => message).join("; "));
}
