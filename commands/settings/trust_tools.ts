// Trusts the tool files of a project: shows which files there are, and that they run.

import type { Environment } from "../../base/environment.ts";
import { type Outcome, success } from "../../base/problem.ts";
import { areTrusted, filesIn, trustFiles } from "../../config/sources/tool_folders.ts";
import type { Trustable } from "../../agent/extensions/trustable.ts";

/** Returns the folder of tool files, at its real path. Fails with `file-unreadable`. */
export async function trustableTools(environment: Environment, folder: string): Promise<Outcome<Trustable>> {
  const names = await filesIn(folder);
  if (!names.ok) return names;
  return success({
    path: folder,
    lines: names.value.map((name) => `runs the code of the tool file ${name} and of its imports`),
    nothing: "contains no tool files",
    isAgreed: () => areTrusted(environment, folder, names.value),
    agree: async () => {
      const recorded = await trustFiles(environment, folder, names.value);
      return recorded.ok ? success(recorded.value.files.map((file) => `including ${file.path}`)) : recorded;
    },
    agreed:
      `The tool files in ${folder} are trusted in their current version, until one changes or is added.`,
  });
}
