// One end of a JSON-RPC 2.0 connection: requests both ways, notifications, cancellation, error responses.

import type { RpcFrame } from "./framing.ts";
import { isObject } from "../../base/is_object.ts";
import { thrownText } from "../../base/problem.ts";

/** Error codes of the protocols. */
export const RpcCode = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  notInitialized: -32002,
  /** In the Agent Client Protocol. */
  notFound: -32002,
  contentModified: -32801,
  cancelled: -32800,
  failed: -32803,
} as const;

/** A refused request: returned as a value, not thrown. */
export class RpcRefusal {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;

  constructor(code: number, message: string, data?: unknown) {
    this.code = code;
    this.message = message;
    this.data = data;
  }
}

export interface RpcCall {
  readonly method: string;
  readonly params: unknown;
  /** Signal that aborts when the other side cancels the request. */
  readonly signal: AbortSignal;
}

/** Answers a request with its result or a refusal; the return value for a notification is dropped. */
export type Handler = (call: RpcCall) => unknown;

export interface PeerOptions {
  readonly frames: AsyncIterable<RpcFrame>;
  /** Sends a message; rejects when the other side has disconnected. */
  readonly write: (text: string) => Promise<void>;
  /** Called in the order of the messages. Its synchronous part is complete before the next call. */
  readonly handler: Handler;
  /** The notification that cancels a request, and its member with the request id. */
  readonly cancel: { readonly method: string; readonly member: string };
  readonly onFault: (method: string, thrown: unknown) => void;
}

type Id = number | string;

interface Waiting {
  resolve(answer: unknown): void;
}

export class Peer {
  readonly #options: PeerOptions;
  readonly #waiting = new Map<Id, Waiting>();
  readonly #incoming = new Map<Id, AbortController>();
  readonly #work = new Set<Promise<void>>();
  #lastId = 0;
  #writing: Promise<void> = Promise.resolve();
  /** True if the other side has disconnected, so that nothing more is written or answered. */
  #gone = false;

  constructor(options: PeerOptions) {
    this.#options = options;
  }

