// What nobody vouches for counts once a person confirmed it (S17): how calls of such a document are judged, and what is told.

import { listed } from "../../base/names.ts";
import { operands } from "../../base/shell_word.ts";
import type { Emit, Journal, ReplyMemory, Suspects } from "../../cycle/types.ts";
import type { Chat } from "../../parser/types.ts";
import { withChain } from "../../tools/approval/mod.ts";
import { hashOf } from "./tamper_check.ts";
import type { DocumentGuard } from "./guard.ts";
import { type Decide, type Distrust, overlaid } from "./untrusted.ts";

/** Name of the source in verdicts about approvals that a command could have written. */
const UNCONFIRMED = "urn:flemma:approval:unconfirmed";

/** The journal of a guarded document: an approval that a command could have written is judged anew. */
export function vouchedJournal(journal: Journal, guard: DocumentGuard): Journal {
  return overlaid(journal, {
    approval: (id) =>
      isSuspect(guard.suspects, id) ? { by: "policy", hash: "nobody vouches for it" } : journal.approval(id),
  });
}

/** Says of such an approval why it is not taken for the person's. */
export function confirming(decide: Decide, guard: DocumentGuard): Decide {
  return async (call, options) => {
    const verdict = await decide(call, options);
    const { suspects } = guard;
    if (verdict.decision !== "require_approval" || suspects === null || !isSuspect(suspects, call.id)) {
      return verdict;
    }
    const detail = `a command could have written its approval, because ${suspects.why}`;
    return { decision: "require_approval", source: UNCONFIRMED, detail, ...withChain(verdict) };
  };
}

/** Name of the source in verdicts about calls of a reply whose end nobody saw. */
export const UNFINISHED = "urn:flemma:approval:unfinished";

/** Asks the person about calls of a reply in the middle of which the program was killed: more was to follow them. */
export function wholeReplies(decide: Decide, replies: Pick<ReplyMemory, "unfinished">, emit: Emit): Decide {
  const told = new Set<string>();
  return async (call, options) => {
    const verdict = await decide(call, options);
    const { id, name } = call;
    if (verdict.decision !== "approve" || !replies.unfinished().has(id)) return verdict;
    const detail = "the program ended before the reply was complete";
    if (!told.has(id)) {
      told.add(id);
      emit({
        event: "notice",
        code: "reply-unfinished",
        message: `${name} (${id}) waits for you: ${detail}.`,
        id,
      });
    }
    return { decision: "require_approval", source: UNFINISHED, detail, ...withChain(verdict) };
  };
}

/** What is told of calls without a result in such a reply. */
export function unfinishedDoubts(chat: Chat, unfinished: ReadonlySet<string>, path: string): string[] {
  const ids = chat.calls.map(({ id }) => id).filter((id) =>
    unfinished.has(id) && chat.result(id) === undefined
  );
  if (ids.length === 0) return [];
  const [waits, them] = ids.length > 1 ? ["they wait", "them"] : ["it waits", "it"];
  return [
    `The program ended before the reply with ${listed(ids)} was complete, so ${waits} for you: ` +
    `flemma advance ${operands(path)} asks about ${them}`,
  ];
}

/** What a first block that a command could have written does to the calls of its document. */
export function unconfirmedBlock({ why }: Suspects, path: string): Distrust {
  return {
    detail: "a command could have written the first block",
    sentence:
      `A command could have written the first block, because ${why}. So the calls of this document wait ` +
      `for you; if the block is as you want it: flemma trust ${operands(path)}`,
    all: true,
    onlyItsOwn: false,
  };
}

/** What is told of approvals that a command could have written. */
export function callDoubts(suspects: Suspects | null, path: string): string[] {
  const ids = Object.keys(suspects?.calls ?? {});
  if (suspects === null || ids.length === 0) return [];
  const many = ids.length > 1;
  const approvals = `${many ? "the approvals" : "the approval"} of ${listed(ids)}`;
  return [
    `A command could have written ${approvals}, because ${suspects.why}. ${
      many ? "They count" : "It counts"
    } only ` +
    `once you confirm ${many ? "them" : "it"}: flemma approve ${
      operands(path, ids[0]!)
    }, or all that stands in the ` +
    `document: flemma trust ${operands(path)}`,
  ];
}

function isSuspect(suspects: Suspects | null, id: string): boolean {
  return suspects !== null && hashOf(suspects.calls, id) !== undefined;
}
