// What Landlock costs besides time: memory of the launchers of a run, and processor time of many rules.

import { planFor, prepareLandlock } from "../../sandbox/backends/landlock.ts";
import { landlockVersion } from "../../sandbox/kernel/landlock_version.ts";
import { GUARD_ROLE, WAITS } from "../../sandbox/kernel/launcher_plan.ts";
import { createSandbox, spawn } from "../../sandbox/mod.ts";
import { processTable } from "../../sandbox/process/process_table.ts";
import { emptyPolicy } from "../../sandbox/protect/mountable.ts";
import type { Host } from "../../sandbox/types.ts";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import type { Bench, Figure } from "../harness.ts";

const ROUNDS = 50;

/** Numbers of writable folders, each of which needs a rule. */
const FEW = 10;
const MANY = 1000;

/** Clock ticks per second, in which Linux counts processor time for programs. */
const TICKS = 100;

const bench: Bench = {
  name: "landlock",
  about:
    `Processor time of one empty command under Landlock: mean of ${ROUNDS} runs. Memory that the processes of a launcher share with no others, for the launcher that waits for the next command, and for that of a command that runs`,
  async run(): Promise<readonly Figure[]> {
    if (!landlockVersion().ok) return [];
    const folder = await Deno.makeTempDir({ dir: "/var/tmp", prefix: "flemma-bench-" });
    try {
      const environment = { cwd: folder, home: folder, variables: { PATH: "/usr/bin:/bin" } };
      const sandbox = createSandbox({
        settings: { ...DEFAULT_SETTINGS.sandbox, backend: "landlock" },
        environment,
        document: `${folder}/notes.chat`,
        protect: [],
      });
      for (let at = 0; at < MANY; at++) await Deno.mkdir(`${folder}/folder-${at}`);
      const foldersOf = (count: number) => Array.from({ length: count }, (_, at) => `${folder}/folder-${at}`);
      const few = await timeWith(foldersOf(FEW), sandbox.host);
      const many = await timeWith(foldersOf(MANY), sandbox.host);
      const { waiting, running } = await memoryOfLaunchers(sandbox.host, foldersOf(FEW));
      await sandbox.endWorker();
      return [
        { case: `${FEW} writable folders: time`, value: few, unit: "ms" },
        { case: `${MANY} writable folders: time`, value: many, unit: "ms" },
        { case: `${MANY - FEW} more rules: time`, value: many - few, unit: "ms", goal: 15 },
        { case: "launcher that waits: memory", value: waiting, unit: "MB", goal: 30 },
        { case: "launcher of a command: memory", value: running, unit: "MB", goal: 20 },
      ];
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
};

export default bench;

/** Processor time of this process's ended children and theirs, in milliseconds. */
function timeOfChildren(): number {
  const stat = Deno.readTextFileSync("/proc/self/stat");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[13]) + Number(fields[14])) * 1000 / TICKS;
}

async function timeWith(rw_paths: readonly string[], host: Host): Promise<number> {
  const plan = planFor({ ...emptyPolicy(false), rw_paths });
  if (!plan.ok || plan.value.rules.length < rw_paths.length) throw new Error("there are too few rules");
  const begun = timeOfChildren();
  for (let at = 0; at < ROUNDS; at++) await run(rw_paths, host, ["/bin/true"], () => {});
  return (timeOfChildren() - begun) / ROUNDS;
}

/** Runs one command with a launcher of its own, and calls `meanwhile` once it has printed something or ended. */
async function run(
  rw_paths: readonly string[],
  host: Host,
  inner: readonly string[],
  meanwhile: () => void,
): Promise<void> {
  const prepared = await prepareLandlock({ ...emptyPolicy(false), rw_paths }, inner, host);
  if (!prepared.ok) throw new Error(prepared.problem.message);
  const started = spawn(prepared.value.argv, { cwd: "/", env: { PATH: "/usr/bin:/bin" } });
  if (!started.ok) throw new Error(started.problem.message);
  const { stdout, stderr, status } = started.value;
  const reader = stdout.getReader();
  await reader.read();
  meanwhile();
  await reader.cancel();
  const [err, { code }] = await Promise.all([new Response(stderr).text(), status]);
  if (code !== 0) throw new Error(err);
  await prepared.value.dispose();
}

/** Memory in MB of the launcher that waits, and of that of a command that runs, without the command. */
async function memoryOfLaunchers(
  host: Host,
  rw_paths: readonly string[],
): Promise<{ readonly waiting: number; readonly running: number }> {
  let [waiting, running] = [0, 0];
  await run(rw_paths, host, ["/bin/sh", "-c", "echo ready; sleep 0.1"], () => {
    for (const { pid, parent } of processTable()) {
      const words = parent === Deno.pid ? textOf(pid, "cmdline").split("\0") : [];
      if (!words.includes(GUARD_ROLE)) continue;
      if (words.at(-2) === WAITS) waiting += ownMemory(pid);
      else running += ownMemory(pid);
    }
  });
  return { waiting, running };
}

/** Memory in MB that a launcher and its child processes share with no other process, without a command. */
function ownMemory(pid: number): number {
  const lines = textOf(pid, "smaps_rollup").matchAll(/^Private_(?:Clean|Dirty):\s*(\d+) kB/gm);
  const own = [...lines].reduce((sum, [, count]) => sum + Number(count), 0) / 1024;
  const children = processTable().filter(({ pid: child, parent }) =>
    parent === pid && textOf(child, "cmdline").includes("launcher.js")
  );
  return children.reduce((sum, child) => sum + ownMemory(child.pid), own);
}

function textOf(pid: number, name: string): string {
  return Deno.readTextFileSync(`/proc/${pid}/${name}`);
}
