// Messages about policy entries that cannot be used.

import { failure, type Outcome, type Problem } from "../../base/problem.ts";

/** The failure for an entry that looks like a URN of flemma but is unknown. */
export function unknownUrn(entry: string, setting = "rw_paths"): Outcome<never> {
  return failure(
    "unknown-urn",
    `The sandbox policy contains the unknown entry ${entry}; nothing is writable until it is corrected.`,
    `Use urn:flemma:cwd${
      setting === "rw_paths" ? ", urn:flemma:caches" : ""
    } or urn:flemma:buffer:path in sandbox.policy.${setting}.`,
  );
}

/** The notice for an entry that was left out. */
export function mistakenEntry(entry: string, reason: string, setting = "rw_paths"): Problem {
  const writable = setting === "rw_paths";
  return {
    code: writable ? "writable-path-dropped" : "policy-path-dropped",
    message: `The ${writable ? "writable path" : "entry"} "${entry}" is ignored because ${reason}.`,
    next: `Correct it in sandbox.policy.${setting}.`,
  };
}
