// What a person hides stays hidden, whatever a document makes writable (12.1, S12).

import type { SandboxSettings } from "../../config/settings/sandbox.ts";
import { expandPath, type PathContext } from "../paths/expand.ts";
import { isVisible, resolvePolicy } from "./policy.ts";
import { realPath } from "../../base/disk/real_path.ts";

/** A document's settings without what would uncover hidden paths, and the entries that were left out. */
export interface StillHidden {
  readonly settings: SandboxSettings;
  /** As they were written. */
  readonly uncovering: readonly string[];
}

/**
 * A writable path inside a hidden one can be seen again, so that a person can open a part of what they hide. A document
 * cannot: its own entries that would are left out. Nothing changes while the person hides nothing, or has no sandbox.
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
