// A document does not leave the sandbox by itself (S15): what its first block loosens counts once the person agreed.

import type { Environment } from "../../base/environment.ts";
import { operands } from "../../base/shell_word.ts";
import type { Authority } from "../../config/document/authority.ts";
import type { Settings } from "../../config/settings.ts";
import { HARMLESS } from "../../cycle/plan/harmless.ts";
import type { Emit, Journal } from "../../cycle/types.ts";
import type { Call } from "../../parser/types.ts";
import { reachesFurther } from "../../sandbox/mod.ts";
import type { Sandbox } from "../../sandbox/types.ts";
import { type Verdict, withChain } from "../../tools/approval/mod.ts";
import { isAgreed } from "./agreement.ts";

/** Name of the source in verdicts that this rule lowered. */
const WITHOUT_AGREEMENT = "urn:flemma:approval:trust";

export type Decide = (
  call: Pick<Call, "id" | "name" | "input">,
  options?: { readonly explain?: boolean | "waiting" },
) => Promise<Verdict>;

export interface StrangerQuestion {
  readonly environment: Environment;
  /** Real path, or null when unsaved. */
  readonly path: string | null;
  /** What the first block comes to. */
  readonly authority: Authority;
  /** The settings without the document's own. */
  readonly person: Settings;
  /** The settings with them. */
  readonly document: Settings;
  /** The sandbox that the document's calls run in. */
  readonly sandbox: Pick<Sandbox, "available">;
}

/** Which approvals by policy wait for a person, and why. */
export interface Distrust {
  /** Why, as short as a verdict has it. */
  readonly detail: string;
  /** What the person is told, with how to let the document decide. */
  readonly sentence: string;
  /** Tools that only read are concerned too. */
  readonly all: boolean;
  /** Only what the person's own settings would not approve. */
  readonly onlyItsOwn: boolean;
}

/** Why policy may not approve what this document asks for; null when it may. */
export async function distrust(question: StrangerQuestion): Promise<Distrust | null> {
  const found = await loosening(question);
  if (found === null) return null;
  const { environment, path, authority } = question;
  const agreed = await isAgreed(environment, path, authority);
  if (agreed.ok && agreed.value) return null;
  const { reason, ...calls } = found;
  // A list of agreements that cannot be read holds none.
  const next = agreed.ok ? howToAgree(path) : `${agreed.problem.message} ${agreed.problem.next ?? ""}`.trim();
  const sentence = `This document ${reason}, so its calls wait for you. ${next}`;
  return { ...calls, detail: `the document ${reason}`, sentence };
}

/** What a block loosens, as the end of the sentence "This document …", and which calls are concerned. */
type Loosening = Omit<Distrust, "detail" | "sentence"> & { readonly reason: string };

async function loosening(question: StrangerQuestion): Promise<Loosening | null> {
  const { person, document, environment, path, sandbox } = question;
  switch (person.trust.documents) {
    case "always":
      return null;
    case "ask":
      return { reason: "is one you have not agreed to", all: true, onlyItsOwn: false };
  }
  const reason = reachesFurther(person.sandbox, document.sandbox, { environment, document: path });
  if (reason !== null) {
    // Reading harms nobody but where the person hides files, and the document takes the sandbox that hides them away.
    const hides = person.sandbox.enabled && (person.sandbox.policy.deny_read ?? []).length > 0;
    return { reason, all: hides, onlyItsOwn: false };
  }
  const speaks = document.tools.document !== null || document.sandbox.enabled !== person.sandbox.enabled;
  if (!speaks) return null;
  if (person.sandbox.enabled && (await sandbox.available()).ok) return null;
  // Nothing of the person's stands around a call, so whoever approves it lets it do anything.
  const why = person.sandbox.enabled ? "no sandbox works here" : "your sandbox is off";
  return { reason: `decides itself what runs without asking, and ${why}`, all: false, onlyItsOwn: true };
}

/**
 * Turns approvals by policy into questions, and says once why; of calls that wait anyway it says so too.
 *
 * @param person what the person's own settings alone decide
 */
export function wary(
  decide: Decide,
  { distrust, person, emit }: {
    readonly distrust: Distrust;
    readonly person: Decide;
    readonly emit: Emit;
  },
): Decide {
  const { detail, sentence, all, onlyItsOwn } = distrust;
  let told = false;
  return async (call, options) => {
    const verdict = await decide(call, options);
    if (verdict.decision === "deny" || (!all && HARMLESS.has(call.name))) return verdict;
    const asks = verdict.decision === "require_approval";
    if (onlyItsOwn && (asks || (await person(call)).decision === "approve")) return verdict;
    if (!told) {
      told = true;
      emit({ event: "notice", code: "document-not-trusted", message: sentence });
    }
    // Whoever is asked anyway has to know what the call would run in, and why the word approved does not count.
    if (asks) return { ...verdict, detail: verdict.detail ?? detail, bound: true };
    // A document that is not believed could bring the word `approved` along; from here on it is the person's.
    const source = WITHOUT_AGREEMENT;
    return { decision: "require_approval", source, detail, bound: true, ...withChain(verdict) };
  };
}

/** Whether no rule that approves would let a call of such a document run: it would be turned into a question too. */
export function distrusts(distrust: Distrust | null, call: Pick<Call, "name">): distrust is Distrust {
  return distrust !== null && !distrust.onlyItsOwn && (distrust.all || !HARMLESS.has(call.name));
}

/** How a person lets the document decide, as a sentence. */
function howToAgree(path: string | null): string {
  if (path === null) return "Save it, or name its path with --name, to agree to that.";
  return exists(path)
    ? `If you agree to that: flemma trust ${operands(path)}`
    : `If you agree to that, give it the text: flemma trust - --name ${operands(path)}`;
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    // Whatever keeps it from being seen keeps it from being read too.
    return false;
  }
}

/**
 * The journal of a document that is not believed: what policy approved, or nobody that this machine knows, may have been
 * approved for a sandbox that is gone, or be a stranger's word. It is judged anew.
 */
export function cautious(journal: Journal): Journal {
  /** Judged in this run, under the settings that hold. */
  const judged = new Set<string>();
  return overlaid(journal, {
    approval: (id) => {
      const approval = journal.approval(id);
      const stands = approval !== null && (approval.by === "person" || judged.has(id));
      return stands ? approval : { by: "policy", hash: "to be judged anew" };
    },
    recordApprovals: async (approvals) => {
      await journal.recordApprovals(approvals);
      for (const id of approvals.keys()) judged.add(id);
    },
  });
}

/** A journal with some of its functions replaced. */
export function overlaid(journal: Journal, changes: Partial<Journal>): Journal {
  return {
    approval: (id) => journal.approval(id),
    recordApprovals: (approvals) => journal.recordApprovals(approvals),
    started: () => journal.started(),
    recordStart: (id, tool, options) => journal.recordStart(id, tool, options),
    recordEnd: (id) => journal.recordEnd(id),
    keepBody: (id, body) => journal.keepBody(id, body),
    keepResult: (id, body) => journal.keepResult(id, body),
    keptResults: () => journal.keptResults(),
    ...changes,
  };
}
