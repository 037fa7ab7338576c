// The session rules of one document: adds the rule for the answer "always", and removes it again.

import type { Environment } from "../../base/environment.ts";
import { failed, failure, type Outcome, success } from "../../base/problem.ts";
import { readRule, ruleText, type WrittenRule } from "../../config/rules/read_rule.ts";
import { itemsOf } from "../../config/layers/rules.ts";
import {
  addToSession,
  readSession,
  sessionPath,
  takeFromSession,
} from "../../config/sources/session_overrides.ts";
import type { SettingOperation } from "../../config/types.ts";
import type { ProposedRule } from "../../tools/approval/rules/propose.ts";

const KEY: readonly string[] = ["tools", "rules"];

export interface SessionRulesOptions {
  readonly environment: Environment;
  /** Absolute path of the document, or null when unsaved. */
  readonly document: string | null;
}

/** Returns the rules of this session for one document, in the order in which they were added. */
export async function sessionRules(
  { environment, document }: SessionRulesOptions,
): Promise<Outcome<readonly ProposedRule[]>> {
  if (document === null) return success([]);
  const session = await readSession(environment, document, new Date());
  if (!session.ok) return session;
  const own = await sessionPath(environment, document);
  const operations = session.value.filter(({ path }) => path === own)
    .flatMap(({ operations }) => operations)
    .filter(({ path }) => path.join(".") === KEY.join("."));
  return success(
    itemsOf(operations).flatMap((written) => {
      const read = readRule(written);
      return read.ok ? [{ written: written as WrittenRule, text: ruleText(read.value) }] : [];
    }),
  );
}

/** Adds a rule for the document, for this session. Fails for a text without a path and for an invalid rule. */
export async function addSessionRule(
  { environment, document }: SessionRulesOptions,
  rule: WrittenRule,
): Promise<Outcome<void>> {
  if (document === null) {
    return failure(
      "usage",
      "A rule for this session needs the path of a document, and this text has none.",
    );
  }
  const read = readRule(rule);
  if (!read.ok) {
    const faults = read.problem.map(({ member, message }) =>
      member === null ? message : `${member} ${message}`
    );
    return failure("rule-invalid", `This is not a rule: ${faults.join("; ")}.`);
  }
  return await addToSession(environment, document, [appended(rule)], new Date());
}

/** Removes a rule of the session; false if there is no such rule. */
export async function removeSessionRule(
  { environment, document }: SessionRulesOptions,
  rule: WrittenRule,
): Promise<Outcome<boolean>> {
  if (document === null) return success(false);
  const taken = await takeFromSession(environment, document, appended(rule), new Date());
  return taken.ok ? taken : failed(taken.problem);
}

function appended(value: WrittenRule): SettingOperation {
  return { op: "append", path: KEY, value };
}
