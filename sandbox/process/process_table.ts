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
