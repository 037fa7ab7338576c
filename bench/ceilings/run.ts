// Runs the program in a separate process and measures its processor time and peak memory.

/** The result of a run. */
export interface Spent {
  /** Milliseconds of processor time, so that other work of the machine does not count. */
  readonly milliseconds: number;
  /** Peak memory in MB. */
  readonly memory: number;
  readonly stdout: string;
}

const CLI = new URL("../../cli.ts", import.meta.url).pathname;
const POLL = 20;
const MB = 1024 * 1024;
/** Clock ticks per second, in which Linux counts processor time for programs. */
const TICKS = 100;

/**
 * Runs the program, or a bundle of it, in `folder`. Throws with its output if it does not end as expected. A program
 * that does not end by itself is sent SIGINT after `during`, which can wait for its messages. Linux only.
 */
export async function spent(
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  exits: readonly number[] = [0],
  program = CLI,
  during?: (printed: (words: string) => Promise<void>) => Promise<void>,
): Promise<Spent> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", program, ...args],
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
  // Both figures only grow, so the last measurement misses at most one interval.
  const watch = setInterval(() => {
    memory = Math.max(memory, peakOf(child.pid));
    ticks = Math.max(ticks, ticksOf(child.pid));
  }, POLL);
  const stdout = new Response(child.stdout).text();
  let stderr = "";
  const messages = (async () => {
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) stderr += text;
  })();
  if (during !== undefined) {
    await during(async (words) => {
      while (!stderr.includes(words)) await new Promise((done) => setTimeout(done, POLL));
    });
    child.kill("SIGINT");
  }
  const { code } = await child.status;
  await messages;
  clearInterval(watch);
  if (!exits.includes(code)) {
    throw new Error(`flemma ${args.join(" ")}: exit ${code}\n${stderr.slice(-2000)}`);
  }
  return { milliseconds: ticks * 1000 / TICKS, memory: memory / MB, stdout: await stdout };
}

/** Peak memory of a process in bytes; 0 once it has ended. */
function peakOf(pid: number): number {
  const found = /^VmHWM:\s*(\d+) kB/m.exec(procText(pid, "status"));
  return Number(found?.[1] ?? 0) * 1024;
}

/** Processor time of a process in ticks, without its ended children. */
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
