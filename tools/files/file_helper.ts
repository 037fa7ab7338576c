// The run's side of its file helper: starts it for the first file operation, sends requests, and ends it if it hangs.

import type { Environment } from "../../base/environment.ts";
import type { Outcome } from "../../base/problem.ts";
import { ownDeno } from "../../base/system/own_deno.ts";
import { systemDevicesNow } from "../../base/system/system_files.ts";
import { after } from "../../base/system/timer.ts";
import { WHOLE_VIEW } from "../../sandbox/policy/view.ts";
import type { Sandbox, SandboxWorker } from "../../sandbox/types.ts";
import type { DiskAccess } from "../definition.ts";
import { sandboxSentence } from "./sandbox_sentence.ts";
import { FileFailure, unpackError } from "../../base/disk/failures.ts";
import { encodeFrame, frameOf, FrameReader, type FromHelper, type Greeting } from "./protocol.ts";

/** Options for creating a file helper. */
export interface FileHelperOptions {
  readonly sandbox: Sandbox;
  /** Absolute path of a program that commands cannot write. */
  program(name: string): Outcome<string>;
  /** True if the program is compiled into one file. @default whether the running program is compiled into one file */
  readonly standalone?: boolean;
}

/** Argument that makes the compiled program run as the helper. */
const HELPER_WORD = "--file-helper";

/** Milliseconds for cancelled work to answer before the helper is ended. */
const GRACE = 500;

/** Maximum number of helpers tried for one operation. */
const TRIES = 2;
/** The same while the sandbox fails for a reason that passes, such as a socket that vanished. A start takes about 20 ms. */
const MOST_STARTS = 20;

/** Operations that change nothing, so that they can be repeated. */
const READING: ReadonlySet<string> = new Set(["read", "list", "names", "find", "grep", "discard"]);

/** Performs file operations for tools in a process inside the sandbox. */
export class FileHelper implements DiskAccess {
  readonly #options: FileHelperOptions;
  #connection: Connection | null = null;
  #start: Promise<{ readonly argv: readonly string[]; readonly source: Uint8Array | null }> | undefined;

  constructor(options: FileHelperOptions) {
    this.#options = options;
  }

  async perform(operation: string, request: object, signal: AbortSignal): Promise<unknown> {
    for (let tries = 1;; tries++) {
      signal.throwIfAborted();
      const connection = await this.#connected();
      try {
        return await connection.ask(operation, request, signal);
      } catch (thrown) {
        if (!(thrown instanceof Lost)) throw thrown;
        const most = !thrown.begun && thrown.cause_?.isPassing === true ? MOST_STARTS : TRIES;
        if (tries < most && (!thrown.begun || READING.has(operation)) && !signal.aborted) continue;
        throw signal.aborted ? signal.reason : thrown.sentence(operation);
      }
    }
  }

  async #connected(): Promise<Connection> {
    const { sandbox, program, standalone = Deno.build.standalone } = this.#options;
    const rg = program("rg");
    const deno = standalone ? null : ownDeno() ?? installed(program("deno"));
    const { argv, source } = await (this.#start ??= startOf(rg.ok ? rg.value : null, deno));
    const worker = await sandbox.startWorker?.(argv, ENVIRONMENT);
    if (worker === undefined) throw new FileFailure("Sandbox: file tools are not available here.");
    if (!worker.ok) throw new FileFailure(sandboxSentence(worker.problem));
    if (this.#connection?.worker !== worker.value) {
      const greeting: Greeting = {
        view: sandbox.pathView?.() ?? WHOLE_VIEW,
        systemDevices: systemDevicesNow(),
        rg: rg.ok ? rg.value : null,
      };
      this.#connection = new Connection(worker.value, source, greeting);
    }
    return this.#connection;
  }
}

/** Minimal environment: the helper needs none of the person's variables, and no cache. */
const ENVIRONMENT: Environment["variables"] = {
  HOME: "/",
  LC_ALL: "C.UTF-8",
  DENO_DIR: "/dev/null/deno",
  DENO_NO_UPDATE_CHECK: "1",
  NO_COLOR: "1",
};

/** Program that reads another program from the first frame on its input, and runs it. */
const BEGIN =
  `const r=async n=>{const b=new Uint8Array(n);for(let f=0;f<n;){const c=await Deno.stdin.read(b.subarray(f));` +
  `if(c===null)Deno.exit(0);f+=c}return b};const n=new DataView((await r(4)).buffer).getUint32(0);` +
  `const u=URL.createObjectURL(new Blob([await r(n)],{type:"text/javascript"}));(await import(u)).serve()`;

