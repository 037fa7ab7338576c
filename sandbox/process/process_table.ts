// The processes of this machine as Linux lists them, with parent, group and session.

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Start time in the kernel's ticks since boot. Together with the pid, it identifies one process and no later one. */
  readonly started: string;
  /** False for a zombie: a process that has ended, but whose exit code its parent has not read yet. */
  readonly alive: boolean;
}

/** Every visible process; empty on systems without `/proc`. */
export function processTable(): ProcessEntry[] {
  if (Deno.build.os !== "linux") return [];
  const found: ProcessEntry[] = [];
  for (const { name } of Deno.readDirSync("/proc")) {
    const entry = /^[0-9]+$/.test(name) ? processEntry(Number(name)) : null;
    if (entry !== null) found.push(entry);
  }
  return found;
}

/** One process; null if there is none with this id, or it ended in the meantime. */
export function processEntry(pid: number): ProcessEntry | null {
  let text: string;
  try {
    text = Deno.readTextFileSync(`/proc/${pid}/stat`);
  } catch {
    return null;
  }
  // The program's name is in parentheses and may contain anything; the fields follow the last one.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return {
    pid,
    parent: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    started: fields[19] ?? "",
    alive: fields[0] !== "Z" && fields[0] !== "X",
  };
}

/** Reads information about processes for `endsWithOutside`. */
export interface ProcessReader {
  /** The `/proc/PID/status` text of a process; null if it does not exist or cannot be read. */
  status(pid: number): string | null;
  hasChild(pid: number): boolean;
}

/**
 * True if the first process inside a bubblewrap sandbox has asked the kernel to end it together with the process that
 * waits for it outside. The kernel does not report that request, so it is inferred. After the request, the process has
 * only one step left: it installs the system call filter, if there is one. Then the process sleeps permanently as
 * parent of the command, or is the command itself. In a container, both processes may have filters from the start, so
 * filters are counted.
 *
 * @param pid the first process inside, by its id outside
 * @param outside the process that waits for it
 * @param filtered whether system calls are filtered
 * @returns null if the processes cannot be read
 */
export function endsWithOutside(
  pid: number,
  outside: number,
  filtered: boolean,
  { status, hasChild }: ProcessReader = PROCESS_READER,
): boolean | null {
  const [own, other] = [status(pid), status(outside)];
  if (own === null || other === null) return null;
  const [filters, before] = [valueOf("Seccomp_filters", own), valueOf("Seccomp_filters", other)];
  // Kernels before 5.9 do not report the number of filters of a process.
  if (filtered && filters !== undefined && before !== undefined) return Number(filters) > Number(before);
  if (!valueOf("State", own)?.startsWith("S")) return false;
  return valueOf("Name", own) !== valueOf("Name", other) || hasChild(pid);
}

function valueOf(name: string, status: string): string | undefined {
  return new RegExp(`^${name}:\\t(.*)$`, "m").exec(status)?.[1];
}

const PROCESS_READER: ProcessReader = {
  status(pid) {
    try {
      return Deno.readTextFileSync(`/proc/${pid}/status`);
    } catch {
      return null;
    }
  },
  hasChild: (pid) => processTable().some(({ parent }) => parent === pid),
};
