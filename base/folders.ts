// Locations of settings, state and session overrides.

import type { Environment } from "./environment.ts";
import { type Problem, thrownText } from "./problem.ts";

/** Returns `$XDG_CONFIG_HOME/flemma`, by default `~/.config/flemma`. */
export function configFolder(environment: Environment): string {
  return `${absolute(environment, "XDG_CONFIG_HOME") ?? `${environment.home}/.config`}/flemma`;
}

/** Returns `$XDG_STATE_HOME/flemma`, by default `~/.local/state/flemma`. */
export function stateFolder(environment: Environment): string {
  return `${absolute(environment, "XDG_STATE_HOME") ?? `${environment.home}/.local/state`}/flemma`;
}

/** Returns `$XDG_DATA_HOME`, by default `~/.local/share`. */
export function dataFolder(environment: Environment): string {
  return absolute(environment, "XDG_DATA_HOME") ?? `${environment.home}/.local/share`;
}

/** Returns the folder of the git worktrees of helpers. */
export function worktreesFolder(environment: Environment): string {
  return `${dataFolder(environment)}/flemma/worktrees`;
}

/** Returns the folder of images and files that tools returned, each named by the SHA-256 of its bytes. */
export function attachmentsFolder(environment: Environment): string {
  return `${stateFolder(environment)}/attachments`;
}

/** Returns the folder of what tools of providers returned, each file named by the SHA-256 of its bytes. */
export function serverToolsFolder(environment: Environment): string {
  return `${stateFolder(environment)}/server-tools`;
}

/** Returns the folder of sign-ins at MCP servers. It is hidden from commands, because it may contain tokens. */
export function signInsFolder(environment: Environment): string {
  return `${stateFolder(environment)}/sign-ins`;
}

/** Returns the folder of session overrides, and whether the system removes it at logout. */
export function sessionFolder(
  environment: Environment,
): { readonly path: string; readonly endsWithSession: boolean } {
  const endsWithSession = absolute(environment, "XDG_RUNTIME_DIR") !== null;
  return { path: `${runtimeFolder(environment)}/session`, endsWithSession };
}

/** Returns `$XDG_RUNTIME_DIR/flemma`, else the state folder. */
export function runtimeFolder(environment: Environment): string {
  const runtime = absolute(environment, "XDG_RUNTIME_DIR");
  return runtime === null ? stateFolder(environment) : `${runtime}/flemma`;
}

/**
 * Returns the problem to report if the system denies access to this program's own folders. After one start by root,
 * for instance, root owns them. Null for every other exception.
 */
export function stateRefusal(thrown: unknown, environment: Environment): Problem | null {
  if (!(thrown instanceof Error)) return null;
  const [, reason, path = ""] = /^([^\n]*?) \(os error \d+\): [a-z_ ]+ '([^']*)'/.exec(thrown.message) ?? [];
  const place = [
    { folder: stateFolder(environment), variable: "XDG_STATE_HOME" },
    { folder: runtimeFolder(environment), variable: "XDG_RUNTIME_DIR" },
  ].find(({ folder }) => path === folder || path.startsWith(`${folder}/`));
  if (place === undefined || thrown instanceof Deno.errors.NotFound) return null;
  return {
    code: "state-unreachable",
    message: `Cannot use ${path}: ${reason}.`,
    next:
      `Make yourself the owner of ${place.folder} and its contents, or set ${place.variable} to another folder.`,
  };
}

/** Thrown if something cannot be recorded in the state folder. The message names the folder. */
export class StateUnwritable extends Error {
  constructor(environment: Environment, cause: unknown) {
    const reason = thrownText(cause).replace(/\.$/, "");
    super(`the state folder ${stateFolder(environment)} cannot be written: ${reason}`, { cause });
  }
}

/**
 * The notice that something could not be recorded. The operation itself has succeeded.
 *
 * @param effect what will not be known later, as a sentence
 */
export function stateNotice(environment: Environment, thrown: unknown, effect: string): Problem {
  const { message } = thrown instanceof StateUnwritable ? thrown : new StateUnwritable(environment, thrown);
  return {
    code: "state-unwritable",
    message: `${effect} The reason: ${message}.`,
    next: STATE_REMEDY,
  };
}

/** What to do about a state folder that cannot be written. */
export const STATE_REMEDY = "Free disk space, or set XDG_STATE_HOME to a writable folder.";

/** The XDG base directory specification requires ignoring relative values. */
function absolute(environment: Environment, name: string): string | null {
  const value = environment.variables[name];
  return value !== undefined && value.startsWith("/") ? value.replace(/\/+$/, "") : null;
}