  /**
   * Handles messages until the stream ends or `stop` aborts. Then it answers its own open requests with a refusal, and
   * aborts the handlers that still work.
   */
  async run(stop: AbortSignal): Promise<void> {
    const ended = new Promise<null>((resolve) => {
      if (stop.aborted) resolve(null);
      else stop.addEventListener("abort", () => resolve(null), { once: true });
    });
    const frames = this.#options.frames[Symbol.asyncIterator]();
    while (true) {
      const next = await Promise.race([frames.next(), ended]);
      if (next === null || next.done) break;
      this.#take(next.value);
    }
    for (const { resolve } of this.#waiting.values()) resolve(GONE);
    this.#waiting.clear();
    for (const controller of this.#incoming.values()) controller.abort();
  }

  /** Settles when every received request is answered and every message is written. */
  async quiet(): Promise<void> {
    await Promise.allSettled(this.#work);
    await this.#writing;
  }

  /**
   * Sends a request; gives a `RpcRefusal` if the other side refuses it or has disconnected.
   *
   * @param signal cancels the request, and gives a refusal without waiting for the other side
   */
  request(method: string, params: unknown, signal?: AbortSignal): Promise<unknown> {
    if (this.#gone) return Promise.resolve(GONE);
    if (signal?.aborted === true) return Promise.resolve(CANCELED);
    const id = ++this.#lastId;
    const answer = new Promise<unknown>((resolve) => this.#waiting.set(id, { resolve }));
    this.#send({ jsonrpc: "2.0", id, method, params });
    const cancel = () => {
      const waiting = this.#waiting.get(id);
      if (waiting === undefined) return;
      this.#waiting.delete(id);
      const { cancel: { method, member } } = this.#options;
      this.notify(method, { [member]: id });
      waiting.resolve(CANCELED);
    };
    signal?.addEventListener("abort", cancel, { once: true });
    return answer.finally(() => signal?.removeEventListener("abort", cancel));
  }

  notify(method: string, params: unknown): void {
    this.#send({ jsonrpc: "2.0", method, params });
  }

  #send(message: Record<string, unknown>): void {
    if (this.#gone) return;
    const text = JSON.stringify(message);
    this.#writing = this.#writing.then(() => this.#options.write(text)).catch(() => {
      // The other side does not read any more. The input ends too, and with it the program.
      this.#gone = true;
      for (const { resolve } of this.#waiting.values()) resolve(GONE);
      this.#waiting.clear();
    });
  }

  #take(frame: RpcFrame): void {
    if (frame.kind === "fault") return this.#refuse(null, new RpcRefusal(RpcCode.parse, frame.message));
    let message: unknown;
    try {
      message = JSON.parse(frame.text);
    } catch (thrown) {
      return this.#refuse(
        null,
        new RpcRefusal(RpcCode.parse, `A message is not valid JSON: ${thrownText(thrown)}`),
      );
    }
    if (!isObject(message)) return this.#refuse(null, NO_REQUEST);
    const { id, method, params } = message;
    if (typeof method === "string") {
      if (id === undefined) return this.#notified(method, params);
      if (!isId(id)) return this.#refuse(null, NO_REQUEST);
      return this.#asked(id, method, params);
    }
    if (isId(id) && ("result" in message || "error" in message)) return this.#answered(id, message);
    this.#refuse(isId(id) ? id : null, NO_REQUEST);
  }

  #notified(method: string, params: unknown): void {
    const { cancel } = this.#options;
    if (method === cancel.method) {
      const id = isObject(params) ? params[cancel.member] : undefined;
      if (isId(id)) this.#incoming.get(id)?.abort();
      return;
    }
    this.#keep(this.#handled({ method, params, signal: NEVER }).then(() => {}));
  }

  #asked(id: Id, method: string, params: unknown): void {
    const controller = new AbortController();
    this.#incoming.set(id, controller);
    const answered = this.#handled({ method, params, signal: controller.signal }).then((answer) => {
      if (this.#incoming.get(id) === controller) this.#incoming.delete(id);
      if (answer instanceof RpcRefusal) this.#refuse(id, answer);
      else this.#send({ jsonrpc: "2.0", id, result: answer ?? null });
    });
    this.#keep(answered);
  }

  async #handled(call: RpcCall): Promise<unknown> {
    try {
      return await this.#options.handler(call);
    } catch (thrown) {
      this.#options.onFault(call.method, thrown);
      return new RpcRefusal(RpcCode.internal, `Internal error: ${thrownText(thrown)}`);
    }
  }

  #answered(id: Id, message: Readonly<Record<string, unknown>>): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    const { error, result } = message;
    if (!isObject(error)) return waiting?.resolve(result);
    const { code, message: text, data } = error;
    waiting?.resolve(
      new RpcRefusal(
        typeof code === "number" ? code : RpcCode.internal,
        typeof text === "string" ? text : "",
        data,
      ),
    );
  }

  #refuse(id: Id | null, { code, message, data }: RpcRefusal): void {
    this.#send({ jsonrpc: "2.0", id, error: { code, message, ...(data === undefined ? {} : { data }) } });
  }

  #keep(work: Promise<void>): void {
    this.#work.add(work);
    work.finally(() => this.#work.delete(work));
  }
}

const NEVER = new AbortController().signal;
const NO_REQUEST = new RpcRefusal(
  RpcCode.invalidRequest,
  "A message is not a request, notification or response.",
);
const CANCELED = new RpcRefusal(RpcCode.cancelled, "The request was canceled.");
const GONE = new RpcRefusal(RpcCode.failed, "The connection is closed.");

function isId(value: unknown): value is Id {
  return typeof value === "number" || typeof value === "string";
}
