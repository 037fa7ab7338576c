// Recognizes system pseudo-files. This program itself never reads or writes pseudo-files about processes, the kernel and
// devices for a document or a model. Such files contain the environment of every process, and some of them never end.

import { isInside } from "../paths.ts";

const SYSTEM_FOLDERS: readonly string[] = ["/proc", "/sys", "/dev"];

/** Types of file systems without user files; they may be mounted anywhere. */
const SYSTEM_KINDS: ReadonlySet<string> = new Set([
  ...[
    "proc",
    "sysfs",
    "devtmpfs",
    "devpts",
    "mqueue",
    "hugetlbfs",
    "binfmt_misc",
    "nsfs",
    "pstore",
    "efivarfs",
  ],
  ...["cgroup", "cgroup2", "securityfs", "selinuxfs", "smackfs", "debugfs", "tracefs", "configfs", "bpf"],
  ...["fusectl", "rpc_pipefs", "nfsd", "resctrl", "autofs"],
]);

/** True if a real path is in a folder of system pseudo-files. */
export function isSystemPath(real: string): boolean {
  return SYSTEM_FOLDERS.some((folder) => isInside(real, folder));
}

/** True if a file is a system pseudo-file, wherever its file system is mounted. */
export function isSystemFile(real: string, info: Pick<Deno.FileInfo, "dev">): boolean {
  return isSystemPath(real) || isPseudoFile(info);
}

/** True if a file is in a file system of pseudo-files. Folders such as `/dev/shm` contain ordinary files. */
export function isPseudoFile({ dev }: Pick<Deno.FileInfo, "dev">): boolean {
  return systemDevices(mounts()).has(dev);
}

/** Returns device numbers of the current mounts with system pseudo-files. */
export function systemDevicesNow(): number[] {
  return [...systemDevices(mounts())];
}

/** Returns device numbers of mounts with system pseudo-files, given the text of `/proc/self/mountinfo`. */
export function systemDevices(mountinfo: string): Set<number> {
  const devices = new Set<number>();
  for (const line of mountinfo.split("\n")) {
    const [mount = "", source = ""] = line.split(" - ", 2);
    const [major, minor] = (mount.split(" ")[2] ?? "").split(":").map(Number);
    if (major === undefined || minor === undefined || !SYSTEM_KINDS.has(source.split(" ")[0] ?? "")) continue;
    devices.add(deviceNumber(major, minor));
  }
  return devices;
}

/** Combines major and minor number like the C library's `makedev`. */
function deviceNumber(major: number, minor: number): number {
  const high = Math.floor(major / 0x1000) * 2 ** 44 + Math.floor(minor / 0x100) * 2 ** 20;
  return high + (major % 0x1000) * 0x100 + minor % 0x100;
}

/**
 * Returns the current mounts; empty if the system has no list of mounts, because such a system has no file systems with
 * pseudo-files.
 */
function mounts(): string {
  try {
    return Deno.readTextFileSync("/proc/self/mountinfo");
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return "";
    throw thrown;
  }
}
