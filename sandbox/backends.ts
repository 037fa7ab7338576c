// The backends this program ships, and the registry a program starts with.

import { failure, type Outcome, success } from "../config/problem.ts";
import { runBriefly } from "./brief.ts";
import { bwrapSettings, wrapBwrap } from "./bwrap.ts";
import { INSTALL_BUBBLEWRAP } from "./failures.ts";
import { prepareBwrap } from "./prepare.ts";
import { BackendRegistry } from "./registry.ts";
import type { Backend, BackendConfig, Host } from "./types.ts";

/** Milliseconds a program may take to tell its version. */
const VERSION_LIMIT = 2000;

/** Bubblewrap, on Linux. */
export const bwrap: Backend = {
  priority: 100,
  description: "Bubblewrap: read-only file system with writable exceptions, in namespaces of its own",
  available: (config, host) => {
    const found = bwrapProgram(config, host);
    return found.ok ? success(undefined) : found;
  },
  wrap: wrapBwrap,
  prepare: prepareBwrap,
  version: bwrapVersion,
};

/** Registers the built-in backends that are missing. */
export function registerBuiltinBackends(registry: BackendRegistry): void {
  if (!registry.has("bwrap")) registry.register("bwrap", bwrap);
}

/** The registry of this process. */
export const backends = new BackendRegistry();
registerBuiltinBackends(backends);

function bwrapProgram(config: BackendConfig, host: Host): Outcome<string> {
  if (Deno.build.os !== "linux") {
    return failure("program-not-found", "Bubblewrap exists on Linux only.");
  }
  const settings = bwrapSettings(config);
  if (!settings.ok) return settings;
  const found = host.program(settings.value.path);
  if (found.ok || found.problem.next !== undefined) return found;
  return { ok: false, problem: { ...found.problem, next: INSTALL_BUBBLEWRAP } };
}

/** What `bwrap --version` prints, without the name of the program; null when it prints nothing. */
async function bwrapVersion(config: BackendConfig, host: Host): Promise<string | null> {
  const found = bwrapProgram(config, host);
  if (!found.ok) return null;
  const ran = await runBriefly([found.value, "--version"], { cwd: "/", env: {} }, VERSION_LIMIT);
  return ran.ok ? ran.value.stdout.trim().replace(/^bubblewrap /, "") || null : null;
}
