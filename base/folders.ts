// Where settings, trust and session overrides live (cli 8).

import type { Environment } from "./environment.ts";

/** `$XDG_CONFIG_HOME/flemma`, by default `~/.config/flemma`. */
export function configFolder(environment: Environment): string {
  return `${absolute(environment, "XDG_CONFIG_HOME") ?? `${environment.home}/.config`}/flemma`;
}

/** `$XDG_STATE_HOME/flemma`, by default `~/.local/state/flemma`. */
export function stateFolder(environment: Environment): string {
  return `${absolute(environment, "XDG_STATE_HOME") ?? `${environment.home}/.local/state`}/flemma`;
}

/** Where images and files that tools gave back are kept, each named by the SHA-256 of its bytes. */
export function attachmentsFolder(environment: Environment): string {
  return `${stateFolder(environment)}/attachments`;
}

/** The folder of session overrides, and whether it is gone at logout. */
export function sessionFolder(
  environment: Environment,
): { readonly path: string; readonly endsWithLogin: boolean } {
  const endsWithLogin = absolute(environment, "XDG_RUNTIME_DIR") !== null;
  return { path: `${runtimeFolder(environment)}/session`, endsWithLogin };
}

/** `$XDG_RUNTIME_DIR/flemma`, else the state folder. */
export function runtimeFolder(environment: Environment): string {
  const runtime = absolute(environment, "XDG_RUNTIME_DIR");
  return runtime === null ? stateFolder(environment) : `${runtime}/flemma`;
}

/** The base directory specification tells us to ignore relative values. */
function absolute(environment: Environment, name: string): string | null {
  const value = environment.variables[name];
  return value !== undefined && value.startsWith("/") ? value.replace(/\/+$/, "") : null;
}
