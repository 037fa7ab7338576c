// Decides whether a document's sandbox settings allow more than the person's own settings.

import type { SandboxSettings } from "../../config/settings.generated.ts";
import type { PathContext } from "../paths/expand.ts";
import { resolvePolicy } from "./policy.ts";
import { isInside } from "../../base/paths.ts";

/**
 * Returns what the document's settings allow beyond the person's, as the end of the sentence "this document …"; null
 * if they allow nothing more. A policy that cannot be resolved counts as wider, because its effect is unknown.
 */
export function reachesFurther(
  person: SandboxSettings,
  document: SandboxSettings,
  context: PathContext,
): string | null {
  if (person === document) return null;
  if (!document.enabled) return person.enabled ? "switches the sandbox off" : null;
  // If the document turns on a sandbox that the person has turned off, its policy is compared all the same, because
  // calls inside a sandbox are approved automatically.
  const stricter = person.backend === "auto" && document.backend === "required";
  if (document.backend !== person.backend && !stricter) return `uses the sandbox backend ${document.backend}`;
  if (document.policy.allow_privileged && !person.policy.allow_privileged) {
    return "keeps privileges in the sandbox";
  }
  if (opensNetwork(person.policy.network, document.policy.network)) return "opens the network";
  if (document.policy.rw_paths === person.policy.rw_paths) return null;
  const [own, theirs] = [resolvePolicy(person, context), resolvePolicy(document, context)];
  if (!theirs.ok) return "has an invalid sandbox policy";
  const allowed = own.ok ? own.value.rw_paths : [];
  const wider = theirs.value.rw_paths.find((path) => !allowed.some((root) => isInside(path, root)));
  return wider === undefined ? null : `makes ${wider} writable`;
}

type Network = SandboxSettings["policy"]["network"];

function opensNetwork(person: Network, document: Network): boolean {
  if (person === true || document === false) return false;
  if (document === true) return true;
  const allowed = person === false ? [] : person.allow;
  return document.allow.some((host) => !allowed.includes(host));
}
