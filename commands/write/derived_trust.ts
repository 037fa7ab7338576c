// What documents that go on from another one have in common: whose word counts in them, and what has none.

import { openChat } from "../../agent/open.ts";
import type { ChatSession } from "../../agent/types.ts";
import type { Problem } from "../../base/problem.ts";
import { hostOptions } from "../document/host.ts";
import type { Invocation } from "../invocation.ts";

/** A command that makes a document beside another one was given one that has no place. */
export function notAFile(command: string): Problem {
  return {
    code: "usage",
    message: `${command} makes a document beside another one; a piped one has no place.`,
    next: `Name it: flemma ${command} FILE`,
  };
}

/**
 * The person who agreed to a document agrees to the same settings in the one that goes on from it; a stranger's stays a
 * stranger's. Answers with what kept the agreement from being noted.
 */
export async function agreeAsBefore(
  invocation: Invocation,
  before: ChatSession,
  name: string,
): Promise<Problem | null> {
  const agreement = await before.agreement();
  if (!agreement.ok || (!agreement.value.agreed && agreement.value.lines.length > 0)) return null;
  const host = hostOptions(invocation);
  if (!host.ok) return host.problem;
  const opened = await openChat(name, host.value);
  if (!opened.ok) return opened.problem;
  await using session = opened.value;
  const trusted = await session.trust();
  return trusted.ok ? null : trusted.problem;
}
