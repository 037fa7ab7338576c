// The sandbox worker of a run. It is started at first use, and again when a new worker would get a different sandbox.

import { type Outcome, success } from "../../base/problem.ts";
import { after } from "../../base/system/timer.ts";
import { spawn } from "../process/spawn.ts";
import type { BackendPreparation, SandboxWorker, SetupFailure } from "../types.ts";

/** The sandbox that a command would get now. */
export interface WorkerSandbox {
  /** Identity of the mounts: a different object if any mounted path was created, removed or replaced since. */
  readonly mounts: object;
  /**
   * Current identity of the files that this program writes. These files are mounted too, and if this program replaces
   * one by a rename, its mount is lost. Only live commands can exploit that.
   */
  readonly own: string;
  /** True if commands live that could exploit a lost mount. */
  readonly commandsLive: boolean;
  /** Wraps the process; null if there is no sandbox. */
  wrap(): Promise<Outcome<BackendPreparation | null>>;
  failed(failure: SetupFailure, preparation: BackendPreparation): Promise<void>;
}

/** Maximum number of bytes of standard error that are stored. */
const STDERR_BYTES = 16 * 1024;

/** Milliseconds a worker has to exit after its input is closed. */
const GRACE = 500;

interface RunningWorker {
  readonly worker: SandboxWorker;
  readonly sandbox: WorkerSandbox;
  gone: boolean;
}

export class WorkerKeeper {
  #running: RunningWorker | null = null;
  /** End of the queue of requests, which run one after another. */
  #last: Promise<unknown> = Promise.resolve();

  /** The worker in the current sandbox. Fails with the reason why it cannot start. */
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

  /** Ends the worker. The next request starts another one. */
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
    // If the worker is gone, closing its input fails, which does not matter.
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
  // The worker reads its tasks from its input and exits when that closes, so a killed run leaves nothing behind.
  const started = spawn(preparation?.argv ?? argv, { cwd: "/", env, keepInput: true });
  if (!started.ok || started.value.input === undefined) {
    await preparation?.dispose();
    return started.ok ? Promise.reject(new Error("the input of the sandbox worker is closed")) : started;
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
