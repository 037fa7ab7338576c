// One run of the program in a process of its own: its seconds, and the most memory that it took.

/** What a run came to. */
export interface Spent {
  /** Milliseconds of the processor, so that other work of the machine does not count. */
  readonly milliseconds: number;
  /** The most that was in memory at a time, in MB. */
  readonly memory: number;
  readonly stdout: string;
}

const CLI = new URL("../../cli.ts", import.meta.url).pathname;
const POLL = 20;
const MB = 1024 * 1024;
/** Clock ticks in a second, as Linux counts the processor for programs. */
const TICKS = 100;

/** Runs the program in `folder`. Throws with what it said when it does not end as expected. Linux only. */
export async function spent(
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  exits: readonly number[] = [0],
): Promise<Spent> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", CLI, ...args],
    cwd: folder,
    env: {
      HOME: `${folder}/home`,
      NO_COLOR: "1",
      XDG_STATE_HOME: `${folder}/state`,
      XDG_RUNTIME_DIR: `${folder}/run`,
      ...env,
    },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let memory = 0;
  let ticks = 0;
  // Both figures only grow, so the last look before the end misses at most what happens in one step of the clock.
  const watch = setInterval(() => {
    memory = Math.max(memory, peakOf(child.pid));
    ticks = Math.max(ticks, ticksOf(child.pid));
  }, POLL);
  const { code, stdout, stderr } = await child.output();
  clearInterval(watch);
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  if (!exits.includes(code)) {
    throw new Error(`flemma ${args.join(" ")}: exit ${code}\n${text(stderr).slice(-2000)}`);
  }
  return { milliseconds: ticks * 1000 / TICKS, memory: memory / MB, stdout: text(stdout) };
}

/** Bytes that a process had in memory at most; 0 once it is gone. */
function peakOf(pid: number): number {
  const found = /^VmHWM:\s*(\d+) kB/m.exec(procText(pid, "status"));
  return Number(found?.[1] ?? 0) * 1024;
}

/** What a process has used of the processor, in ticks, its ended children left out. */
function ticksOf(pid: number): number {
  const stat = procText(pid, "stat");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
}

function procText(pid: number, name: string): string {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/${name}`);
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound || String(thrown).includes("os error 3")) return "";
    throw thrown;
  }
}
