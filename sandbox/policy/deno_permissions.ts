// What a Deno process that runs tools of others may do, as flags: the inner layer of the sandbox (tools 7.7).

import { parentOf } from "../../base/paths.ts";
import type { Policy } from "../types.ts";

/** What the flags depend on besides the policy. */
export interface HostPermissions {
  /** Names of the variables the process is given; it may read these and no others. */
  readonly variables: readonly string[];
  /**
   * Whether a backend stands around the process. Without one these flags are the only wall, so it may start no other
   * program: one that it starts would be bound by nothing.
   */
  readonly wrapped: boolean;
}

/**
 * The permission flags for `deno run`: reading everywhere but hidden paths, writing to the writable paths but protected
 * ones, the network of the policy, the given variables. Everything else is refused without a question.
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
 * Behind a backend the network is walled off there, and a list is kept by the proxy. Alone, only those entries of a list
 * count that mean one host and port; what cannot be said in a flag is refused.
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

/** What an entry without a port stands for. */
function onUsualPorts(host: string): string[] {
  return [`${host}:80`, `${host}:443`];
}

/** An empty list is no flag: alone it would mean everything. */
function listFlag(flag: string, items: readonly string[]): string[] {
  return items.length === 0 ? [] : [`${flag}=${[...new Set(items)].join(",")}`];
}

/** A comma cannot be said in a flag. A path that holds one is not allowed. */
function allowed(paths: readonly string[]): string[] {
  return paths.filter((path) => !path.includes(","));
}

/** Of a path with a comma the folder around is denied. */
function denied(paths: readonly string[]): string[] {
  return paths.map((path) => {
    let around = path;
    while (around.includes(",")) around = parentOf(around);
    return around;
  });
}
