// Trusts the hooks of a project: the commands to run, and the files of the project that they name.

import type { Trustable } from "../../agent/extensions/trustable.ts";
import type { Environment } from "../../base/environment.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import { readProjectHooks } from "../../config/load_hooks.ts";
import { readText } from "../../config/sources/json_file.ts";
import { isTrusted, recordTrust } from "../../config/sources/trust.ts";

export const HOOKS_FILE = "/.flemma/hooks.yaml";

/** Returns the file at its real path. A file with mistakes is refused. */
export async function trustableHooks(environment: Environment, path: string): Promise<Outcome<Trustable>> {
  const found = readText(path);
  if (!found.ok) return found;
  const text = found.value;
  if (text === null) return failure("file-unreadable", `${path} no longer exists.`);
  const read = await readProjectHooks(environment, { path, text });
  if (!read.ok) return read;
  const { hooks, files, faults } = read.value;
  if (faults.length > 0) {
    const lines = faults.map((fault) => `${path}: ${fault}`);
    return failure("hooks-invalid", lines.join("\n"), "Correct the file before you trust it.");
  }
  return success({
    path,
    lines: hooks.map(({ event, matcher, command }) =>
      `runs in the sandbox for ${event}${matcher === "" ? "" : ` of ${matcher}`}: ${command}`
    ),
    nothing: "defines no hooks",
    isAgreed: () => isTrusted(environment, path, text, { data: files }),
    agree: async () => {
      const recorded = await recordTrust(environment, path, text, { data: files }, new Date());
      return recorded.ok ? success(recorded.value.files.map((file) => `including ${file.path}`)) : recorded;
    },
    agreed: `${path} is trusted in its current version, until it or one of these files changes.`,
  });
}