/** Returns the path of an installed Deno. Throws a failure with the remedy. */
function installed(deno: Outcome<string>): string {
  if (deno.ok) return deno.value;
  throw new FileFailure(
    "The file tools need Deno, but the program deno was not found. Install it, for example: npm install -g deno",
  );
}

/**
 * Command that starts the helper.
 *
 * @param deno program that runs the helper; null for a compiled program, which can run as the helper itself
 */
async function startOf(
  rg: string | null,
  deno: string | null,
): Promise<{ readonly argv: readonly string[]; readonly source: Uint8Array | null }> {
  if (deno === null) return { argv: [Deno.execPath(), HELPER_WORD], source: null };
  const { HELPER_SOURCE } = await import("./helper.generated.ts");
  const flags = [
    "--quiet",
    "--no-prompt",
    "--no-config",
    "--no-lock",
    "--no-remote",
    "--no-npm",
    "--no-code-cache",
  ];
  const rights = [
    "--allow-read",
    "--allow-write",
    "--allow-ffi",
    ...(rg === null ? [] : [`--allow-run=${rg}`]),
  ];
  return {
    argv: [deno, "run", ...flags, ...rights, `data:text/javascript,${encodeURIComponent(BEGIN)}`],
    source: new TextEncoder().encode(HELPER_SOURCE),
  };
}

/** Thrown if the helper ended before it answered. */
class Lost extends Error {
  constructor(
    /** True if the helper had started to work. */
    readonly begun: boolean,
    /** Message of the sandbox. */
    readonly cause_: { readonly forModel: string; readonly isPassing?: true } | null,
  ) {
    super("the helper ended");
  }

  sentence(operation: string): FileFailure {
    if (this.cause_ !== null) return new FileFailure(`Sandbox: ${this.cause_.forModel}`);
    if (!this.begun) {
      return new FileFailure("Sandbox: the process for file tools did not start, so nothing was done.");
    }
    return new FileFailure(
      READING.has(operation)
        ? "The process for file tools ended before it answered. Call the tool again."
        : "The process for file tools ended early, so the file may or may not have changed. Read it again.",
    );
  }
}

/** A pending request. */
interface Asked {
  readonly resolve: (value: unknown) => void;
  readonly reject: (thrown: unknown) => void;
  /** True if the request must not be interrupted. */
  overwriting: boolean;
}

/** Connection to one helper. */
class Connection {
  readonly worker: SandboxWorker;
  readonly #asked = new Map<number, Asked>();
  #count = 0;
  #begun = false;
  #lost: Lost | null = null;

  constructor(worker: SandboxWorker, source: Uint8Array | null, greeting: Greeting) {
    this.worker = worker;
    if (source !== null) this.#send(encodeFrame(source));
    this.#send(frameOf(greeting));
    this.#listen();
  }

  async ask(operation: string, request: object, signal: AbortSignal): Promise<unknown> {
    if (this.#lost !== null) throw this.#lost;
    const id = ++this.#count;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const asked: Asked = { resolve, reject, overwriting: false };
    this.#asked.set(id, asked);
    let endGrace = (): void => {};
    const stop = (): void => {
      this.#send(frameOf({ cancel: id }));
      // Work that hangs in the system does not react to a cancellation.
      endGrace = after(GRACE, () => asked.overwriting || this.worker.kill());
    };
    signal.addEventListener("abort", stop, { once: true });
    this.#send(frameOf({ id, operation, request }));
    if (signal.aborted) stop();
    try {
      return await promise;
    } catch (thrown) {
      // The reason of the signal says more than the helper's own message about the cancellation.
      throw signal.aborted && !(thrown instanceof Lost && asked.overwriting) ? signal.reason : thrown;
    } finally {
      endGrace();
      signal.removeEventListener("abort", stop);
      this.#asked.delete(id);
    }
  }

  /** A write error is ignored: the end of the helper's output already reports that it is gone. */
  #send(bytes: Uint8Array): void {
    this.worker.input.write(bytes).catch(() => {});
  }

  async #listen(): Promise<void> {
    const frames = new FrameReader();
    try {
      for await (const chunk of this.worker.output) {
        for (const frame of frames.push(chunk)) this.#hear(frame as FromHelper);
      }
    } catch {
      // An invalid frame ends the connection like its end does.
      await this.worker.kill();
    }
    const failure = await this.worker.ended;
    this.#lost = new Lost(this.#begun, failure);
    for (const { reject } of this.#asked.values()) reject(this.#lost);
  }

  #hear(frame: FromHelper): void {
    if ("ready" in frame) {
      this.#begun = true;
      return;
    }
    const asked = this.#asked.get(frame.id);
    if (asked === undefined) return;
    if ("value" in frame) asked.resolve(frame.value);
    else if ("error" in frame) asked.reject(unpackError(frame.error));
    else asked.overwriting = true;
  }
}
