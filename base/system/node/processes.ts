// Processes as in Deno, over Node.

import { asDenoError, converted, errors } from "./errors.ts";
import type { NodeModules } from "./modules.ts";

type Child = import("node:child_process").ChildProcess;

/** The classes and functions for processes, with the names of Deno. */
export function processes(node: NodeModules) {
  const { processes, process, stream, os } = node;

  const statusOf = (code: number | null, signal: NodeJS.Signals | null): Deno.CommandStatus => ({
    success: code === 0,
    code: code ?? 128 + (signal === null ? 0 : os.constants.signals[signal]),
    signal: signal as Deno.Signal | null,
  });
  const optionsOf = (options: Deno.CommandOptions, defaults: "inherit" | "piped") => {
    const stdio = (kind: Deno.CommandOptions["stdin"]) =>
      kind === "piped" ? "pipe" : kind === "null" ? "ignore" : "inherit";
    return {
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      env: { ...(options.clearEnv === true ? {} : process.env), ...options.env },
      detached: options.detached ?? false,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
      ...(options.uid === undefined ? {} : { uid: options.uid }),
      ...(options.gid === undefined ? {} : { gid: options.gid }),
      stdio: [
        stdio(options.stdin ?? (defaults === "piped" ? "null" : "inherit")),
        stdio(options.stdout ?? defaults),
        stdio(options.stderr ?? defaults),
      ] as ("pipe" | "ignore" | "inherit")[],
    };
  };

  class Running {
    readonly pid: number;
    readonly status: Promise<Deno.CommandStatus>;
    readonly #child: Child;
    readonly #output: ReadableStream<Uint8Array> | null;
    readonly #errors: ReadableStream<Uint8Array> | null;
    readonly #input: WritableStream<Uint8Array> | null;

    constructor(child: Child, pid: number) {
      this.#child = child;
      this.pid = pid;
      this.status = new Promise((resolve) =>
        child.on("exit", (code, signal) => resolve(statusOf(code, signal)))
      );
      const readable = (from: import("node:stream").Readable | null) =>
        from === null ? null : bytesOf(stream.Readable.toWeb(from) as ReadableStream<Uint8Array>);
      this.#output = readable(child.stdout);
      this.#errors = readable(child.stderr);
      this.#input = child.stdin === null ? null : inputOf(child.stdin);
    }

    get stdin(): WritableStream<Uint8Array> {
      return given(this.#input, "stdin");
    }

    get stdout(): ReadableStream<Uint8Array> {
      return given(this.#output, "stdout");
    }

    get stderr(): ReadableStream<Uint8Array> {
      return given(this.#errors, "stderr");
    }

    async output(): Promise<Deno.CommandOutput> {
      const all = async (from: ReadableStream<Uint8Array> | null) =>
        from === null ? null : new Uint8Array(await new Response(from).arrayBuffer());
      const [status, stdout, stderr] = await Promise.all([this.status, all(this.#output), all(this.#errors)]);
      return outputOf(status, stdout, stderr);
    }

    kill(signal: Deno.Signal = "SIGTERM"): void {
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) {
        throw new TypeError("The process has ended.");
      }
      this.#child.kill(signal as NodeJS.Signals);
    }

    ref(): void {
      this.#child.ref();
    }

    unref(): void {
      this.#child.unref();
    }
  }

  class Command {
    readonly #program: string;
    readonly #options: Deno.CommandOptions;

    constructor(program: string | URL, options: Deno.CommandOptions = {}) {
      this.#program = String(program);
      this.#options = options;
    }

    spawn(): Running {
      const child = this.#spawn("inherit");
      return new Running(child, child.pid!);
    }

    async output(): Promise<Deno.CommandOutput> {
      const child = this.#spawn("piped");
      return await new Running(child, child.pid!).output();
    }

    outputSync(): Deno.CommandOutput {
      const { args = [] } = this.#options;
      const ran = processes.spawnSync(this.#program, args, {
        ...optionsOf(this.#options, "piped"),
        maxBuffer: 1024 * 1024 * 1024,
      });
      if (ran.error !== undefined) throw this.#failure(ran.error);
      return outputOf(statusOf(ran.status, ran.signal), ran.stdout, ran.stderr);
    }

    #spawn(defaults: "inherit" | "piped"): Child {
      const { args = [] } = this.#options;
      const child = converted(() =>
        processes.spawn(this.#program, [...args], optionsOf(this.#options, defaults))
      )();
      // Node tells later why there is no process. Deno throws at once.
      let failed: unknown = null;
      child.on("error", (error) => failed = error);
      if (child.pid === undefined) throw this.#failure(failed);
      return child;
    }

    /** Why the program did not start. A missing folder and a missing program give the same error of the system. */
    #failure(error: unknown): unknown {
      const { cwd } = this.#options;
      if (cwd !== undefined && !node.fs.existsSync(cwd)) {
        return new errors.NotFound(`There is no folder ${String(cwd)}.`);
      }
      if (error !== null) return asDenoError(error);
      const path = this.#program;
      return path.includes("/") && node.fs.existsSync(path)
        ? new errors.PermissionDenied(`${path} cannot be executed.`)
        : new errors.NotFound(`There is no program ${path}.`);
    }
  }

  const listeners = new Map<() => void, () => void>();
  return {
    Command,
    kill: converted((pid: number, signal: Deno.Signal | 0 = "SIGTERM") => {
      process.kill(pid, signal);
    }),
    addSignalListener: (signal: Deno.Signal, listener: () => void) => {
      const called = () => listener();
      listeners.set(listener, called);
      process.on(signal, called);
    },
    removeSignalListener: (signal: Deno.Signal, listener: () => void) => {
      process.off(signal, listeners.get(listener) ?? listener);
      listeners.delete(listener);
    },
  };
}

function outputOf(
  status: Deno.CommandStatus,
  stdout: Uint8Array | null,
  stderr: Uint8Array | null,
): Deno.CommandOutput {
  return {
    ...status,
    get stdout() {
      return new Uint8Array(given(stdout, "stdout"));
    },
    get stderr() {
      return new Uint8Array(given(stderr, "stderr"));
    },
  };
}

function given<T>(stream: T | null, name: string): T {
  if (stream === null) throw new TypeError(`${name} is not piped.`);
  return stream;
}

/** Node gives buffers, and Deno arrays of bytes. */
function bytesOf(stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  return stream.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (piece, controller) =>
        controller.enqueue(new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength)),
    }),
  );
}

/** The input of a process. Errors have the classes of Deno. */
function inputOf(to: import("node:stream").Writable): WritableStream<Uint8Array> {
  // A process that ends without reading its input makes the stream fail. The error belongs to a write, if there is one.
  to.on("error", () => {});
  const call = (start: (done: (error?: Error | null) => void) => void) =>
    new Promise<void>((resolve, reject) => start((error) => error ? reject(asDenoError(error)) : resolve()));
  return new WritableStream({
    write: (piece) => call((done) => to.write(piece, done)),
    close: () => call((done) => to.end(done)),
    abort: () => void to.destroy(),
  });
}
