// Uses the container around this program as the only sandbox. flemma never chooses this backend automatically; the
// person has to ask for it.

import { failure, type Outcome, success } from "../../base/problem.ts";
import type { Backend, BackendConfig, Host } from "../types.ts";

/** Runs commands unchanged; the container around the whole program confines them. */
export const container: Backend = {
  priority: 10,
  confines: false,
  description: "container (trusted by your settings): flemma does not confine commands inside it",
  available: trusted,
  wrap: (_policy, _config, inner) => success([...inner]),
  probe: () => Promise.resolve(success(undefined)),
  hardening: () => [
    "The container counts as the sandbox because sandbox.backends.container.trusted is set: rules about writable, " +
    "hidden and protected paths, network and limits apply only to flemma's own tools, not to commands.",
  ],
};

function trusted(config: BackendConfig, host: Host): Outcome<void> {
  if (config.trusted !== true) {
    return failure("container-not-trusted", "sandbox.backends.container.trusted is not set.");
  }
  return host.container ? success(undefined) : failure(
    "no-container",
    "sandbox.backends.container.trusted is set, but this machine does not look like a container.",
    "Remove it from the settings.",
  );
}
