// Expands paths in the syntax that policies and some other settings use.

import type { Environment } from "../../base/environment.ts";
import { folderOfDocument } from "../../base/paths.ts";
import { realPath } from "../../base/disk/real_path.ts";
import { expandHome } from "../../base/paths.ts";

/** Result of expanding an entry. A path may still be relative. If `dropped`, `reason` says why there is no path. */
export type Expansion =
  | { readonly kind: "path"; readonly path: string }
  | { readonly kind: "dropped"; readonly reason: string; readonly mistake: boolean }
  | { readonly kind: "unknown-urn" };

/** Context for expanding paths. */
export interface PathContext {
  /** Working directory, home folder and environment variables. */
  readonly environment: Environment;
  /** Path of the document, or null if it is unsaved. */
  readonly document: string | null;
}

const VARIABLE = /^\$([A-Za-z_][A-Za-z0-9_]*)$/;
const VARIABLE_OR_DEFAULT = /^\$\{([A-Za-z_][A-Za-z0-9_]*):-(.+)\}$/s;

/**
 * Expands an entry as one whole value: `urn:flemma:cwd`, `urn:flemma:buffer:path`, `$NAME`, `${NAME:-default}`, `~`,
 * `~/x`. Everything else, including `${NAME}` and `$NAME/x`, is a literal path.
 *
 * `mistake` marks a dropped entry that is invalid on any machine, as opposed to one whose variable is unset here.
 */
export function expandPath(entry: string, context: PathContext): Expansion {
  const { variables, cwd } = context.environment;
  if (entry === "") return { kind: "dropped", reason: "it is empty", mistake: true };
  if (entry === "urn:flemma:cwd") return { kind: "path", path: cwd };
  if (entry === "urn:flemma:buffer:path") return documentFolder(context);
  if (entry === "urn:flemma:store") {
    return { kind: "dropped", reason: "only newer versions of flemma.nvim have this folder", mistake: true };
  }
  if (entry.startsWith("urn:")) return { kind: "unknown-urn" };

  const [, name] = VARIABLE.exec(entry) ?? [];
  if (name !== undefined) {
    const value = variables[name];
    if (value) return { kind: "path", path: value };
    return {
      kind: "dropped",
      reason: `$${name} is ${value === undefined ? "not set" : "empty"}`,
      mistake: false,
    };
  }

  const [, optional, fallback] = VARIABLE_OR_DEFAULT.exec(entry) ?? [];
  if (optional !== undefined && fallback !== undefined) {
    const value = variables[optional];
    return value ? { kind: "path", path: value } : expandTilde(fallback, context);
  }
  return expandTilde(entry, context);
}

function expandTilde(path: string, context: PathContext): Expansion {
  const expanded = expandHome(path, context.environment.home);
  // A shell would read `~name` as another user's home; a literal reading would be surprising.
  if (expanded.startsWith("~")) {
    return { kind: "dropped", reason: "only ~ and ~/… are expanded, not ~NAME", mistake: true };
  }
  return { kind: "path", path: expanded };
}

function documentFolder({ document, environment }: PathContext): Expansion {
  if (environment.workFolder !== undefined) return { kind: "path", path: environment.workFolder };
  if (document === null) return { kind: "dropped", reason: "the document is not saved", mistake: false };
  const real = realPath(document, environment.cwd);
  if (real === null) {
    return { kind: "dropped", reason: "the document's path has too many symbolic links", mistake: false };
  }
  return { kind: "path", path: folderOfDocument(real) };
}
