// The instructions with which a new document starts, from the setting `new.system`.

import { configFolder } from "../../base/folders.ts";
import { expandHome } from "../../base/paths.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import type { Settings } from "../../config/settings.generated.ts";
import { readDocument } from "../../cycle/storage/read.ts";
import type { Invocation } from "../invocation.ts";

const INSTRUCTIONS = '{{ include("urn:flemma:personality:coding-assistant") }}';

/** Returns the system message of a new document. Fails with `config-invalid` if the setting names an unreadable file. */
export async function newInstructions(
  { environment }: Invocation,
  { new: { system } }: Pick<Settings, "new">,
): Promise<Outcome<string>> {
  if (system === null) return success(INSTRUCTIONS);
  if (!isPath(system)) return success(system);
  const path = expandHome(system, environment.home);
  const read = await readDocument(
    path.startsWith("/") ? path : `${configFolder(environment)}/${path}`,
    environment,
  );
  if (read.ok) return success(new TextDecoder().decode(read.value.bytes).trimEnd());
  return failure(
    "config-invalid",
    `The setting new.system names a file. ${read.problem.message}`,
    "Correct it, or set the text itself, starting with a word.",
  );
}

/** True if the setting is a path instead of the text itself. */
function isPath(system: string): boolean {
  return /^(?:\.{1,2}|~)?\/[^\n]*$/.test(system);
}
