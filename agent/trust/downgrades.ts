// The downgrades of a document's approvals: untrusted documents, tampered approvals, unfinished replies.

import type { Tools } from "../../cycle/plan/plan_inputs.ts";
import type { Approval, Emit, Journal } from "../../cycle/types.ts";
import type { ApprovalDowngrade, Decide } from "../../tools/approval/downgrades.ts";
import { hashOf } from "./tamper_check.ts";
import type { DocumentGuard } from "./guard.ts";
import type { Origins } from "./origins_on_demand.ts";
import { concerns, type UntrustedDocument } from "./untrusted.ts";

/**
 * Returns the downgrade for an untrusted document: policy approves none of the affected calls, and the user sees the
 * reason once. Of the recorded approvals, only those of this run and those by the person are valid, because other
 * approvals may have been made for a sandbox that no longer exists.
 *
 * @param person decides by the person's own settings alone
 */
export function untrustedDowngrade(
  untrustedDocument: UntrustedDocument,
  { person, tools, journal, emit }: {
    readonly person: Decide;
    readonly tools: Pick<Tools, "get">;
    readonly journal: Pick<Journal, "approval" | "isFromThisRun">;
    readonly emit: Emit;
  },
): ApprovalDowngrade {
  const { detail, sentence, onlyItsOwn } = untrustedDocument;
  let isReported = false;
  return {
    name: "urn:flemma:approval:trust",
    async lower(call, { decision }) {
      if (decision === "deny" || !concerns(untrustedDocument, call, tools)) return null;
      const asks = decision === "require_approval";
      if (onlyItsOwn && (asks || (await person(call)).decision === "approve")) return null;
      if (!isReported) emit({ event: "notice", code: "document-not-trusted", message: sentence });
      isReported = true;
      // The decision is bound to the text of the call: a later `approved` in the document is valid only for the text
      // that the person was asked about. The reason is that the document itself could contain the word.
      return { detail, bound: true, keepsSource: asks };
    },
    doubts: (id) => !onlyItsOwn && journal.approval(id)?.by !== "person" && !journal.isFromThisRun(id),
  };
}

/** An approval that a command could have written is valid only after a person confirmed it. */
export function unconfirmedDowngrade(guard: Pick<DocumentGuard, "tampered">): ApprovalDowngrade {
  const isCallTampered = (id: string) =>
    guard.tampered !== null && hashOf(guard.tampered.calls, id) !== undefined;
  return {
    name: "urn:flemma:approval:unconfirmed",
    lower({ id }, { decision }) {
      if (decision !== "require_approval" || !isCallTampered(id)) return null;
      return { detail: `a command could have written its approval, because ${guard.tampered?.why}` };
    },
    doubts: isCallTampered,
  };
}

/** Policy approves no call of a reply that was cut off when the program was killed, because more text was to follow. */
export function unfinishedDowngrade(replies: Pick<Journal, "unfinished">, emit: Emit): ApprovalDowngrade {
  const reported = new Set<string>();
  return {
    name: "urn:flemma:approval:unfinished",
    lower({ id, name }, { decision }) {
      if (decision !== "approve" || !replies.unfinished().has(id)) return null;
      const detail = "the program ended before the reply was complete";
      if (!reported.has(id)) {
        const message = `${name} (${id}) waits for you: ${detail}.`;
        emit({ event: "notice", code: "reply-unfinished", message, id });
      }
      reported.add(id);
      return { detail };
    },
  };
}

/** An approval in the text counts only if it was given here. */
export function arrivedDowngrade(origins: Pick<Origins, "doubt">): ApprovalDowngrade {
  return {
    name: "urn:flemma:approval:arrived",
    async lower({ id }, { decision }) {
      const detail = decision === "require_approval" ? await origins.doubt(id) : null;
      return detail === null ? null : { detail, reported: true };
    },
    doubts: async (id) => await origins.doubt(id) !== null,
  };
}

/** Replaces a recorded approval that does not count. No call has this hash, so policy decides the call again. */
const DECIDED_AGAIN: Approval = { by: "policy", hash: "to be decided again" };

/** Returns the recorded approvals without those in doubt. */
export function withoutDoubtedApprovals(
  journal: Pick<Journal, "approval">,
  downgrades: readonly ApprovalDowngrade[],
): (id: string) => Promise<Approval | null> {
  return async (id) => {
    for (const { doubts } of downgrades) if (await doubts?.(id)) return DECIDED_AGAIN;
    return journal.approval(id);
  };
}
