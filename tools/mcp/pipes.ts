// Transport over a server's pipes, with one JSON message on each line. Other lines are skipped, and an endless line
// ends the connection.

import type { JSONRPCMessage, Transport } from "npm:@modelcontextprotocol/client@2.4.0";
import type { Problem } from "../../base/problem.ts";
import { LONGEST_MESSAGE, TOO_LONG } from "./faults.ts";

/** Maximum number of characters of the server's standard error that are stored for a failure message. */
const MOST_STDERR = 2000;

/** A process with open pipes. */
export interface Piped {
  readonly stdin: WritableStream<Uint8Array>;
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
  /** Settles when the process has ended. */
  readonly ended: Promise<unknown>;
  /**
   * Ends the process and its children, after giving it time to exit on its own.
   *
   * @param stderr returns the standard error of the process, complete once the process has ended
   * @returns why the sandbox was not set up; null if the program ran
   */
  kill(stderr: () => Promise<string>): Promise<Problem | null>;
}

/** Carries messages to and from a process. */
export class PipeTransport implements Transport {
  readonly #process: Piped;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  #closed = false;
  /** Settles when the standard error was read completely. */
  #errors: Promise<void> = Promise.resolve();
  /** Its presence shows the client that this is a program, which may stay silent if it gets an unknown request. */
  readonly pid = null;
  /** The end of the server's standard error. */
  stderr = "";
  /** Reason why this side ended the connection; undefined if it did not. */
  broke: string | undefined;
  /** Reason why the program never ran, after the connection is closed; null if it ran. */
  setupFailure: Problem | null = null;

  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  constructor(process: Piped) {
    this.#process = process;
    this.#writer = process.stdin.getWriter();
  }

  start(): Promise<void> {
    this.#errors = this.#hear();
    this.#read().catch((thrown) => this.onerror?.(thrown)).then(async () => {
      await this.close();
      await this.#errors;
    });
    return Promise.resolve();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await this.#writer.write(new TextEncoder().encode(`${JSON.stringify(message)}\n`));
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    // A server exits when its input ends. A server that does not read its input must not block this.
    this.#writer.close().catch(() => {});
    this.setupFailure = await this.#process.kill(async () => {
      await this.#errors;
      return this.stderr;
    });
    this.onclose?.();
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder();
    // A line in many pieces is joined only once.
    let open: string[] = [];
    let length = 0;
    for await (const chunk of this.#process.stdout) {
      const pieces = decoder.decode(chunk, { stream: true }).split("\n");
      for (const piece of pieces.slice(0, -1)) {
        this.#take(open.join("") + piece);
        open = [];
        length = 0;
      }
      open.push(pieces.at(-1)!);
      length += open.at(-1)!.length;
      if (length > LONGEST_MESSAGE) {
        this.broke = TOO_LONG;
        throw new Error(TOO_LONG);
      }
    }
  }

  #take(line: string): void {
    if (line.trim() === "") return;
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      // Some programs print other text to standard output; the messages around it are still valid.
      return;
    }
    if (typeof message !== "object" || message === null || !("jsonrpc" in message)) return;
    try {
      this.onmessage?.(message as JSONRPCMessage);
    } catch (thrown) {
      this.onerror?.(thrown instanceof Error ? thrown : new Error(String(thrown)));
    }
  }

  async #hear(): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of this.#process.stderr) {
      this.stderr = (this.stderr + decoder.decode(chunk, { stream: true })).slice(-MOST_STDERR);
    }
  }
}
