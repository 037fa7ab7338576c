// A rule as a line that a person can edit: the short form, and back to what settings have.

import type { ProposedRule } from "../../../agent/types.ts";
import { failed, type Outcome, success } from "../../../base/problem.ts";
import { isCommandTool, shortRuleTable, type WrittenRule } from "../../../config/rules/read_rule.ts";

/** The rule in its short form, without what narrows it beside its patterns. */
export function lineOf({ written }: ProposedRule): string {
  const { approve, command, path } = written;
  const patterns = command ?? path;
  return Array.isArray(patterns)
    ? `${approve}(${patterns.map((each) => String(each).replaceAll(",", "\\,")).join(", ")})`
    : String(approve);
}

/**
 * The rule that a line stands for; the proposed one where the line says nothing else. A line of the person's own names
 * patterns for the same tool, and holds in the sandbox only where the proposed one does.
 */
export function ruleFrom(line: string, proposed: ProposedRule): Outcome<WrittenRule, string> {
  const text = line.trim();
  if (text === lineOf(proposed)) return success(proposed.written);
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
