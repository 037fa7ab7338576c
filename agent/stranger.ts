// A stranger's document does not leave the sandbox by itself (S15): who counts as one, and what then waits for a person.

import type { Environment } from "../base/environment.ts";
import type { Settings } from "../config/settings.ts";
import { isTrusted } from "../config/sources/trust.ts";
import { operands } from "../base/shell_word.ts";
import { HARMLESS } from "../cycle/plan/plan.ts";
import type { Emit, Journal } from "../cycle/types.ts";
import type { Call, Chat } from "../parser/types.ts";
import { reachesFurther } from "../sandbox/mod.ts";
import type { Verdict } from "../tools/approval/mod.ts";

/** Name of the source in verdicts that this rule lowered. */
export const STRANGER = "urn:flemma:approval:stranger";

export interface StrangerQuestion {
  readonly environment: Environment;
  readonly chat: Chat;
  /** Absolute path, or null when unsaved. */
  readonly path: string | null;
  readonly journal: Journal;
  /** The settings without the document's own. */
  readonly person: Settings;
  /** The settings with them. */
  readonly document: Settings;
}

/** Why policy may not approve what this document asks for, as the end of "This document …"; null when it may. */
export async function distrust(question: StrangerQuestion): Promise<string | null> {
  const { person, document, environment, path } = question;
  const { documents } = person.trust;
  if (documents === "always") return null;
  const reason = documents === "ask"
    ? "was not written on this machine"
    : reachesFurther(person.sandbox, document.sandbox, { environment, document: path });
  return reason === null || await isKnown(question) ? null : reason;
}

/** A run of this program changed it or made it, or the person trusted exactly this text. */
async function isKnown({ environment, chat, path, journal }: StrangerQuestion): Promise<boolean> {
  if (path === null) return false;
  if (journal.written()) return true;
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(chat.bytes);
  const trusted = await isTrusted(environment, path, text, []);
  return trusted.ok && trusted.value;
}

/** Turns every approval by policy into a question, and says once why. Tools that only read are not concerned. */
export function wary(
  decide: (call: Pick<Call, "id" | "name" | "input">) => Promise<Verdict>,
  options: {
    readonly reason: string;
    readonly path: string | null;
    readonly all: boolean;
    readonly emit: Emit;
  },
): (call: Pick<Call, "id" | "name" | "input">) => Promise<Verdict> {
  let told = false;
  return async (call) => {
    const verdict = await decide(call);
    if (verdict.decision !== "approve" || (!options.all && HARMLESS.has(call.name))) return verdict;
    if (!told) {
      told = true;
      const trust = options.path === null
        ? ""
        : ` To let policy decide: flemma trust ${operands(options.path)}`;
      const message =
        `This document ${options.reason} and comes from elsewhere, so its calls wait for you.${trust}`;
      options.emit({ event: "notice", code: "stranger", message });
    }
    return { decision: "require_approval", source: STRANGER, detail: `the document ${options.reason}` };
  };
}

/**
 * The journal of a document that is not believed: a status `approved` that nothing vouches for may be the stranger's
 * word, so it is judged anew instead of standing as a person's edit.
 */
export function cautious(journal: Journal): Journal {
  return {
    approval: (id) => journal.approval(id) ?? { by: "policy", hash: "nobody vouches for it" },
    recordApproval: (id, approval) => journal.recordApproval(id, approval),
    started: () => journal.started(),
    recordStart: (id, tool) => journal.recordStart(id, tool),
    recordEnd: (id) => journal.recordEnd(id),
    written: () => journal.written(),
    recordWritten: () => journal.recordWritten(),
    keepBody: (id, body) => journal.keepBody(id, body),
    keepResult: (id, body) => journal.keepResult(id, body),
    keptResults: () => journal.keptResults(),
  };
}
