// The rules of Landlock for a policy: which rights to grant below which paths, and what they do not cover. Pure.

import { failure, type Outcome, success } from "../../base/problem.ts";
import { isInside } from "../../base/paths.ts";
import type { MountablePolicy } from "../types.ts";

/** Rights to files, as bits of the kernel interface. */
export const RIGHTS = {
  execute: 1 << 0,
  write_file: 1 << 1,
  read_file: 1 << 2,
  read_dir: 1 << 3,
  remove_dir: 1 << 4,
  remove_file: 1 << 5,
  make_char: 1 << 6,
  make_dir: 1 << 7,
  make_reg: 1 << 8,
  make_sock: 1 << 9,
  make_fifo: 1 << 10,
  make_block: 1 << 11,
  make_sym: 1 << 12,
  refer: 1 << 13,
  truncate: 1 << 14,
  ioctl_dev: 1 << 15,
} as const;

const { execute, write_file, read_file, read_dir, make_char, make_block, refer, truncate, ioctl_dev } =
  RIGHTS;

/** Rights that apply to a file. The kernel refuses a rule for a file that has other rights. */
const FILE_RIGHTS = execute | write_file | read_file | truncate | ioctl_dev;
const READ = execute | read_file | read_dir;
const DEVICE = read_file | write_file | truncate | ioctl_dev;

/** Devices that commands may use. All others are unreadable. */
const DEVICES: readonly string[] = ["null", "zero", "full", "random", "urandom", "tty"];

/** The version of the interface that limits signals and abstract sockets. */
export const LIMITS_SIGNALS = 6;

/** The version of the interface from which on a feature exists. */
const SINCE = { refer: 2, truncate: 3, network: 4, ioctl: 5, scopes: LIMITS_SIGNALS } as const;

/** The latest version that this program knows; a later kernel keeps its promises. */
const LATEST = 7;

/** `exact`: files are as safe as with mounts. `repaired`: protected files are compared and restored after a command. */
export type LandlockKind = "exact" | "repaired";

/** Everything that the launcher needs to confine a command. */
export interface LandlockPlan {
  readonly kind: LandlockKind;
  /** Version of the kernel interface. */
  readonly abi: number;
  /** Rights that need a rule, as bits. */
  readonly handled: number;
  /** True if the kernel refuses TCP, except to the proxy of a network list. */
  readonly refusesTcp: boolean;
  /** True if commands have a network list. They reach its hosts through a proxy of this program, by TCP. */
  readonly proxied: boolean;
  /** Rights below paths. All paths are real. */
  readonly rules: readonly LandlockRule[];
  /** What a sandbox with namespaces would refuse, and this one does not. A sentence for each topic. */
  readonly notCovered: readonly string[];
}

export interface LandlockRule {
  readonly path: string;
  readonly rights: number;
  /** True if the command must not run without this rule. Other paths may have vanished. */
  readonly needed: boolean;
}

/** An entry of a folder. */
export interface FolderEntry {
  readonly name: string;
  readonly kind: "file" | "folder" | "link";
}

/** What the file system has. */
export interface FileSystemFacts {
  /** The kind of a path, links not followed; null if it does not exist. */
  kindOf(path: string): FolderEntry["kind"] | null;
  /** Entries of a folder; empty if it cannot be listed. */
  entries(folder: string): readonly FolderEntry[];
}

/** All rights that a kernel with this version of the interface knows. */
function knownRights(abi: number): number {
  const from = (version: number, right: number) => abi >= version ? right : 0;
  const first = (1 << 13) - 1;
  return first | from(SINCE.refer, refer) | from(SINCE.truncate, truncate) | from(SINCE.ioctl, ioctl_dev);
}

/**
 * Plans the rules for a policy. Rights add up below a path and cannot be taken away, so a hidden path is left out by
 * granting all its neighbors on every level.
 *
 * Fails with `landlock-too-old`, or with `landlock-cannot` if the kernel cannot refuse what the policy forbids.
 *
 * @param compared protected paths that are compared after the command, because rules cannot protect them
 */
export function planLandlock(
  policy: MountablePolicy,
  abi: number,
  files: FileSystemFacts,
  compared: readonly string[] = [],
): Outcome<LandlockPlan> {
  const version = Math.min(abi, LATEST);
  if (version < SINCE.refer) {
    return failure(
      "landlock-too-old",
      "Landlock of this kernel refuses to move files between folders, so most programs would fail.",
      "Use Linux 5.19 or later.",
    );
  }
  const proxied = !policy.network && policy.network_allow.length > 0;
  const obstacle = obstacleTo(policy, proxied && version < SINCE.network);
  if (obstacle !== null) return failure("landlock-cannot", ...obstacle);
  const handled = knownRights(version);
  const exact = compared.length === 0 && !allowsLocalSockets(policy) && policy.inner.length === 0 &&
    policy.links.length === 0 &&
    version >= SINCE.scopes && !proxied;
  return success({
    kind: exact ? "exact" : "repaired",
    abi: version,
    handled,
    refusesTcp: !policy.network && version >= SINCE.network,
    proxied,
    rules: [...readRules(policy, files), ...writeRules(policy, files), ...deviceRules()]
      .map((rule) => ({ ...rule, rights: rule.rights & handled })),
    notCovered: gapsOf(policy, version, compared),
  });
}

/** True if commands can create local sockets. No rule limits which sockets they then connect to. */
export function allowsLocalSockets({ refuses_sockets, sockets }: MountablePolicy): boolean {
  return !refuses_sockets && sockets.length > 0;
}

