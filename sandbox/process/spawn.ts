// The one place where child processes begin and end: own session, no terminal, argument arrays only.

import { failure, type Outcome, success, thrownText } from "../../base/problem.ts";
import type { Running, SpawnOptions } from "../types.ts";

export type { ExitStatus, Running, SpawnOptions } from "../types.ts";

/** Milliseconds between the polite signal and the final one. */
const GRACE = 2000;

/** Milliseconds before the first look at whether a group that was told to end is gone; doubles up to the last. */
const FIRST_LOOK = 5;
const LAST_LOOK = 250;

/** What opens a gate. */
const LINE: Uint8Array = new Uint8Array([10]);

/** What has to happen between the start of a process and that of its command. */
export interface Gate {
  /** Called once with the id of the group; when it throws, the command does not begin. */
  open(group: number): void;
}

/**
 * Starts `argv` without a shell, in a session of its own (tools 8.1, sandbox 6.3).
 *
 * Fails with `program-not-found`, `program-not-executable`, `no-such-directory` or `spawn-failed`.
 */
export function spawn(argv: readonly string[], options: SpawnOptions, gate?: Gate): Outcome<Running> {
  const [program, ...args] = argv;
  if (program === undefined || program === "") {
    return failure("spawn-failed", "There is no program to start: the command is empty.");
  }
  let child: Deno.ChildProcess;
  try {
    child = new Deno.Command(program, {
      args,
      cwd: options.cwd,
      env: { ...options.env },
      clearEnv: true,
      stdin: options.stdin === undefined && gate === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
      detached: true,
    }).spawn();
  } catch (thrown) {
    return spawnFailure(program, options.cwd, thrown);
  }
  if (gate !== undefined) {
    try {
      gate.open(child.pid);
    } catch (thrown) {
      // Its standard input ends, and so does whatever waits for the line.
      feed(child.stdin, []);
      child.stdout.cancel();
      child.stderr.cancel();
      return failure("command-not-recorded", `The command was not started: ${thrownText(thrown)}.`);
    }
  }
  const line = gate === undefined ? [] : [LINE];
  if (options.stdin !== undefined || gate !== undefined) {
    feed(child.stdin, options.stdin === undefined ? line : [...line, options.stdin]);
  }
  let killing: Promise<void> | undefined;
  return success({
    pid: child.pid,
    stdout: child.stdout,
    stderr: child.stderr,
    status: child.status.then(({ code, signal }) => ({ code, signal })),
    kill: () => killing ??= endGroup(child.pid),
  });
}

/** Writes all parts and closes the pipe. A child that stops reading early is its own business. */
function feed(pipe: WritableStream<Uint8Array>, parts: readonly Uint8Array[]): void {
  const writer = pipe.getWriter();
  const written = parts.map((part) => writer.write(part));
  Promise.all(written).then(() => writer.close()).catch(() => {});
}

/** Ends a process group as `Running.kill` does. */
export async function endGroup(group: number): Promise<void> {
  if (!signalGroup(group, "SIGTERM")) return;
  const deadline = performance.now() + GRACE;
  for (let pause = FIRST_LOOK; performance.now() < deadline; pause = Math.min(2 * pause, LAST_LOOK)) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    if (!groupLives(group)) return;
  }
  signalGroup(group, "SIGKILL");
}

/**
 * Whether a process of the group still runs. Signal 0 also reaches zombies, and the first process of a container
 * may take seconds to collect them or never do it; so on Linux the state of each member decides.
 */
function groupLives(group: number): boolean {
  if (!signalGroup(group, 0)) return false;
  if (Deno.build.os !== "linux") return true;
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^[0-9]+$/.test(name)) continue;
    let stat: string;
    try {
      stat = Deno.readTextFileSync(`/proc/${name}/stat`);
    } catch {
      continue; // It ended between the listing and the look.
    }
    // The program's name stands in parentheses and may hold anything; state and group follow the last one.
    const [state, , member] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (Number(member) === group && state !== "Z" && state !== "X") return true;
  }
  return false;
}

/** Signals every process of a group; false when none is left that this user may signal. */
function signalGroup(group: number, signal: Deno.Signal | 0): boolean {
  try {
    Deno.kill(-group, signal);
    return true;
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound || thrown instanceof Deno.errors.PermissionDenied) {
      return false;
    }
    throw thrown;
  }
}

function spawnFailure(program: string, cwd: string, thrown: unknown): Outcome<Running> {
  if (thrown instanceof Deno.errors.NotFound) {
    return isDirectory(cwd)
      ? failure(
        "program-not-found",
        `The program ${program} was not found.`,
        "Install it, or correct its name.",
      )
      : failure("no-such-directory", `The working directory ${cwd} does not exist.`);
  }
  if (thrown instanceof Deno.errors.PermissionDenied) {
    return failure(
      "program-not-executable",
      `The program ${program} may not be started in ${cwd}: permission denied.`,
      "Check the permissions of both.",
    );
  }
  return failure("spawn-failed", `The program ${program} could not be started: ${thrownText(thrown)}`);
}

function isDirectory(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}
