// The place in which helper programs for keys run: outside the sandbox, where commands can write nothing that these
// programs load.

import type { Environment } from "../../base/environment.ts";
import type { Settings } from "../../config/settings.generated.ts";
import type { HelperPlace } from "../../providers/keys/types.ts";
import { resolvePolicy } from "../../sandbox/mod.ts";
import { namedCode, namedInShell } from "../../sandbox/outside/named_code.ts";
import { makeOutsidePlace } from "../../sandbox/outside/place.ts";

/** Returns the place for helper programs, created when one is about to run. */
export function helperPlace(
  { sandbox }: Pick<Settings, "sandbox">,
  environment: Environment,
  document: string | null,
): () => HelperPlace {
  return () => {
    const policy = sandbox.enabled ? resolvePolicy(sandbox, { environment, document }) : null;
    const roots = policy?.ok ? policy.value.rw_paths : [];
    const made = makeOutsidePlace("keys", environment.variables, environment, roots);
    // Keys may be needed to find out that the state folder is unusable.
    if (!made.ok) return { environment, refusal: () => made.problem.message.replace(/\.$/, "") };
    const { cwd, variables } = made.value;
    const within = { home: environment.home, folders: [environment.cwd, cwd], roots };
    return {
      environment: { ...environment, cwd, variables },
      refusal(command) {
        const code = typeof command === "string" ? namedInShell(command, within) : namedCode(command, within);
        return code === null
          ? null
          : `it names ${code}, which commands in the sandbox can change; move it to a folder that is not in ` +
            "sandbox.policy.rw_paths";
      },
    };
  };
}
