// Decides whether a document is trusted. Settings in its frontmatter that loosen restrictions take effect only after
// the person agreed to them.

import type { Environment } from "../../base/environment.ts";
import { operands } from "../../base/shell_word.ts";
import type { Authority } from "../../config/document/authority.ts";
import type { Settings } from "../../config/settings.generated.ts";
import { effectsOf, type Tools } from "../../cycle/plan/plan_inputs.ts";
import type { Call } from "../../parser/types.ts";
import { reachesFurther } from "../../sandbox/mod.ts";
import type { Sandbox } from "../../sandbox/types.ts";
import { isAgreed } from "./agreement.ts";

export interface TrustQuestion {
  readonly environment: Environment;
  /** Real path, or null when unsaved. */
  readonly path: string | null;
  /** The authority that the frontmatter claims. */
  readonly authority: Authority;
  /** The person's settings, without the document's own. */
  readonly person: Settings;
  /** The settings including the document's own. */
  readonly document: Settings;
  /** The working folder that the frontmatter names, if it takes effect only after the person agreed. @default none */
  readonly awaitedFolder?: string | null;
  /** True if the document lies where flemma puts helpers, but this machine did not make it. @default false */
  readonly isForeignHelper?: boolean;
  /** The sandbox of the document's calls. */
  readonly sandbox: Pick<Sandbox, "available">;
}

/** The automatic approvals that wait for a person, and the reason. */
export interface UntrustedDocument {
  /** The reason in short, for an approval decision. */
  readonly detail: string;
  /** The message for the person, including how to trust the document. */
  readonly sentence: string;
  /** True if calls of read-only tools wait too. */
  readonly all: boolean;
  /** True if a call waits only when the person's own settings would not approve it. */
  readonly onlyItsOwn: boolean;
}

/** Returns why policy may not approve the document's calls; null if it may. */
export async function assessTrust(question: TrustQuestion): Promise<UntrustedDocument | null> {
  const found = await loosening(question);
  if (found === null) return null;
  const { environment, path, authority } = question;
  const agreed = await isAgreed(environment, path, authority);
  if (agreed.ok && agreed.value) return null;
  const { reason, ...calls } = found;
  // If the list of agreements cannot be read, nothing counts as agreed.
  const next = agreed.ok ? howToAgree(path) : `${agreed.problem.message} ${agreed.problem.next ?? ""}`.trim();
  const sentence = `This document ${reason}, so its calls wait for you. ${next}`;
  return { ...calls, detail: `the document ${reason}`, sentence };
}

/**
 * The restrictions that the frontmatter loosens, as the end of the sentence "This document …", and the calls that are
 * affected.
 */
type Loosening = Omit<UntrustedDocument, "detail" | "sentence"> & { readonly reason: string };

async function loosening(question: TrustQuestion): Promise<Loosening | null> {
  const { person, document, environment, path, sandbox, awaitedFolder = null } = question;
  switch (person.trust.documents) {
    case "always":
      return null;
    case "ask":
      return { reason: "is not trusted", all: true, onlyItsOwn: false };
  }
  if (question.isForeignHelper === true) {
    const reason = "lies in a folder of helpers, but flemma did not make it on this machine";
    return { reason, all: true, onlyItsOwn: false };
  }
  const reason = reachesFurther(person.sandbox, document.sandbox, { environment, document: path }) ??
    (awaitedFolder === null ? null : `names the working folder ${awaitedFolder} outside its own`);
  if (reason !== null) {
    // Reading is harmless, unless the person hides files and the document removes the sandbox that hides them.
    const hides = person.sandbox.enabled && (person.sandbox.policy.deny_read ?? []).length > 0;
    return { reason, all: hides, onlyItsOwn: false };
  }
  const speaks = document.tools.document !== null || document.sandbox.enabled !== person.sandbox.enabled;
  if (!speaks) return null;
  if (person.sandbox.enabled && (await sandbox.available()).ok) return null;
  // No sandbox from the person's settings confines a call, so an approved call can do anything.
  const why = person.sandbox.enabled ? "no sandbox works here" : "your sandbox is off";
  return { reason: `approves its own calls, and ${why}`, all: false, onlyItsOwn: true };
}

/**
 * True if an approving rule would not be enough to run a call of an untrusted document, because that approval is
 * downgraded too.
 */
export function downgradesCall(
  untrustedDocument: UntrustedDocument | null,
  call: Pick<Call, "name">,
  tools: Pick<Tools, "get">,
): untrustedDocument is UntrustedDocument {
  return untrustedDocument !== null && !untrustedDocument.onlyItsOwn &&
    concerns(untrustedDocument, call, tools);
}

/**
 * True if approvals of this call are affected. For a call that changes nothing, this is true only if approvals of
 * read-only tools are affected.
 */
export function concerns(
  { all }: UntrustedDocument,
  { name }: Pick<Call, "name">,
  tools: Pick<Tools, "get">,
): boolean {
  return all || effectsOf(tools, name) === "writes";
}

/** Returns how a person trusts the document, as a sentence. */
function howToAgree(path: string | null): string {
  if (path === null) return "To trust it, save it or give its path with --name.";
  return exists(path)
    ? `If you trust it: flemma trust ${operands(path)}`
    : `If you trust it, pipe its text to: flemma trust - --name ${operands(path)}`;
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    // An error at this point would prevent reading the file too.
    return false;
  }
}
