// Shared parts of commands that continue a document in a new one: they need a file, and they pass on trust.

import { openChat } from "../../agent/open.ts";
import { keepWorkFolder } from "../../agent/trust/agreement.ts";
import type { ChatSession } from "../../agent/types.ts";
import type { Problem } from "../../base/problem.ts";
import { hostOptions } from "../document/host.ts";
import type { Invocation } from "../invocation.ts";

/** Returns the problem for a piped document: without a file, there is no folder in which to create the new document. */
export function notAFile(command: string): Problem {
  return {
    code: "usage",
    message: `${command} creates a document next to the original, and a piped document has no folder.`,
    next: `Name the file: flemma ${command} FILE`,
  };
}

/**
 * Trusts the new document's settings if the person trusted the same settings in the old one; an untrusted
 * document stays untrusted. Returns the problem if the agreement cannot be saved.
 */
export async function agreeAsBefore(
  invocation: Invocation,
  before: ChatSession,
  name: string,
): Promise<Problem | null> {
  const kept = await keepWorkFolder(invocation.environment, before, name);
  if (kept !== null) return kept;
  const agreement = await before.agreement();
  if (!agreement.ok || (!agreement.value.agreed && agreement.value.lines.length > 0)) return null;
  const host = hostOptions(invocation);
  if (!host.ok) return host.problem;
  const opened = await openChat(name, host.value);
  if (!opened.ok) return opened.problem;
  await using session = opened.value;
  // A relative working folder may lead elsewhere from the new document's folder.
  const now = await session.agreement();
  if (!now.ok) return now.problem;
  if (now.value.lines.join("\n") !== agreement.value.lines.join("\n")) return null;
  const trusted = await session.trust();
  return trusted.ok ? null : trusted.problem;
}
