// The folders in which tool files store their data.

import type { Environment } from "../../base/environment.ts";
import { outsideFolder } from "../../sandbox/outside/place.ts";
import { toolDataFolder } from "../../sandbox/policy/private_caches.ts";

/**
 * Returns the folder for tools in the sandbox, which commands can write too, or for tools outside of it, which must not
 * read what commands write.
 */
export function storageFolder(environment: Environment, target: "sandbox" | "host"): string {
  return target === "host" ? `${outsideFolder(environment)}/vellum` : toolDataFolder(environment);
}
