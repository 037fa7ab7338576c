// Reads untrusted files safely: never reads a system pseudo-file, never reads a file that was replaced after its check,
// and never reads endlessly. This program itself never reads or writes pseudo-files about processes, the kernel and
// devices for a document or a model. Such files contain the environment of every process, and some of them never end.

import { openRegular, openRegularSync } from "./regular_file.ts";
import { afterSilence } from "./timer.ts";
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
export function isSystemFile(real: string, { dev }: Pick<Deno.FileInfo, "dev">): boolean {
  return isSystemPath(real) || systemDevices(mounts()).has(dev);
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

/** Returns why a file must not be read, or null if it may be read. `real` is its real path. */
export type CheckFile = (real: string, info: Deno.FileInfo) => string | null;

const EXCHANGED = "it was replaced while flemma opened it";

/** Returns the bytes of a file that `check` allows, or why it is not read. Rejects with the system's errors. */
export async function readChecked(path: string, check: CheckFile): Promise<Uint8Array<ArrayBuffer> | string> {
  const real = await Deno.realPath(path);
  const info = await Deno.stat(real);
  const obstacle = check(real, info);
  if (obstacle !== null) return obstacle;
  const { file, info: opened } = await openRegular(real);
  try {
    if (!isSame(opened, info) || await Deno.realPath(path) !== real) return EXCHANGED;
    return new Uint8Array(await new Response(file.readable).arrayBuffer());
  } finally {
    file[Symbol.dispose]();
  }
}

/** Synchronous version of `readChecked`. */
export function readCheckedSync(path: string, check: CheckFile): Uint8Array<ArrayBuffer> | string {
  const real = Deno.realPathSync(path);
  const info = Deno.statSync(real);
  const obstacle = check(real, info);
  if (obstacle !== null) return obstacle;
  const { file, info: opened } = openRegularSync(real);
  using _ = file;
  if (!isSame(opened, info) || Deno.realPathSync(path) !== real) return EXCHANGED;
  const bytes = new Uint8Array(info.size);
  let filled = 0;
  for (let count = 1; filled < bytes.length && count > 0; filled += count) {
    count = file.readSync(bytes.subarray(filled)) ?? 0;
  }
  return bytes.subarray(0, filled);
}

function isSame(opened: Deno.FileInfo, checked: Deno.FileInfo): boolean {
  return opened.dev === checked.dev && opened.ino === checked.ino;
}

/** Maximum number of seconds for reading a file. A file that is small enough for a request never needs that long. */
export const READ_SECONDS = 30;

/** Thrown when the time is over. */
export class TimeOver extends Error {
  constructor(seconds: number) {
    super(`no answer within ${seconds} second${seconds === 1 ? "" : "s"}`);
  }
}

/**
 * Returns the result of `work`. If `work` takes longer than `seconds` or the signal aborts, rejects with `TimeOver` or
 * the signal's reason, and ignores a later result. A hanging system call ends only with the process.
 */
export async function withTimeout<T>(seconds: number, work: Promise<T>, signal?: AbortSignal): Promise<T> {
  let inTime = (): void => {};
  let stop = (): void => {};
  const over = new Promise<never>((_, reject) => {
    inTime = afterSilence(seconds * 1000, () => reject(new TimeOver(seconds)));
    stop = () => reject(signal?.reason);
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    inTime();
    signal?.removeEventListener("abort", stop);
  }
}
