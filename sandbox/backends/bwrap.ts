// The argument list of bubblewrap, as a pure function of policy, settings and command (sandbox 7.1).

import { failure, type Outcome, success } from "../../base/problem.ts";
import type { BackendConfig, Policy } from "../types.ts";

/** Settings of this backend, read out of `sandbox.backends.bwrap`. */
export interface BwrapSettings {
  /** A name to be looked up in `PATH`, or a path. */
  readonly path: string;
  readonly extra_args: readonly string[];
  /** Whether the sandbox gets a /proc of its own; false only after that was refused (sandbox 12.6). */
  readonly proc: boolean;
  /** Whether system calls are filtered; false only after that was refused. */
  readonly seccomp: boolean;
}

/** What a real run puts into the list besides policy and command (sandbox 7.2). */
export interface Additions {
  /** Mounts that follow the writable paths directly, so that they lie on top of them. */
  readonly mounts: readonly string[];
  /** Options that follow `--new-session`. */
  readonly options: readonly string[];
}

const NOTHING: Additions = { mounts: [], options: [] };

/** Reads the settings of the backend; fails with `backend-misconfigured`. */
export function bwrapSettings(config: BackendConfig): Outcome<BwrapSettings> {
  const { path = "bwrap", extra_args = [], proc = true, seccomp = true } = config;
  if (typeof path !== "string" || path === "") {
    return misconfigured("sandbox.backends.bwrap.path must be the name or the path of a program.");
  }
  if (!Array.isArray(extra_args) || !extra_args.every((word): word is string => typeof word === "string")) {
    return misconfigured("sandbox.backends.bwrap.extra_args must be a list of strings.");
  }
  return success({ path, extra_args, proc: proc !== false, seccomp: seccomp !== false });
}

/** The list of sandbox 7.1, with `additions` at their places. The order is a promise. */
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
    // A command that begins with a dash would be read as options of bubblewrap.
    ...(inner[0]?.startsWith("-") ? ["--"] : []),
    ...inner,
  ];
}

/** `Backend.wrap` of bubblewrap. */
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
