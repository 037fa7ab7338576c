// The macOS sandbox: a profile as text, passed to `sandbox-exec`. The profile was written from the description of its
// language and never tested on macOS; the probe shows whether it works.

import { failure, type Outcome, success } from "../../base/problem.ts";
import { parentOf } from "../../base/paths.ts";
import { isInside } from "../../base/paths.ts";
import type { Backend, BackendConfig, Host, MountablePolicy, Policy } from "../types.ts";

const PROGRAM = "/usr/bin/sandbox-exec";

const DEVICES: readonly string[] = ["/dev/null", "/dev/zero", "/dev/tty", "/dev/dtracehelper"];

export interface SeatbeltExtras {
  readonly hidden: MountablePolicy["hidden"];
  readonly masked: readonly string[];
  readonly runtime: readonly string[];
}

const NOTHING: SeatbeltExtras = { hidden: [], masked: [], runtime: [] };

export const seatbelt: Backend = {
  priority: 100,
  description: "The macOS sandbox (sandbox-exec)",
  available,
  wrap: (policy, _config, inner) => success(seatbeltArguments(policy, inner)),
  prepare(policy, _config, inner) {
    const argv = seatbeltArguments(policy, inner, policy);
    return Promise.resolve(success({
      argv,
      fingerprint: argv,
      // `sandbox-exec` does not report its own failures. If it rejected the profile, the probe would have failed
      // already.
      setupFailure: () => Promise.resolve(null),
      dispose: () => Promise.resolve(),
    }));
  },
  hardening: ({ network, network_allow = [] }) => [
    "Child processes that leave their process group outlive the command: macOS has no process namespaces.",
    "Limits and the system call filter are not available.",
    ...(!network && network_allow.length > 0
      ? ["A network list cannot be enforced, so the network is off."]
      : []),
  ],
};

async function available(_config: BackendConfig, _host: Host): Promise<Outcome<void>> {
  if (Deno.build.os !== "darwin") return failure("other-system", "Seatbelt is available on macOS only.");
  try {
    const { isFile } = await Deno.stat(PROGRAM);
    if (isFile) return success(undefined);
  } catch {
    // The missing program is reported at the end of this function.
  }
  return failure("program-not-found", `${PROGRAM} does not exist.`);
}

/** The argument list. Paths are parameters, so none of them is read as profile text. */
export function seatbeltArguments(policy: Policy, inner: readonly string[], extras = NOTHING): string[] {
  const { profile, parameters } = seatbeltProfile(policy, extras);
  return [
    PROGRAM,
    ...["-p", profile],
    ...Object.entries(parameters).flatMap(([name, value]) => ["-D", `${name}=${value}`]),
    ...inner,
  ];
}

/** The profile. The last matching line decides, so refusals follow permissions. */
export function seatbeltProfile(
  policy: Policy,
  { hidden, masked, runtime }: SeatbeltExtras = NOTHING,
): { profile: string; parameters: Readonly<Record<string, string>> } {
  const parameters: Record<string, string> = {};
  const lines = ["(version 1)", "(allow default)", "(deny file-write*)"];
  const named = (prefix: string, path: string): string => {
    const name = `${prefix}${Object.keys(parameters).length}`;
    parameters[name] = path;
    return `(param ${quoted(name)})`;
  };
  for (const path of policy.rw_paths) lines.push(`(allow file-write* (subpath ${named("WRITE", path)}))`);
  for (const device of DEVICES) lines.push(`(allow file-write* (literal ${quoted(device)}))`);
  lines.push(`(allow file-write* (subpath ${quoted("/dev/fd")}))`);

  const found = new Set<string>();
  const hold = (path: string, roots: readonly string[]) => {
    for (const root of roots) {
      for (let folder = path; folder !== root; folder = parentOf(folder)) found.add(folder);
    }
  };
  for (const path of policy.protect) {
    const roots = policy.rw_paths.filter((root) => isInside(path, root));
    if (roots.length === 0 && !policy.rw_paths.some((root) => isInside(root, path))) continue;
    lines.push(`(deny file-write* (subpath ${named("PROTECT", path)}))`);
    hold(path, roots);
  }
  for (const { path } of hidden) hold(path, policy.rw_paths.filter((root) => isInside(path, root)));
  // Commands must not move these folders: a protected path could be created again in a new folder, and a hidden path
  // would be visible at its new place.
  for (const folder of found) lines.push(`(deny file-write-unlink (literal ${named("HOLD", folder)}))`);
  for (const { path, folder } of hidden) {
    lines.push(`(deny file-read* file-write* (${folder ? "subpath" : "literal"} ${named("HIDE", path)}))`);
    // A writable path inside a hidden folder is accessible, because the longer of the two paths decides.
    for (const inner of folder ? policy.rw_paths : []) {
      if (inner !== path && isInside(inner, path)) {
        lines.push(`(allow file-read* file-write* (subpath ${named("WRITE", inner)}))`);
      }
    }
  }
  if (policy.network) {
    for (const path of masked) {
      lines.push(`(deny network-outbound (remote unix-socket (path-literal ${named("SOCKET", path)})))`);
    }
    for (const path of runtime) {
      lines.push(`(deny network-outbound (remote unix-socket (subpath ${named("SOCKET", path)})))`);
    }
    if (policy.block_unix_sockets) lines.push("(deny network-outbound (remote unix-socket))");
  } else {
    lines.push("(deny network*)");
  }
  return { profile: `${lines.join("\n")}\n`, parameters };
}

function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, "\\$&")}"`;
}
