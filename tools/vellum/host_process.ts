// One running tool host: starts it, exchanges messages, and tells all waiting requests when it ends.

import type { Running } from "../../sandbox/types.ts";
import type { FromHost, ToHost } from "./protocol.ts";

/** A started host process, and how to release what was prepared for it. */
export interface StartedHost {
  readonly running: Running;
  /** Prefix that identifies the host's messages. */
  readonly word: string;
  /**
   * Call this if the host ended before its first message. Returns why the setup of its sandbox failed; null if the
   * setup was not the cause.
   */
  failedSetUp(stderr: string): Promise<string | null>;
  dispose(): Promise<void>;
}

/** The last message about a request. */
export type Final = Extract<FromHost, { is: "described" | "broken" | "answered" | "threw" }> | {
  readonly is: "gone";
  /** Reason for the failure, as a sentence. */
  readonly cause: string;
};

/**
 * Receives all messages of a host about a request, except the last one. While it handles a message, nothing more is
 * read from the host.
 */
export type OnMessage = (message: Exclude<FromHost, { is: Final["is"] }>) => void | Promise<void>;

/** Maximum number of characters of one message; a longer one could fill the memory. */
const MOST_CHARACTERS = 64 * 1024 * 1024;
/** Maximum number of printed characters that are stored, to report them if the host breaks. */
const KEPT_PRINTS = 4096;

interface Waiting {
  readonly resolve: (final: Final) => void;
  readonly onMessage: OnMessage;
}

/** A request without its id. */
export type Request = { [K in ToHost["do"]]: Omit<Extract<ToHost, { do: K }>, "id"> }["describe" | "call"];

/** The side of a host that is in this program. */
export class HostProcess {
  readonly #host: StartedHost;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #waiting = new Map<number, Waiting>();
  readonly #encoder = new TextEncoder();
  #nextId = 0;
  #prints = "";
  #heard = false;
  #cause: string | null = null;
  #ending: Promise<void> | null = null;
  /** Settles when the process has ended and all waiting requests have an answer. */
  readonly ended: Promise<void>;

  constructor(host: StartedHost, input: WritableStreamDefaultWriter<Uint8Array>) {
    this.#host = host;
    this.#input = input;
    const { running } = host;
    const read = Promise.all([
      eachLine(running.stdout, (line) => this.#line(line), () => this.#flooded()),
      eachLine(running.stderr, (line) => this.#printed(line), () => {}),
    ]);
    this.ended = running.status.then(async ({ code, signal }) => {
      // The last output of the host is still in the pipes. Other processes that hold them open are not awaited.
      await Promise.race([read, running.kill()]);
      const setUp = this.#heard ? null : await host.failedSetUp(this.#prints);
      const printed = this.#prints.trim() === "" ? "" : ` It printed: ${this.#prints.trim()}`;
      const how = signal === null ? `with exit code ${code}` : `by the signal ${signal}`;
      this.#cause ??= setUp ?? `The tool host ended ${how}.${printed}`;
      for (const { resolve } of this.#waiting.values()) resolve({ is: "gone", cause: this.#cause });
      this.#waiting.clear();
    });
  }

  /** Number of requests without an answer. */
  get busy(): number {
    return this.#waiting.size;
  }

  /** True if the host accepts requests. */
  get isOpen(): boolean {
    return this.#cause === null && this.#ending === null;
  }

  /** Sends a request. Messages before the last go to `onMessage`; the last one is the answer. */
  ask(
    request: Request,
    onMessage: OnMessage = () => {},
  ): { readonly id: number; readonly final: Promise<Final> } {
    const id = ++this.#nextId;
    const { promise: final, resolve } = Promise.withResolvers<Final>();
    if (!this.isOpen) {
      resolve({ is: "gone", cause: this.#cause ?? "The tool host was stopped." });
      return { id, final };
    }
    this.#waiting.set(id, { resolve, onMessage });
    this.tell({ ...request, id } as ToHost);
    return { id, final };
  }

  /** Sends a message without an answer. Ignored if the host has ended. */
  tell(message: ToHost): void {
    this.#input.write(this.#encoder.encode(`${JSON.stringify(message)}\n`)).catch(() => {});
  }

  /** Ends the process and everything it started. Waiting requests receive `cause`. */
  end(cause = "The tool host was stopped."): Promise<void> {
    this.#cause ??= cause;
    return this.#ending ??= this.#end();
  }

  async #end(): Promise<void> {
    // The host exits when its input ends, and nothing is sent after that.
    this.#input.close().catch(() => {});
    await this.#host.running.kill();
    await this.ended;
    await this.#host.dispose();
  }

  async #line(line: string): Promise<void> {
    const { word } = this.#host;
    if (!line.startsWith(word)) return this.#printed(line);
    this.#heard = true;
    const message = messageIn(line.slice(word.length));
    const waiting = message === null ? undefined : this.#waiting.get(message.id);
    if (message === null || waiting === undefined) return;
    if (isFinal(message)) {
      this.#waiting.delete(message.id);
      waiting.resolve(message);
    } else await waiting.onMessage(message);
  }

  #printed(line: string): void {
    if (line !== "") this.#prints = `${this.#prints}${line}\n`.slice(-KEPT_PRINTS);
  }

  #flooded(): void {
    void this.end("The tool host answered with more than 64 million characters and was stopped.");
  }
}

/** A pipe for the standard input of a host before it starts. */
export function inputPipe(): {
  readonly stream: ReadableStream<Uint8Array>;
  readonly writer: WritableStreamDefaultWriter<Uint8Array>;
} {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  return { stream: readable, writer: writable.getWriter() };
}

/** A prefix that no other process can guess. */
export function newMessagePrefix(): string {
  return `flemma:${crypto.randomUUID()}:`;
}

function isFinal(message: FromHost): message is Extract<FromHost, { is: Final["is"] }> {
  return ["described", "broken", "answered", "threw"].includes(message.is);
}

function messageIn(text: string): FromHost | null {
  try {
    return JSON.parse(text) as FromHost;
  } catch {
    // Other output was printed in the middle of the line, so it is not a message.
    return null;
  }
}

async function eachLine(
  stream: ReadableStream<Uint8Array>,
  take: (line: string) => void | Promise<void>,
  flooded: () => void,
): Promise<void> {
  let text = "";
  for await (const piece of stream.pipeThrough(new TextDecoderStream())) {
    const parts = piece.split("\n");
    text += parts[0]!;
    if (text.length > MOST_CHARACTERS) {
      flooded();
      text = "";
    }
    for (const part of parts.slice(1)) {
      await take(text);
      text = part;
    }
  }
  if (text !== "") await take(text);
}
