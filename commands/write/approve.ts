// `flemma approve`: marks calls as approved by a person; `--always` also adds rules for this session. Runs nothing.

import { joinNames } from "../../base/names.ts";
import type { CallTarget, ChatSession, ProposedRule } from "../../agent/types.ts";
import { failed, type Outcome, type Problem, success } from "../../base/problem.ts";
import { operands } from "../../base/shell_word.ts";
import { resolveAll } from "../../cycle/plan/targets.ts";
import type { Invocation } from "../invocation.ts";
import { switchOption } from "../line/options.ts";
import { markCalls } from "./change_status.ts";
import { specOf } from "../line/targets.ts";

export async function run(invocation: Invocation): Promise<number> {
  const always = switchOption(invocation.arguments, "always") === true;
  return await markCalls(invocation, {
    done: "Approved",
    mark: async (session, targets, file) => {
      if (!always) return await session.approve(...targets);
      const rules = await rulesFor(session, targets);
      if (!rules.ok) return rules;
      const approved = await session.approve(...targets);
      if (!approved.ok) return approved;
      for (const { written } of rules.value) {
        const added = await session.addRule(written);
        if (!added.ok) return failed(notSaved(added.problem, approved.value));
      }
      for (const line of describeRules(rules.value, file)) invocation.messages.note(line);
      return approved;
    },
  });
}

/** Proposes a rule for each call, before any text is changed. */
async function rulesFor(
  session: ChatSession,
  targets: readonly CallTarget[],
): Promise<Outcome<readonly ProposedRule[]>> {
  const found = resolveAll(session.chat, targets.map(specOf));
  if (!found.ok) return found;
  const rules: ProposedRule[] = [];
  for (const id of found.value.ids) {
    const rule = await session.proposeRule(id);
    if (!rule.ok) return failed({ ...rule.problem, next: "Approve it this time only: leave out --always." });
    rules.push(rule.value);
  }
  return success(rules);
}

function notSaved(problem: Problem, ids: readonly string[]): Problem {
  return { ...problem, message: `${joinNames(ids)} is approved this time only. ${problem.message}` };
}

/** Returns the rules that apply now, and how to undo them. */
function describeRules(rules: readonly ProposedRule[], file: string | null): string[] {
  const of = file === null ? "" : ` ${operands(file)}`;
  return [
    ...rules.map(({ text }) => `For this document, in this session: ${text}`),
    `Undo with: flemma session reset${of === "" ? " FILE" : of}`,
  ];
}
