// Trusts a document: the effects of its frontmatter.

import { failure, type Outcome, success } from "../../base/problem.ts";
import type { ChatSession } from "../../agent/types.ts";
import type { Trustable } from "../../agent/extensions/trustable.ts";

/** A document to trust. Invalid frontmatter is refused, because its effect is unknown. */
export async function trustableDocument(session: ChatSession, label: string): Promise<Outcome<Trustable>> {
  const { path, chat } = session;
  if (path === null) {
    return failure(
      "usage",
      "An agreement belongs to the path of a document, and this text has none.",
      "Name it: flemma trust - --name PATH",
    );
  }
  if (chat.turns.length === 0 && chat.frontmatter === null) {
    return failure(
      "not-a-document",
      `${label} holds no message and no first block, so there is nothing to agree to.`,
    );
  }
  const found = await session.agreement();
  if (!found.ok) return found;
  const { lines, agreed } = found.value;
  return success({
    path,
    lines,
    nothing: "has no first block that says anything about the sandbox or about what runs without asking",
    isAgreed: () => Promise.resolve(success(agreed)),
    agree: async () => {
      const trusted = await session.trust();
      return trusted.ok ? success([]) : trusted;
    },
    agreed: lines.length === 0
      ? `Noted: you know ${path}. You are asked again when its first block says more.`
      : `${path} may do that from now on. It is asked about again when its first block comes to something else.`,
  });
}
