// The argument list of bubblewrap, as a pure function of policy, settings and command.

import { failure, type Outcome, success } from "../../base/problem.ts";
import type { BackendConfig, Policy } from "../types.ts";

/** Settings of this backend, read from `sandbox.backends.bwrap`. */
export interface BwrapSettings {
  /** A name to look up in `PATH`, or a path. */
  readonly path: string;
  readonly extra_args: readonly string[];
  /** True if the sandbox gets its own /proc; false only if the machine refused that. */
  readonly proc: boolean;
  /** True if system calls are filtered; false only if the machine refused the filter. */
  readonly seccomp: boolean;
}

/** Arguments that a real run needs in addition to those from policy and command. */
export interface Additions {
  /**
   * Mount arguments. They come directly after the arguments for writable paths, so that these mounts cover the writable
   * paths.
   */
  readonly mounts: readonly string[];
  /** Options that follow `--new-session`. */
  readonly options: readonly string[];
}

const NOTHING: Additions = { mounts: [], options: [] };

/** Reads the settings of the backend. Fails with `backend-misconfigured`. */
export function bwrapSettings(config: BackendConfig): Outcome<BwrapSettings> {
  const { path = "bwrap", extra_args = [], proc = true, seccomp = true } = config;
  if (typeof path !== "string" || path === "") {
    return misconfigured("sandbox.backends.bwrap.path must be a program name or path.");
  }
  if (!Array.isArray(extra_args) || !extra_args.every((word): word is string => typeof word === "string")) {
    return misconfigured("sandbox.backends.bwrap.extra_args must be a list of strings.");
  }
  return success({ path, extra_args, proc: proc !== false, seccomp: seccomp !== false });
}

/** Returns the argument list, including `additions`. Callers rely on the order of its parts. */
export function bwrapArguments(
  policy: Policy,
  settings: BwrapSettings,
  inner: readonly string[],
  additions: Additions = NOTHING,
): string[] {
  return [
    settings.path,
    ...["--ro-bind", "/", "/"],
    ...policy.rw_paths.flatMap((path) => ["--bind", path, path]),
    ...additions.mounts,
    ...["--dev", "/dev"],
    ...(settings.proc ? ["--proc", "/proc"] : []),
    ...(policy.allow_privileged ? [] : ["--unshare-user"]),
    ...["--unshare-pid", "--unshare-uts", "--unshare-ipc"],
    policy.network ? "--share-net" : "--unshare-net",
    ...["--die-with-parent", "--new-session"],
    ...additions.options,
    ...settings.extra_args,
    // bubblewrap would read a command that begins with a dash as options.
    ...(inner[0]?.startsWith("-") ? ["--"] : []),
    ...inner,
  ];
}

export function wrapBwrap(
  policy: Policy,
  config: BackendConfig,
  inner: readonly string[],
): Outcome<string[]> {
  const settings = bwrapSettings(config);
  return settings.ok ? success(bwrapArguments(policy, settings.value, inner)) : settings;
}

function misconfigured(message: string): Outcome<never> {
  return failure("backend-misconfigured", message, "Correct it in the settings file.");
}
