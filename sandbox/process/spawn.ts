// The one place where child processes begin and end: own session, no terminal, argument arrays only.

import { failure, type Outcome, type Problem, success, thrownText } from "../../base/problem.ts";
import type { Running, SpawnOptions } from "../types.ts";
import { endFamily, killFamily } from "./end_family.ts";
import { MARK } from "./marks.ts";
import { processEntry } from "./process_table.ts";

export type { ExitStatus, Running, SpawnOptions } from "../types.ts";

/** What opens a gate. */
const LINE: Uint8Array = new Uint8Array([10]);

/** What has to happen between the start of a process and that of its command. */
export interface Gate {
  /**
   * Called once with the id of the group, while the process gets ready; a problem keeps the command from beginning. `ended`
   * settles when the process is gone.
   */
  open(group: number, ended: Promise<unknown>): Problem | null;
  /** By which descendants are known that nothing else holds together. */
  readonly mark?: string;
}

/**
 * Starts `argv` without a shell, in a session of its own (tools 8.1, sandbox 6.3).
 *
 * Fails with `program-not-found`, `program-not-executable`, `no-such-directory`, `spawn-failed`, or with what the gate says.
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
      env: { ...options.env, ...(gate?.mark === undefined ? {} : { [MARK]: gate.mark }) },
      clearEnv: true,
      stdin: options.stdin === undefined && options.keepInput !== true && gate === undefined
        ? "null"
        : "piped",
      stdout: "piped",
      stderr: "piped",
      detached: true,
    }).spawn();
  } catch (thrown) {
    return spawnFailure(program, options.cwd, thrown);
  }
  const problem = gate?.open(child.pid, child.status) ?? null;
  if (problem !== null) {
    // Its standard input ends, and so does whatever waits for the line.
    feed(child.stdin, []);
    child.stdout.cancel();
    child.stderr.cancel();
    return { ok: false, problem };
  }
  const line = gate === undefined ? [] : [LINE];
  if (options.stdin !== undefined || gate !== undefined) {
    if (options.stdin instanceof ReadableStream) feedFrom(child.stdin, line, options.stdin);
    else feed(child.stdin, options.stdin === undefined ? line : [...line, options.stdin]);
  }
  const mark = gate?.mark;
  watchOver(child.pid, mark);
  let killing: Promise<void> | undefined;
  return success({
    pid: child.pid,
    ...(options.keepInput === true && gate === undefined ? { input: child.stdin } : {}),
    stdout: child.stdout,
    stderr: child.stderr,
    status: child.status.then(({ code, signal }) => ({ code, signal })),
    kill: () => killing ??= endFamily(child.pid, mark).then(() => void living.delete(child.pid)),
  });
}

/** The commands that were not ended yet, by leader. */
const living = new Map<number, { readonly started: string | undefined; readonly mark: string | undefined }>();

/** A program that ends in the middle, by its own decision, takes its commands with it: nobody would ever end them. */
function watchOver(leader: number, mark: string | undefined): void {
  globalThis.addEventListener("unload", killAll);
  living.set(leader, { started: processEntry(leader)?.started, mark });
}

function killAll(): void {
  for (const [leader, { started, mark }] of living) {
    const now = processEntry(leader);
    // Nobody ended the command although it is over, and its number belongs to another process by now.
    const isOurs = now === null || now.started === started;
    killFamily(isOurs ? leader : null, mark);
  }
}

/** Writes all parts and closes the pipe. A child that stops reading early is its own business. */
function feed(pipe: WritableStream<Uint8Array>, parts: readonly Uint8Array[]): void {
  const writer = pipe.getWriter();
  const written = parts.map((part) => writer.write(part));
  Promise.all(written).then(() => writer.close()).catch(() => {});
}

/** Writes all parts, then what a stream gives until it ends. */
function feedFrom(
  pipe: WritableStream<Uint8Array>,
  parts: readonly Uint8Array[],
  stream: ReadableStream<Uint8Array>,
): void {
  const writer = pipe.getWriter();
  for (const part of parts) writer.write(part).catch(() => {});
  writer.releaseLock();
  // A child that stops reading early is its own business.
  stream.pipeTo(pipe).catch(() => {});
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
