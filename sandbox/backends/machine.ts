// Decides which failures under the empty policy prove that no sandbox can work on this machine.

import { canBeSeen } from "../../base/files.ts";

/** Kernel facts that decide whether namespaces are allowed. A cached diagnosis is valid while they stay the same. */
export interface KernelFacts {
  /** Values by path below `/proc/sys`; null if the kernel has no such setting. */
  readonly settings: Readonly<Record<string, string | null>>;
  readonly userNamespaces: boolean;
  /** True if this program seems to run in a chroot, where the kernel creates no user namespaces. */
  readonly chroot: boolean;
}

/** Settings for the number of namespaces of each kind a user may have. */
const LIMITS: readonly string[] = ["user", "pid", "mnt", "uts", "ipc", "net"].map((kind) =>
  `user/max_${kind}_namespaces`
);

const SETTINGS: readonly string[] = [
  "kernel/unprivileged_userns_clone",
  "kernel/apparmor_restrict_unprivileged_userns",
  ...LIMITS,
];

export function readMachine(): KernelFacts {
  return {
    settings: Object.fromEntries(SETTINGS.map((name) => [name, readSetting(name)])),
    userNamespaces: canBeSeen("/proc/self/ns/user"),
    chroot: isChroot(rootsNow()),
  };
}

/** Facts that reveal a chroot: the reachable mounts, and a comparison of root folders. */
export interface Roots {
  /** Content of `/proc/self/mountinfo`; null if it cannot be read. */
  readonly mounts: string | null;
  /** Device and inode of the folder `/`, and of the root of process 1; null if that is not permitted. */
  readonly own: string | null;
  readonly first: string | null;
}

/** True if this program runs in a chroot: its root is not a mount, or is not the root of process 1. */
export function isChroot({ mounts, own, first }: Roots): boolean {
  const mounted = mounts?.split("\n").some((line) => line.split(" ")[4] === "/") ?? true;
  return !mounted || (own !== null && first !== null && own !== first);
}

function rootsNow(): Roots {
  return { mounts: readText("/proc/self/mountinfo"), own: folderId("/"), first: folderId("/proc/1/root/") };
}

function folderId(path: string): string | null {
  try {
    const { dev, ino } = Deno.statSync(path);
    return `${dev}:${ino}`;
  } catch {
    return null; // Process 1 belongs to another user. The mounts are usually enough to decide.
  }
}

/** The two errors that mean that the system refused something. Other errors may be temporary. */
const REFUSED = "(?:Operation not permitted|Permission denied)";

interface Cause {
  readonly pattern: RegExp;
  /** Returns whether the machine also has the condition that this cause needs. If absent, the pattern alone decides. */
  holds?(machine: KernelFacts): boolean;
}

const CAUSES: readonly Cause[] = [
  { pattern: /\bexec: \S*: (?:not found|No such file or directory)$/ },
  { pattern: /^bwrap: No permissions to creat\w+ (?:a )?new namespace\b/ },
  { pattern: new RegExp(`^bwrap: Creating new namespace failed: ${REFUSED}$`) },
  {
    pattern: /^bwrap: Creating new namespace failed, likely because the kernel does not support/,
    holds: ({ userNamespaces }) => !userNamespaces,
  },
  { pattern: /^bwrap: setting up uid map: Permission denied$/ },
  {
    pattern: /^bwrap: Creating new namespace failed: .*\(ENOSPC\)$/,
    holds: ({ settings }) => LIMITS.some((name) => settings[name] === "0"),
  },
  { pattern: new RegExp(`^bwrap: Can't mount proc on .*: ${REFUSED}$`) },
  { pattern: new RegExp(`^bwrap: Failed to make / slave: ${REFUSED}$`) },
  // The launcher has tried it, or the kernel has refused the whole sandbox.
  { pattern: /^landlock: the kernel did not refuse / },
  { pattern: /^landlock: Landlock refused .* \(error 1\)$/ },
  { pattern: new RegExp(`^bwrap: loopback: Failed RTM_NEWADDR: ${REFUSED}$`) },
];

/**
 * True if error output of a backend under the empty policy proves that this machine cannot provide a sandbox. No
 * command, other run or other user can cause one of these errors; unknown errors do not count. Only the last line
 * counts, because the backend exits after its last error.
 */
export function isOfMachine(words: string, machine: KernelFacts): boolean {
  const last = words.trimEnd().split("\n").at(-1) ?? "";
  return CAUSES.some(({ pattern, holds }) => pattern.test(last) && (holds?.(machine) ?? true));
}

/**
 * Returns the value of a kernel setting; null if this kernel lacks the setting. That a setting is missing identifies a
 * machine, just as its value would.
 */
function readSetting(name: string): string | null {
  return readText(`/proc/sys/${name}`)?.trim() ?? null;
}

function readText(path: string): string | null {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return null;
  }
}
