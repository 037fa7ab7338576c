// The one place where child processes start and end: own session, no terminal, argument arrays only.

import { failure, type Outcome, type Problem, success, thrownText } from "../../base/problem.ts";
import { onExit } from "../../base/system/exit.ts";
import { after } from "../../base/system/timer.ts";
import type { PipedProcess, Running, SpawnOptions } from "../types.ts";
import { endFamily, endGently, killFamily } from "./end_family.ts";
import { MARK } from "./marks.ts";
import { processEntry } from "./process_table.ts";

export type { ExitStatus, Running, SpawnOptions } from "../types.ts";

const LINE: Uint8Array = new Uint8Array([10]);

/**
 * Milliseconds between two checks whether a process is ready: at first, and at most. The time grows with each check.
 */
const FIRST_CHECK = 1;
const LAST_CHECK = 20;

/** What must happen between the start of a process and that of its command. */
export interface Gate {
  /**
   * Called once while the process gets ready, with the id of its group. If this returns a problem, the command does not
   * begin. `ended` settles when the process is gone.
   */
  open(group: number, ended: Promise<unknown>): Problem | null;
  /**
   * Returns true if the process would now end together with this program. Polled after `open`. The command begins only
   * when the result is true, so that it cannot outlive this program. Absent if nothing ties the process to this
   * program.
   */
  isTied?(group: number): boolean;
  /**
   * Called if the process ended before its command could begin. True if the same arguments can be run again; `open` is
   * then called for the new process. Absent if that is never so.
   */
  mayRunAgain?(): boolean;
  /**
   * Returns a process that was started before the command was known; null if none was. After `open`, it gets the text
   * that names the command.
   */
  takeStarted?(): StartedAhead | null;
  /** Identifies descendants that cannot be found in another way. */
  readonly mark?: string;
  /** True if the process that starts belongs to a sandbox around the command. @default it becomes the command */
  readonly wrapped?: true;
}

/** A process that waits on its standard input for the text that names its command. */
export interface StartedAhead {
  readonly child: PipedProcess;
  readonly text: Uint8Array;
}

/**
 * Starts `argv` without a shell, in its own session.
 *
 * Fails with `program-not-found`, `program-not-executable`, `no-such-directory`, `arguments-too-long`, `spawn-failed`,
 * or with the gate's problem.
 */
export function spawn(argv: readonly string[], options: SpawnOptions, gate?: Gate): Outcome<Running> {
  const first = launch(argv, options, gate);
  if (!first.ok) return first;
  const mark = gate?.mark;
  let child = first.value;
  let killing: Promise<void> | undefined;
  watchOver(child.pid, mark);
  /** Replaces a process whose command did not begin; null if it stays the last one. */
  const replace = (): PipedProcess | null => {
    if (killing !== undefined || gate?.mayRunAgain?.() !== true) return null;
    const next = launch(argv, options, gate);
    if (!next.ok) return null;
    for (const stream of [child.stdout, child.stderr]) stream.cancel().catch(() => {});
    feed(child.stdin, []);
    living.delete(child.pid);
    watchOver(next.value.pid, mark);
    return child = next.value;
  };
  const { stdin } = options;
  const last = gate === undefined ? Promise.resolve(child) : begin(child, gate, stdin, replace);
  if (gate === undefined && stdin !== undefined) feed(child.stdin, [], stdin);
  const isFinal = gate?.mayRunAgain === undefined;
  return success({
    get pid() {
      return child.pid;
    },
    ...(options.keepInput === true && gate === undefined ? { input: child.stdin } : {}),
    stdout: isFinal ? child.stdout : streamOf(last.then(({ stdout }) => stdout)),
    stderr: isFinal ? child.stderr : streamOf(last.then(({ stderr }) => stderr)),
    status: last.then(({ status }) => status).then(({ code, signal }) => ({ code, signal })),
    endGently: (milliseconds) =>
      endGently(child.pid, { mark, wrapped: gate?.wrapped === true, milliseconds }),
    kill: () => killing ??= endFamily(child.pid, mark).then(() => void living.delete(child.pid)),
  });
}

/** Starts a process and calls the gate's `open`. */
function launch(
  argv: readonly string[],
  options: SpawnOptions,
  gate: Gate | undefined,
): Outcome<PipedProcess> {
  const [program] = argv;
  if (program === undefined || program === "") {
    return failure("spawn-failed", "The command is empty, so there is no program to start.");
  }
  const ahead = isDirectory(options.cwd) ? gate?.takeStarted?.() ?? null : null;
  let child: PipedProcess;
  try {
    const env = { ...options.env, ...(gate?.mark === undefined ? {} : { [MARK]: gate.mark }) };
    const hasInput = options.stdin !== undefined || options.keepInput === true || gate !== undefined;
    child = ahead?.child ?? startProcess(argv, { cwd: options.cwd, env }, hasInput ? "piped" : "null");
  } catch (thrown) {
    return spawnFailure(program, options.cwd, thrown);
  }
  const problem = gate?.open(child.pid, child.status) ?? null;
  if (problem === null) {
    if (ahead !== null) writeFirst(child.stdin, ahead.text);
    return success(child);
  }
  // Closes its standard input, so that a process that waits for the line exits.
  feed(child.stdin, []);
  child.stdout.cancel();
  child.stderr.cancel();
  return { ok: false, problem };
}

