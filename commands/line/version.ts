// The version of this program, and how it is asked for.

import manifest from "../../deno.json" with { type: "json" };

export const VERSION: string = manifest.version;

/** Whether a command line asks for the version, whatever else stands in it. */
export function asksForVersion([first]: readonly string[]): boolean {
  return first === "--version" || first === "-V";
}
