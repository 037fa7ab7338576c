// What a person lets run, or never run, in one document until they log out: a rule in the session's file of that document.

import type { Environment } from "../../base/environment.ts";
import { type Outcome, success } from "../../base/problem.ts";
import { operands } from "../../base/shell_word.ts";
import { addToSession } from "../../config/sources/session_overrides.ts";
import type { Settings } from "../../config/settings.ts";
import type { Operation } from "../../config/types.ts";
import type { Call } from "../../parser/types.ts";
import { builtinTools } from "../../tools/builtin/mod.ts";

/** A rule that a person may add by one key. */
export interface SessionRule {
  /** What it says, for the label of the key. */
  readonly label: string;
  readonly operation: Operation;
}

/** A text with one of these would mean more than itself in a rule, or be read by the shell in more than one way. */
const MORE_THAN_ITSELF = /[^\w ./:=@%+,-]/;

/**
 * The narrowest rule that would have approved a call: its very command, its very file, else its tool.
 *
 * @returns the rule; null where no rule says just that
 */
export function alwaysRule(
  { name, input }: Pick<Call, "name" | "input">,
  settings: Settings,
): SessionRule | null {
  const tool = builtinTools(settings.tools).find((each) => each.name === name);
  const command = tool?.command_input === undefined ? undefined : input[tool.command_input];
  const path = tool?.path_input === undefined ? undefined : input[tool.path_input];
  const only = command ?? path;
  if (only === undefined) return tool === undefined ? null : { label: name, operation: approved(name) };
  if (typeof only !== "string" || only.trim() === "" || MORE_THAN_ITSELF.test(only)) return null;
  const value = { approve: name, ...(command === undefined ? { path: [only] } : { command: [only] }) };
  return { label: `${name}(${only})`, operation: { op: "append", path: ["tools", "rules"], value } };
}

/** The rule that denies every call of a tool. */
export function neverRule(name: string): SessionRule {
  return { label: name, operation: { op: "append", path: ["tools", "rules"], value: { deny: name } } };
}

/**
 * Adds a rule to the session of a document.
 *
 * @param document real path of the document; null for every document
 * @returns how to take it back, as a sentence
 */
export async function addSessionRule(
  environment: Environment,
  document: string | null,
  { operation }: SessionRule,
): Promise<Outcome<string>> {
  const added = await addToSession(environment, document, [operation], new Date());
  if (!added.ok) return added;
  return success(
    `To take that back: flemma session reset${document === null ? "" : ` ${operands(document)}`}`,
  );
}

function approved(name: string): Operation {
  return { op: "append", path: ["tools", "auto_approve"], value: name };
}
