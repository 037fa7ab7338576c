// Which failures of an empty sandbox say that none can work on this machine at all (safety S16).

import { canBeSeen } from "../../base/files.ts";

/** What the kernel says about namespaces; a verdict that rests on it holds while these stay the same. */
export interface Machine {
  /** Values by path below `/proc/sys`; null where the kernel knows no such setting. */
  readonly settings: Readonly<Record<string, string | null>>;
  /** Whether this kernel has user namespaces at all. */
  readonly userNamespaces: boolean;
  /** Whether this program was started in a chroot, as far as it can tell: the kernel makes no user namespaces there. */
  readonly chroot: boolean;
}

/** How many namespaces of each kind a user may have. */
const LIMITS: readonly string[] = ["user", "pid", "mnt", "uts", "ipc", "net"].map((kind) =>
  `user/max_${kind}_namespaces`
);

const SETTINGS: readonly string[] = [
  "kernel/unprivileged_userns_clone",
  "kernel/apparmor_restrict_unprivileged_userns",
  ...LIMITS,
];

/** Reads the settings now. */
export function readMachine(): Machine {
  return {
    settings: Object.fromEntries(SETTINGS.map((name) => [name, readSetting(name)])),
    userNamespaces: canBeSeen("/proc/self/ns/user"),
    chroot: isChroot(rootsNow()),
  };
}

/** What tells a chroot: the mounts that can be reached, and whose root is whose. */
export interface Roots {
  /** `/proc/self/mountinfo`; null where it cannot be read. */
  readonly mounts: string | null;
  /** Device and number of the folder `/`, and of the root of process 1; null where that may not be looked at. */
  readonly own: string | null;
  readonly first: string | null;
}

/** A root that is no mount is one, and so is a root that is not that of process 1. */
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
    return null; // Of another user's process; the mounts tell by themselves most of the time.
  }
}

/** Only these two errors are a refusal; every other one may be gone at the next try. */
const REFUSED = "(?:Operation not permitted|Permission denied)";

interface Cause {
  readonly pattern: RegExp;
  /** A condition of the machine that must hold besides; absent means none. */
  holds?(machine: Machine): boolean;
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
  { pattern: new RegExp(`^bwrap: loopback: Failed RTM_NEWADDR: ${REFUSED}$`) },
];

/**
 * Whether what a backend said at an empty policy can only mean that this machine has no sandbox to give. Nothing that a
 * command, another run or another user does leads to one of these; what is not known is none of them. The last line
 * counts: a backend dies of what it says last.
 */
export function isOfMachine(words: string, machine: Machine): boolean {
  const last = words.trimEnd().split("\n").at(-1) ?? "";
  return CAUSES.some(({ pattern, holds }) => pattern.test(last) && (holds?.(machine) ?? true));
}

/** Kernels differ in what they have; a missing setting is as good a mark as a value. */
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
