// Permission flags for a Deno process that runs third-party tools: the inner layer of the sandbox.

import { parentOf } from "../../base/paths.ts";
import type { Policy } from "../types.ts";

/** Facts that the flags depend on in addition to the policy. */
export interface HostPermissions {
  /** Names of the environment variables of the process. The process may read these variables and no others. */
  readonly variables: readonly string[];
  /**
   * True if a backend wraps the process. If false, these flags are the only sandbox, and the process may not start
   * other programs, because nothing would confine them.
   */
  readonly wrapped: boolean;
}

/**
 * Returns the permission flags for `deno run`: read everywhere except hidden paths, write to writable paths except
 * protected ones, network as in the policy, the given variables. Everything else is refused without a prompt.
 */
export function permissionFlags(policy: Policy, { variables, wrapped }: HostPermissions): string[] {
  const { rw_paths, protect, deny_read = [] } = policy;
  return [
    "--no-prompt",
    "--allow-read",
    ...listFlag("--deny-read", denied(deny_read)),
    ...(rw_paths.includes("/") ? ["--allow-write"] : listFlag("--allow-write", allowed(rw_paths))),
    ...listFlag("--deny-write", denied([...protect, ...deny_read])),
    ...networkFlag(policy, wrapped),
    ...listFlag("--allow-env", variables),
    ...(wrapped ? ["--allow-run"] : []),
  ];
}

/**
 * Returns the network flag. If a backend wraps the process, the backend restricts the network, and the proxy enforces a
 * list. Without a backend, only entries that name a single host and port have an effect. All other entries cannot be
 * written as a flag, so their hosts are refused.
 */
function networkFlag({ network, network_allow = [] }: Policy, wrapped: boolean): string[] {
  if (network) return ["--allow-net"];
  if (network_allow.length === 0) return [];
  if (wrapped) return ["--allow-net"];
  const exact = network_allow.filter((entry) => !/[*/]/.test(entry));
  return listFlag(
    "--allow-net",
    exact.flatMap((entry) => /:\d+$/.test(entry) ? [entry] : onUsualPorts(entry)),
  );
}

/** Returns the host with each of the usual ports, for an entry without a port. */
function onUsualPorts(host: string): string[] {
  return [`${host}:80`, `${host}:443`];
}

/** An empty list gives no flag, because a flag without a value allows everything. */
function listFlag(flag: string, items: readonly string[]): string[] {
  return items.length === 0 ? [] : [`${flag}=${[...new Set(items)].join(",")}`];
}

/** Returns the paths to allow. A flag cannot express a comma, so a path that contains one is not allowed. */
function allowed(paths: readonly string[]): string[] {
  return paths.filter((path) => !path.includes(","));
}

/** Returns the paths to deny. For a path with a comma, it denies the folder around the path. */
function denied(paths: readonly string[]): string[] {
  return paths.map((path) => {
    let around = path;
    while (around.includes(",")) around = parentOf(around);
    return around;
  });
}
