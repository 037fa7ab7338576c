// The program's version, and the options that ask for it.

import manifest from "../../deno.json" with { type: "json" };

export const VERSION: string = manifest.version;

/** True if the first word asks for the version. */
export function asksForVersion([first]: readonly string[]): boolean {
  return first === "--version" || first === "-V";
}
