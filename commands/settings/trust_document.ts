// Trusts a document: the effects of its frontmatter.

import { failure, type Outcome, success } from "../../base/problem.ts";
import type { ChatSession } from "../../agent/types.ts";
import type { Trustable } from "../../agent/extensions/trustable.ts";

/** Returns a document to trust. Invalid frontmatter is refused, because its effect is unknown. */
export async function trustableDocument(session: ChatSession, label: string): Promise<Outcome<Trustable>> {
  const { path, chat } = session;
  if (path === null) {
    return failure(
      "usage",
      "Trusting a document needs its path, and this text has none.",
      "Name it: flemma trust - --name PATH",
    );
  }
  if (chat.turns.length === 0 && chat.frontmatter === null) {
    return failure(
      "not-a-document",
      `${label} has no messages and no frontmatter, so there is nothing to trust.`,
    );
  }
  const found = await session.agreement();
  if (!found.ok) return found;
  const { lines, agreed } = found.value;
  return success({
    path,
    lines,
    nothing: "has no frontmatter that changes the sandbox or approves calls",
    isAgreed: () => Promise.resolve(success(agreed)),
    agree: async () => {
      const trusted = await session.trust();
      return trusted.ok ? success([]) : trusted;
    },
    agreed: lines.length === 0
      ? `${path} is trusted. You are asked again if its frontmatter allows more.`
      : `${path} is trusted. You are asked again if its frontmatter does something else.`,
  });
}
