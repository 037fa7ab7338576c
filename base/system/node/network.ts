// Connections and servers as in Deno, over Node.

import { asDenoError, errors } from "./errors.ts";
import type { NodeModules } from "./modules.ts";

type Socket = import("node:net").Socket;

/** A connection with the members of `Deno.Conn` that the library uses. */
class Connection implements Disposable {
  readonly #socket: Socket;
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
  #reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
  #rest: Uint8Array = new Uint8Array();

  constructor(node: NodeModules, socket: Socket) {
    this.#socket = socket;
    // The error of a connection belongs to a read or write, if there is one.
    socket.on("error", () => {});
    const { readable, writable } = node.stream.Duplex.toWeb(socket);
    this.readable = readable as ReadableStream<Uint8Array>;
    this.writable = writable as WritableStream<Uint8Array>;
  }

  async read(bytes: Uint8Array): Promise<number | null> {
    this.#reader ??= this.readable.getReader();
    if (this.#rest.length === 0) {
      const { done, value } = await this.#reader.read().catch((thrown) =>
        Promise.reject(asDenoError(thrown))
      );
      if (done) return null;
      this.#rest = value;
    }
    const count = Math.min(bytes.length, this.#rest.length);
    bytes.set(this.#rest.subarray(0, count));
    this.#rest = this.#rest.subarray(count);
    return count;
  }

  write(bytes: Uint8Array): Promise<number> {
    return new Promise((resolve, reject) =>
      this.#socket.write(bytes, (error) => error ? reject(asDenoError(error)) : resolve(bytes.length))
    );
  }

  closeWrite(): Promise<void> {
    return new Promise((resolve) => this.#socket.end(() => resolve()));
  }

  close(): void {
    this.#socket.destroy();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

interface Address {
  readonly transport?: "unix" | "tcp";
  readonly path?: string;
  readonly hostname?: string;
  readonly port?: number;
  readonly signal?: AbortSignal;
}

/** Functions for connections and servers. Their names, arguments and results are those of Deno. */
export function network(node: NodeModules) {
  const { net, http } = node;
  return {
    connect: ({ path, hostname = "127.0.0.1", port = 0, signal }: Address): Promise<Connection> =>
      new Promise((resolve, reject) => {
        const socket = path === undefined ? net.connect(port, hostname) : net.connect(path);
        const fail = (thrown: unknown) => {
          socket.destroy();
          reject(asDenoError(thrown));
        };
        socket.once("error", fail);
        signal?.addEventListener("abort", () => fail(signal.reason), { once: true });
        socket.once("connect", () => {
          socket.off("error", fail);
          resolve(new Connection(node, socket));
        });
      }),
    listen: ({ path, hostname = "0.0.0.0", port = 0 }: Address) => {
      const waiting: Connection[] = [];
      let isClosed = false;
      let wake = () => {};
      const server = net.createServer((socket) => {
        waiting.push(new Connection(node, socket));
        wake();
      });
      server.on("error", () => {
        isClosed = true;
        wake();
      });
      if (path === undefined) server.listen(port, hostname);
      else server.listen(path);
      return {
        get addr() {
          return server.address();
        },
        close() {
          isClosed = true;
          server.close();
          wake();
        },
        async *[Symbol.asyncIterator]() {
          while (true) {
            const next = waiting.shift();
            if (next !== undefined) yield next;
            else if (isClosed) return;
            else await new Promise<void>((resolve) => wake = resolve);
          }
        },
      };
    },
    serve: (
      { hostname = "0.0.0.0", port = 8000, signal, onListen, onError }: Deno.ServeTcpOptions,
      handler: (request: Request) => Response | Promise<Response>,
    ) => {
      const addr = { transport: "tcp" as const, hostname, port };
      const server = http.createServer(async (incoming, outgoing) => {
        try {
          const response = await handler(requestOf(node, incoming, outgoing));
          outgoing.writeHead(response.status, Object.fromEntries(response.headers));
          for await (const piece of response.body ?? []) outgoing.write(piece);
          outgoing.end();
        } catch (thrown) {
          // The handler failed, or breaks the connection off.
          const instead = outgoing.headersSent ? null : await onError?.(thrown);
          if (instead === null || instead === undefined) outgoing.destroy();
          else outgoing.writeHead(instead.status).end();
        }
      });
      const finished = new Promise<void>((resolve, reject) => {
        server.on("close", () => resolve());
        server.on("error", (error) => reject(asDenoError(error)));
      });
      const close = () => {
        server.close();
        server.closeAllConnections();
      };
      signal?.addEventListener("abort", close, { once: true });
      server.listen(port, hostname, () => {
        addr.port = (server.address() as import("node:net").AddressInfo).port;
        onListen?.(addr);
      });
      return {
        finished,
        addr,
        shutdown: async () => {
          close();
          await finished;
        },
      };
    },
    /** Node's `fetch` takes no client, so settings that it would need are refused. */
    createHttpClient: (options: { readonly proxy?: unknown; readonly caCerts?: readonly string[] }) => {
      if (options.proxy !== undefined || (options.caCerts ?? []).length > 0) {
        throw new errors.NotSupported("Node cannot use a proxy or additional certificates for one request");
      }
      return { close() {}, [Symbol.dispose]() {} };
    },
  };
}

function requestOf(
  { stream }: NodeModules,
  incoming: import("node:http").IncomingMessage,
  outgoing: import("node:http").ServerResponse,
): Request {
  const { method = "GET", url = "/" } = incoming;
  const ended = new AbortController();
  outgoing.on("close", () => ended.abort());
  const headers = new Headers();
  for (const [name, values] of Object.entries(incoming.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  const options = { method, headers, signal: ended.signal };
  const body = method === "GET" || method === "HEAD"
    ? {}
    : { body: stream.Readable.toWeb(incoming) as ReadableStream, duplex: "half" };
  return new Request(`http://${incoming.headers.host ?? "localhost"}${url}`, { ...options, ...body });
}
