// A process of this program's own behind the wall of commands: started once, kept as long as its wall would be the same.

import { type Outcome, success } from "../../base/problem.ts";
import { after } from "../../base/system/timer.ts";
import { spawn } from "../process/spawn.ts";
import type { BackendPreparation, SandboxWorker, SetupFailure } from "../types.ts";

/** The wall that a command would have now. */
export interface WorkerSandbox {
  /** Stands for what is mounted: another one where anything of it was made, removed or exchanged since. */
  readonly mounts: object;
  /**
   * What this program writes by itself, as it stands by now. It is mounted too, and a mount is lost by a rename; but only
   * commands that live can make use of that.
   */
  readonly own: string;
  /** Whether commands live that could make use of what was lost. */
  readonly commandsLive: boolean;
  /** Puts the wall around the process; null where there is none to put. */
  wrap(): Promise<Outcome<BackendPreparation | null>>;
  /** Told that a wall could not be put up. */
  failed(failure: SetupFailure, preparation: BackendPreparation): Promise<void>;
}

/** Bytes of its other output that are kept. */
const STDERR_BYTES = 16 * 1024;

/** Milliseconds in which one whose input was closed ends by itself. */
const GRACE = 500;

interface RunningWorker {
  readonly worker: SandboxWorker;
  readonly sandbox: WorkerSandbox;
  gone: boolean;
}

/** Holds the companion of one run. */
export class WorkerKeeper {
  #running: RunningWorker | null = null;
  /** Those who ask have their turns. */
  #last: Promise<unknown> = Promise.resolve();

  /** The companion behind the wall as it is now. Fails with what keeps it from starting. */
  get(
    argv: readonly string[],
    env: Readonly<Record<string, string>>,
    createSandbox: () => Promise<Outcome<WorkerSandbox>>,
  ): Promise<Outcome<SandboxWorker>> {
    const turn = this.#last.then(async () => {
      const sandbox = await createSandbox();
      if (!sandbox.ok) return sandbox;
      if (this.#running !== null && holds(this.#running, sandbox.value)) return success(this.#running.worker);
      await this.#running?.worker.kill();
      this.#running = null;
      const started = await start(argv, env, sandbox.value);
      if (!started.ok) return started;
      const running: RunningWorker = { worker: started.value, sandbox: sandbox.value, gone: false };
      running.worker.ended.then(() => running.gone = true);
      this.#running = running;
      return success(running.worker);
    });
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** Ends it; whoever asks again gets another one. */
  end(): Promise<void> {
    const turn = this.#last.then(() => this.#end());
    this.#last = turn;
    return turn;
  }

  async #end(): Promise<void> {
    const running = this.#running;
    this.#running = null;
    if (running === null) return;
    const { input, ended, kill } = running.worker;
    let inTime = (): void => {};
    const late = new Promise<void>((done) => inTime = after(GRACE, done));
    // One that is gone has no input any more.
    await input.close().catch(() => {});
    await Promise.race([ended, late]);
    inTime();
    await kill();
  }
}

function holds({ sandbox: before, gone }: RunningWorker, now: WorkerSandbox): boolean {
  return !gone && before.mounts === now.mounts && (!now.commandsLive || before.own === now.own);
}

async function start(
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
  sandbox: WorkerSandbox,
): Promise<Outcome<SandboxWorker>> {
  const wrapped = await sandbox.wrap();
  if (!wrapped.ok) return wrapped;
  const preparation = wrapped.value;
  // It reads what it is to do from its input and ends with it, so that there is nothing a killed run could leave behind.
  const started = spawn(preparation?.argv ?? argv, { cwd: "/", env, keepInput: true });
  if (!started.ok || started.value.input === undefined) {
    await preparation?.dispose();
    return started.ok ? Promise.reject(new Error("the input of the companion is closed")) : started;
  }
  const { input, stdout, stderr, status, kill } = started.value;
  const errorText = beginningOf(stderr);
  const ended = status.then(async ({ signal }) => {
    if (preparation === null) return null;
    const failure = await preparation.setupFailure(await errorText, signal);
    if (failure !== null) await sandbox.failed(failure, preparation);
    return failure;
  }).finally(() => preparation?.dispose());
  return success({ wrapped: preparation !== null, input: input.getWriter(), output: stdout, ended, kill });
}

async function beginningOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) {
    if (text.length < STDERR_BYTES) text += decoder.decode(chunk, { stream: true });
  }
  return text;
}
