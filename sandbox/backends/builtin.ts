// The built-in backends, and the default registry.

import { failure, type Outcome, type Problem, success } from "../../base/problem.ts";
import type { BUILTIN_BACKENDS } from "../../config/schema/catalog.ts";
import { runBriefly } from "../process/run_helper.ts";
import { bwrapSettings, wrapBwrap } from "./bwrap.ts";
import { container } from "./container.ts";
import { INSTALL_BUBBLEWRAP } from "./failures.ts";
import { prepareBwrap } from "./prepare.ts";
import { BackendRegistry } from "./registry.ts";
import { seatbelt } from "./seatbelt.ts";
import { ARCHITECTURES } from "../kernel/seccomp.ts";
import type { Backend, BackendConfig, Host, Policy } from "../types.ts";

/** Time limit for asking a program for its version, in milliseconds. */
const VERSION_LIMIT = 2000;

/** Problem codes that mean that bubblewrap is absent. */
const ABSENT: ReadonlySet<string> = new Set(["program-not-found", "other-system"]);

export const bwrap: Backend = {
  priority: 100,
  description: "Bubblewrap: a read-only file system with writable exceptions, in separate namespaces",
  available: (config, host) => {
    const found = bwrapProgram(config, host);
    // If the program exists but must not be used, for instance because a command planted it, the backend is not absent
    // but broken.
    return found.ok || !ABSENT.has(found.problem.code) ? success(undefined) : found;
  },
  wrap: wrapBwrap,
  prepare: prepareBwrap,
  retry: bwrapRetry,
  hardening: bwrapHardening,
  version: bwrapVersion,
};

const landlock: Backend = {
  priority: 50,
  repairs: true,
  description: "Landlock: rules of the kernel for files, sockets and signals, without namespaces",
  available: async (_config, host) => (await import("./landlock.ts")).isLandlockPresent(host),
  wrap: () => failure("needs-preparation", "Landlock needs a launcher, and not only an argument list."),
  prepare: async (policy, _config, inner, host) =>
    await (await import("./landlock.ts")).prepareLandlock(policy, inner, host),
  coverage: async (policy) => (await import("./landlock.ts")).planFor(policy),
};

/** Order does not matter; priority decides which is tried first. */
const BUILT_IN: Readonly<Record<typeof BUILTIN_BACKENDS[number], Backend>> = {
  bwrap,
  landlock,
  seatbelt,
  container,
};

/** Registers the built-in backends that are missing. */
export function registerBuiltinBackends(registry: BackendRegistry): void {
  for (const [name, backend] of Object.entries(BUILT_IN)) {
    if (!registry.has(name)) registry.register(name, backend);
  }
}

/** The registry of this process. */
export const backends: BackendRegistry = new BackendRegistry();
registerBuiltinBackends(backends);

function bwrapProgram(config: BackendConfig, host: Host): Outcome<string> {
  if (Deno.build.os !== "linux") {
    return failure("other-system", "Bubblewrap is available on Linux only.");
  }
  const settings = bwrapSettings(config);
  if (!settings.ok) return settings;
  const found = host.program(settings.value.path);
  if (found.ok || found.problem.next !== undefined) return found;
  return { ok: false, problem: { ...found.problem, next: INSTALL_BUBBLEWRAP } };
}

/** If the machine refused an optional part of the sandbox, returns the settings without that part; otherwise null. */
function bwrapRetry(config: BackendConfig, problem: Problem): BackendConfig | null {
  const part = "part" in problem && typeof problem.part === "string" ? problem.part : null;
  return (part === "proc" || part === "seccomp") && config[part] !== false
    ? { ...config, [part]: false }
    : null;
}

function bwrapHardening(policy: Policy, config: BackendConfig, host: Host): string[] {
  const settings = bwrapSettings(config);
  const privileged = host.root && policy.allow_privileged;
  const filtered = settings.ok && settings.value.seccomp && !privileged &&
    Object.hasOwn(ARCHITECTURES, Deno.build.arch);
  return [
    ...(host.root && !privileged
      ? ["Running as root: commands get no capabilities and cannot change kernel settings."]
      : []),
    filtered
      ? "System calls for mounts, key rings, kernel tracing and terminal input are blocked."
      : privileged
      ? "System calls are not filtered, because commands keep root privileges."
      : "System calls are not filtered: this machine has no filter, or refuses it.",
    ...(settings.ok && !settings.value.proc
      ? ["A separate /proc was refused: commands see the processes of this machine, but cannot reach them."]
      : []),
  ];
}

/** Output of `bwrap --version` without the name of the program; null if it is empty. */
async function bwrapVersion(config: BackendConfig, host: Host): Promise<string | null> {
  const found = bwrapProgram(config, host);
  if (!found.ok) return null;
  const ran = await runBriefly([found.value, "--version"], { cwd: "/", env: {} }, VERSION_LIMIT);
  return ran.ok ? ran.value.stdout.trim().replace(/^bubblewrap /, "") || null : null;
}
