// A document does not leave the sandbox by itself (S15): what its first block loosens counts once the person agreed.

import type { Environment } from "../../base/environment.ts";
import { operands } from "../../base/shell_word.ts";
import type { Authority } from "../../config/document/authority.ts";
import type { Settings } from "../../config/settings.ts";
import { effectsOf, type Tools } from "../../cycle/plan/plan_inputs.ts";
import type { Call } from "../../parser/types.ts";
import { reachesFurther } from "../../sandbox/mod.ts";
import type { Sandbox } from "../../sandbox/types.ts";
import { isAgreed } from "./agreement.ts";

export interface TrustQuestion {
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
export interface UntrustedDocument {
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
export async function assessTrust(question: TrustQuestion): Promise<UntrustedDocument | null> {
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
type Loosening = Omit<UntrustedDocument, "detail" | "sentence"> & { readonly reason: string };

async function loosening(question: TrustQuestion): Promise<Loosening | null> {
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

/** Whether no rule that approves would let a call of such a document run: it would be turned into a question too. */
export function downgradesCall(
  assessTrust: UntrustedDocument | null,
  call: Pick<Call, "name">,
  tools: Pick<Tools, "get">,
): assessTrust is UntrustedDocument {
  return assessTrust !== null && !assessTrust.onlyItsOwn && concerns(assessTrust, call, tools);
}

/** Whether approvals of a call are concerned: of one that changes nothing only where tools that read are, too. */
export function concerns(
  { all }: UntrustedDocument,
  { name }: Pick<Call, "name">,
  tools: Pick<Tools, "get">,
): boolean {
  return all || effectsOf(tools, name) === "writes";
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
