// The processes of this machine as Linux lists them: who is whose child, in which group and session.

/** One process at the moment of a look. */
export interface ProcessEntry {
  readonly pid: number;
  /** Process id of its parent. */
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** When it started, in the kernel's ticks since boot: with the pid it names one process and no later one. */
  readonly started: string;
  /** False for one that has ended and only waits to be collected. */
  readonly alive: boolean;
}

/** Every process that can be seen; empty on systems without `/proc`. */
export function processTable(): ProcessEntry[] {
  if (Deno.build.os !== "linux") return [];
  const found: ProcessEntry[] = [];
  for (const { name } of Deno.readDirSync("/proc")) {
    const entry = /^[0-9]+$/.test(name) ? processEntry(Number(name)) : null;
    if (entry !== null) found.push(entry);
  }
  return found;
}

/** One process; null when there is none of this number, or it ended while it was looked at. */
export function processEntry(pid: number): ProcessEntry | null {
  let text: string;
  try {
    text = Deno.readTextFileSync(`/proc/${pid}/stat`);
  } catch {
    return null;
  }
  // The program's name stands in parentheses and may hold anything; the fields follow the last one.
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

/** What `endsWithOutside` looks at. */
export interface ProcessReader {
  /** What the kernel says of a process; null when there is none of this number, or it may not be looked at. */
  status(pid: number): string | null;
  hasChild(pid: number): boolean;
}

/**
 * Whether the first process inside a sandbox of bubblewrap, by its number out here, has asked the kernel by now to be ended
 * with the one that waits for it outside. The kernel does not show that. It is the last but one thing that process does:
 * after it comes the filter of system calls, where there is one, and then it sleeps for good beside its child, or is the
 * command itself. In a container both may have filters from the first, so they are counted.
 *
 * @param outside the one that waits for it
 * @param filtered whether system calls are filtered
 * @returns null when it cannot be looked at
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
  // Kernels before 5.9 do not count them.
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
