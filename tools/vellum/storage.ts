// The folder in which tool files store their data.

import type { Environment } from "../../base/environment.ts";

/**
 * Returns a folder below the data folder, which the sandbox's default policy lets tools write. It is not in this
 * program's state folder, because nothing in the sandbox writes there.
 */
export function storageFolder({ home, variables }: Environment): string {
  const data = variables.XDG_DATA_HOME;
  return `${data?.startsWith("/") ? data.replace(/\/+$/, "") : `${home}/.local/share`}/flemma/vellum`;
}
