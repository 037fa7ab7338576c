// Keeps paths hidden that the person's settings hide, even if a document makes them writable.

import type { SandboxSettings } from "../../config/settings.generated.ts";
import { expandPath, type PathContext } from "../paths/expand.ts";
import { isVisible, resolvePolicy } from "./policy.ts";
import { realPath } from "../../base/disk/real_path.ts";

/** A document's settings without the entries that would uncover hidden paths, and the removed entries. */
export interface StillHidden {
  readonly settings: SandboxSettings;
  /** The removed entries, as written. */
  readonly uncovering: readonly string[];
}

/**
 * Leaves out a document's writable entries inside paths that the person hides. A writable path inside a hidden one is
 * visible again. The person may show a part of a hidden folder in this way, but a document may not. If the person hides
 * nothing, or has switched the sandbox off, all entries stay.
 */
export function stillHidden(
  person: SandboxSettings,
  document: SandboxSettings,
  context: PathContext,
): StillHidden {
  if (!person.enabled || (person.policy.deny_read ?? []).length === 0) {
    return { settings: document, uncovering: [] };
  }
  const own = resolvePolicy(person, context);
  if (!own.ok) return { settings: document, uncovering: [] };
  const uncovering: string[] = [];
  const rw_paths = document.policy.rw_paths.filter((item) => {
    const entry = typeof item === "string" ? item : item.path;
    const expansion = expandPath(entry, context);
    const path = expansion.kind === "path" ? realPath(expansion.path, context.environment.cwd) : null;
    if (path === null || isVisible(path, own.value)) return true;
    uncovering.push(entry);
    return false;
  });
  return uncovering.length === 0
    ? { settings: document, uncovering }
    : { settings: { ...document, policy: { ...document.policy, rw_paths } }, uncovering };
}
