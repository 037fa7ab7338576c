// Files that the system makes up, about processes, the kernel and devices: none of them is ever read or written by this
// program itself for a document or a model (S7). They hold the variables of every program, and some never end.

import { isInside } from "./paths.ts";

const SYSTEM_FOLDERS: readonly string[] = ["/proc", "/sys", "/dev"];

/** Kinds of file systems without files that anybody saved; they may be mounted anywhere. */
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

/** Whether a real path lies where only the system's own files are. */
export function isSystemPath(real: string): boolean {
  return SYSTEM_FOLDERS.some((folder) => isInside(real, folder));
}

/**
 * Whether the file at a real path, on the device that its status names, is one of the system's, wherever its file system is
 * mounted.
 */
export function isSystemFile(real: string, { dev }: Pick<Deno.FileInfo, "dev">): boolean {
  return isSystemPath(real) || systemDevices(mounts()).has(dev);
}

/** Device numbers of the mounts, in the form of `/proc/self/mountinfo`, that hold the system's own files. */
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

/** One number of the two, as the C library makes it. */
function deviceNumber(major: number, minor: number): number {
  const high = Math.floor(major / 0x1000) * 2 ** 44 + Math.floor(minor / 0x100) * 2 ** 20;
  return high + (major % 0x1000) * 0x100 + minor % 0x100;
}

/** The mounts as they are now; empty where the system has no such list, and so no such file systems either. */
function mounts(): string {
  try {
    return Deno.readTextFileSync("/proc/self/mountinfo");
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return "";
    throw thrown;
  }
}
