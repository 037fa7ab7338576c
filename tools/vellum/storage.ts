// The folder in which tool files keep what they want to find again.

import type { Environment } from "../../base/environment.ts";

/**
 * Below the folder of data, which the sandbox lets tools write by its default policy. Not in the folder of this program's
 * state: nothing that runs in the sandbox writes there.
 */
export function storageFolder({ home, variables }: Environment): string {
  const data = variables.XDG_DATA_HOME;
  return `${data?.startsWith("/") ? data.replace(/\/+$/, "") : `${home}/.local/share`}/flemma/vellum`;
}