/** Message and remedy for what rules cannot express; null if they can express all of it. */
function obstacleTo(policy: MountablePolicy, lacksPorts: boolean): [message: string, next: string] | null {
  const { rw_paths, inner, protect, hidden } = policy;
  const isWritable = (path: string) => rw_paths.some((root) => isInside(path, root));
  if (policy.allow_privileged) {
    return [
      "Landlock cannot let commands keep privileges.",
      "Set sandbox.policy.allow_privileged to false.",
    ];
  }
  if (lacksPorts) {
    return [
      "Landlock cannot limit the network to the hosts of a list on this kernel.",
      "Use Linux 6.7 or later, or set sandbox.policy.network to true or false.",
    ];
  }
  if (policy.limits.tmp_size !== undefined) {
    return [
      "Landlock cannot limit the size of /tmp.",
      "Remove tmp_size from sandbox.policy.limits.",
    ];
  }
  const covered = hidden.map(({ path }) => path).find(isWritable);
  if (covered !== undefined) {
    return [
      `Landlock cannot hide ${covered}, because it is inside a writable folder.`,
      "Move it, or remove it from sandbox.policy.deny_read, or the folder from sandbox.policy.rw_paths.",
    ];
  }
  const held = protect.find((path) =>
    isWritable(path) || [...rw_paths, ...inner].some((root) => isInside(root, path))
  );
  if (held !== undefined) {
    return [
      `Landlock cannot protect ${held}, because it is inside a writable folder and cannot be restored after a command.`,
      "Remove the folder around it from sandbox.policy.rw_paths.",
    ];
  }
  const system = rw_paths.find((path) =>
    path === "/" || ["/dev", "/proc", "/sys"].some((each) => isInside(path, each))
  );
  if (system !== undefined) {
    return [
      `Landlock cannot make ${system} writable and keep devices and kernel settings out of reach.`,
      "Remove it from sandbox.policy.rw_paths.",
    ];
  }
  return null;
}

/** Reading: every path but the hidden ones, the devices, and the writable ones, which have rules of their own. */
function readRules(policy: MountablePolicy, files: FileSystemFacts): LandlockRule[] {
  const left = ["/dev", ...policy.hidden.map(({ path }) => path), ...policy.runtime];
  const rules: LandlockRule[] = [
    // Folders can be listed, also those around hidden paths. The names in a hidden folder are visible, too.
    { path: "/", rights: read_dir, needed: true },
  ];
  const grant = (path: string, kind: FolderEntry["kind"]) => {
    if (kind === "link" || left.includes(path) || policy.rw_paths.includes(path)) return;
    if (kind === "folder" && left.some((other) => isInside(other, path))) {
      for (const entry of files.entries(path)) {
        grant(`${path === "/" ? "" : path}/${entry.name}`, entry.kind);
      }
    } else rules.push({ path, rights: kind === "folder" ? READ : READ & FILE_RIGHTS, needed: false });
  };
  grant("/", "folder");
  return rules;
}

function writeRules({ rw_paths, inner }: MountablePolicy, files: FileSystemFacts): LandlockRule[] {
  // Without capabilities nobody makes devices, but a rule costs nothing.
  const all = knownRights(LATEST) & ~(make_char | make_block | ioctl_dev);
  return [...rw_paths, ...inner].map((path) => ({
    path,
    rights: files.kindOf(path) === "folder" ? all : all & FILE_RIGHTS,
    needed: true,
  }));
}

function deviceRules(): LandlockRule[] {
  return DEVICES.map((name) => ({ path: `/dev/${name}`, rights: DEVICE, needed: false }));
}

function gapsOf(policy: MountablePolicy, abi: number, compared: readonly string[]): string[] {
  const hides = policy.hidden.length + policy.runtime.length > 0;
  return [
    ...(compared.length > 0
      ? [
        "Protected files can be changed while a command runs. They are compared and restored when it has ended.",
        "The text of the document can be changed by commands. Approvals that they could have written do not count.",
      ]
      : []),
    ...(policy.partly ?? []).map((path) =>
      `${path} is too large to restore completely: of large files and deep folders, changes are only reported.`
    ),
    ...(policy.inner.length + policy.links.length > 0
      ? ["Folders around writable and protected paths can be moved while a command runs."]
      : []),
    "Modes, owners, times and attributes of files outside the writable folders can be changed by their owner.",
    ...(hides ? ["The names of hidden files are visible. Their contents are not."] : []),
    ...(policy.runtime.some((path) => policy.rw_paths.some((root) => isInside(path, root)))
      ? ["Folders of sockets inside writable folders can be read and changed."]
      : []),
    "All processes and their command lines are visible, and so are the names of devices and sockets.",
    "The processors that your other processes use can be changed.",
    ...(!policy.network && policy.network_allow.length > 0
      ? [
        "The port of the proxy for the network list, which differs for each command, can be reached on every host.",
      ]
      : []),
    "Shared memory and message queues of System V and POSIX are shared with the machine.",
    ...(!allowsLocalSockets(policy)
      ? []
      : ["All local sockets can be reached, because sandbox.policy.sockets lists some."]),
    ...(abi < SINCE.truncate
      ? ["Files that can be read can be emptied when they are opened, on this kernel (before Linux 6.2)."]
      : []),
    ...(abi < SINCE.scopes
      ? ["Commands can send signals to your other processes, on this kernel (before Linux 6.12)."]
      : []),
  ];
}