/** Starts a process in its own session, with pipes. Throws if that fails. */
export function startProcess(
  [program = "", ...args]: readonly string[],
  { cwd, env }: Pick<SpawnOptions, "cwd" | "env">,
  stdin: "piped" | "null",
): Deno.ChildProcess {
  return new Deno.Command(program, {
    args,
    cwd,
    env: { ...env },
    clearEnv: true,
    stdin,
    stdout: "piped",
    stderr: "piped",
    detached: true,
  }).spawn();
}

/** Writes a text, and leaves the pipe open. */
function writeFirst(pipe: WritableStream<Uint8Array>, text: Uint8Array): void {
  const writer = pipe.getWriter();
  // If the process is gone, its end tells.
  writer.write(text).catch(() => {});
  writer.releaseLock();
}

/** The bytes of a stream that is not known yet. */
function streamOf(source: Promise<ReadableStream<Uint8Array>>): ReadableStream<Uint8Array> {
  const reader = source.then((stream) => stream.getReader());
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await (await reader).read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: async (reason) => await (await reader).cancel(reason),
  }, { highWaterMark: 0 });
}

/** The commands that were not ended yet, by leader. */
const living = new Map<number, { readonly started: string | undefined; readonly mark: string | undefined }>();

/** Ends the command when this program exits on its own; nothing else would end it. */
function watchOver(leader: number, mark: string | undefined): void {
  onExit(killAll);
  living.set(leader, { started: processEntry(leader)?.started, mark });
}

function killAll(): void {
  for (const [leader, { started, mark }] of living) {
    const now = processEntry(leader);
    // The command may have ended on its own, and another process may have its id now.
    const isOurs = now === null || now.started === started;
    killFamily(isOurs ? leader : null, mark);
  }
}

/**
 * Writes the starting line once the process would end together with this program. Writes nothing if the process is
 * gone by then and none replaces it. Returns the last process.
 *
 * @param replace starts another process after one has ended before its command could begin; null if it cannot
 */
async function begin(
  first: PipedProcess,
  gate: Gate,
  input: SpawnOptions["stdin"],
  replace: () => PipedProcess | null,
): Promise<PipedProcess> {
  let child = first;
  while (!await isReady(child, gate)) {
    const next = (await child.status).signal === null ? replace() : null;
    if (next === null) {
      if (input instanceof ReadableStream) input.cancel().catch(() => {});
      feed(child.stdin, []);
      return child;
    }
    child = next;
  }
  feed(child.stdin, [LINE], input);
  return child;
}

/** Waits until the process would end together with this program. False if the process ended before. */
async function isReady({ pid, status }: PipedProcess, { isTied }: Gate): Promise<boolean> {
  let ended = false;
  const end = status.then(() => void (ended = true));
  // A process that is gone counts as tied, because it cannot be read any more.
  const isReadable = processEntry(pid) !== null;
  for (let pause = FIRST_CHECK; isTied !== undefined; pause = Math.min(1.5 * pause, LAST_CHECK)) {
    if (isTied(pid) && (!isReadable || processEntry(pid)?.alive === true)) return true;
    await Promise.race([end, new Promise<void>((resolve) => after(pause, resolve))]);
    if (ended) return false;
  }
  return true;
}

/** Writes all parts and the given input to standard input, and closes the pipe. */
function feed(
  pipe: WritableStream<Uint8Array>,
  parts: readonly Uint8Array[],
  input?: SpawnOptions["stdin"],
): void {
  const writer = pipe.getWriter();
  const all = input === undefined || input instanceof ReadableStream ? parts : [...parts, input];
  const written = Promise.all(all.map((part) => writer.write(part)));
  const rest = input instanceof ReadableStream ? (writer.releaseLock(), input.pipeTo(pipe)) : undefined;
  // A child process may stop reading early.
  (rest === undefined ? written.then(() => writer.close()) : Promise.all([written, rest])).catch(() => {});
}

function spawnFailure(program: string, cwd: string, thrown: unknown): Outcome<never> {
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
      `The program ${program} could not be started in ${cwd}: permission denied.`,
      "Check the permissions of both.",
    );
  }
  if (/\(os error 7\)/.test(String(thrown))) {
    return failure(
      "arguments-too-long",
      "The command was not started: its arguments and environment variables are too long for this system.",
      "Shorten them, or pass long text on standard input.",
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
