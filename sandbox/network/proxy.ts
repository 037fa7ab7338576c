// The only way out for a command with a network list: a proxy that checks every host against the list.

import { writeAll } from "../../base/files.ts";
import { type Outcome, type Problem, success } from "../../base/problem.ts";
import { BodyMeter, type BodySize } from "./request_body.ts";
import { type HostRule, mayAskFor, mayConnect } from "./rules.ts";

/** Limit on the bytes of a request head. A longer one is refused. */
const MOST_HEAD = 64 * 1024;

/** Time limit for connecting to a host, in milliseconds. */
const CONNECT_LIMIT = 15_000;

export type ProxyOptions = ProxyChecks & ProxyPlace;

/** Where a proxy listens. */
export type ProxyPlace =
  /** On a local socket with this path, at most 107 bytes. */
  | { readonly path: string; readonly secret?: undefined }
  /**
   * On a free TCP port of this machine, which all its programs can reach. Only requests with this secret, as password
   * of the user `flemma`, are served.
   */
  | { readonly path?: undefined; readonly secret: string };

interface ProxyChecks {
  readonly rules: readonly HostRule[];
  /** Called with the reason and the target, as `host:port`. */
  onRefusal(problem: Problem, target: string): void;
  /** Returns the addresses of a name. @default the resolver of the system */
  resolve?(name: string): Promise<readonly string[]>;
}

export interface RunningProxy {
  /** The TCP port; null if it listens on a local socket. */
  readonly port: number | null;
  /** Ends all connections and removes the socket. */
  close(): void;
}

/** Starts a proxy on a new socket. Throws if listening fails. */
export function startProxy(options: ProxyOptions): RunningProxy {
  const { path } = options;
  const listener: Deno.Listener = path === undefined
    ? Deno.listen({ hostname: "127.0.0.1", port: 0 })
    : Deno.listen({ transport: "unix", path });
  const open = new Set<Deno.Conn>();
  const serve = async (connection: Deno.Conn): Promise<void> => {
    open.add(connection);
    try {
      await serveConnection(connection, options, open);
    } catch {
      // A broken connection is not reported, because both ends notice it themselves.
    } finally {
      end(connection, open);
    }
  };
  (async () => {
    for await (const connection of listener) serve(connection);
  })().catch(() => {
    // The listener was closed while it waited for a connection.
  });
  return {
    port: listener.addr.transport === "tcp" ? listener.addr.port : null,
    close() {
      listener.close();
      for (const connection of [...open]) end(connection, open);
      if (path === undefined) return;
      try {
        Deno.removeSync(path);
      } catch {
        // The socket file is already gone.
      }
    },
  };
}

function end(connection: Deno.Conn, open: Set<Deno.Conn>): void {
  open.delete(connection);
  try {
    connection.close();
  } catch {
    // The other end has already closed the connection.
  }
}

async function serveConnection(
  client: Deno.Conn,
  options: ProxyOptions,
  open: Set<Deno.Conn>,
): Promise<void> {
  const read = await readHead(client);
  if (read === null) return;
  if (read === "too long") {
    return await answer(client, 431, `The head of the request is longer than ${MOST_HEAD} bytes.`);
  }
  if (options.secret !== undefined && !hasSecret(read.head, options.secret)) {
    return await answer(client, 407, "This proxy serves only the command for which it was started.");
  }
  const request = parseRequest(read.head);
  if (request === null) {
    return await answer(client, 400, "This proxy accepts only CONNECT and requests with a complete URL.");
  }
  const upstream = await connectTo(request, options);
  if (!upstream.ok) {
    return await answer(
      client,
      upstream.problem.code === "network-refused" ? 403 : 502,
      upstream.problem.message,
    );
  }
  const server = upstream.value;
  open.add(server);
  try {
    const { forward } = request;
    const meter = forward === null ? null : new BodyMeter(forward.body);
    const passed = (piece: Uint8Array) => meter === null ? piece : meter.take(piece);
    if (forward === null) await writeAll(client, encode("HTTP/1.1 200 Connection established\r\n\r\n"));
    else await writeAll(server, encode(forward.head));
    await writeAll(server, passed(read.rest));
    await Promise.all([copy(client, server, passed), copy(server, client)]);
  } finally {
    end(server, open);
  }
}

/**
 * Copies until the source ends, then closes the other direction, so that half-open protocols work. `passed` returns the
 * part of a piece to copy.
 */
async function copy(
  from: Deno.Conn,
  to: Deno.Conn,
  passed: (piece: Uint8Array) => Uint8Array = (piece) => piece,
): Promise<void> {
  const buffer = new Uint8Array(64 * 1024);
  for (;;) {
    const count = await from.read(buffer);
    if (count === null) break;
    await writeAll(to, passed(buffer.subarray(0, count)));
  }
  await to.closeWrite();
}

function encode(text: string): Uint8Array {
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}

/**
 * Reads the head of a request with its empty line, one character per byte, and the bytes after the head; null if the
 * client closes the connection before.
 */
async function readHead(
  connection: Deno.Conn,
): Promise<{ head: string; rest: Uint8Array } | "too long" | null> {
  const buffer = new Uint8Array(MOST_HEAD);
  let length = 0;
  while (length < buffer.length) {
    const count = await connection.read(buffer.subarray(length));
    if (count === null) return null;
    const end = endOfHead(buffer, length, length += count);
    if (end !== null) {
      let head = "";
      for (let at = 0; at < end; at++) head += String.fromCharCode(buffer[at]!);
      return { head, rest: buffer.slice(end, length) };
    }
  }
  return "too long";
}

/**
 * The index after the empty line that ends a request head; null if there is none. The bytes before `known` were already
 * searched.
 */
function endOfHead(bytes: Uint8Array, known: number, length: number): number | null {
  for (let at = Math.max(3, known); at < length; at++) {
    if (bytes[at] === 10 && bytes[at - 1] === 13 && bytes[at - 2] === 10 && bytes[at - 3] === 13) {
      return at + 1;
    }
  }
  return null;
}

export interface ProxyRequest {
  /** Host name, or address without brackets. */
  readonly host: string;
  readonly port: number;
  /** Text that the server gets; null for a tunnel. */
  readonly forward: { readonly head: string; readonly body: BodySize } | null;
}

/** A header field: a name, a colon, and a value without control characters other than tabs. */
const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):([\t -~\x80-\xff]*)$/;

/** Fields that the proxy sets or that are meant for the proxy itself. */
const OWN_FIELD = /^(?:host|connection|keep-alive|proxy-[a-z-]+)$/i;

/** Matches the host of an authority: an IPv6 address in brackets, or a name of printable characters. */
const AUTHORITY = String.raw`(?:\[([0-9A-Fa-f.]*:[0-9A-Fa-f:.]*)\]|((?:(?![:/@[\]?#])[!-~])+))`;
const TUNNEL = new RegExp(String.raw`^${AUTHORITY}:(\d{1,5})$`);
const ABSOLUTE = new RegExp(
  String.raw`^http:\/\/${AUTHORITY}(?::(\d{1,5}))?((?:[/?](?:(?!#)[!-~\x80-\xff])*)?)$`,
  "i",
);

/**
 * Parses `CONNECT host:port` or `METHOD http://host…`. The forwarded head names only the host that was checked, and
 * asks the server to close after one response. Null for everything that servers could read in another way than this
 * proxy: a continued or nameless header line, an ambiguous length of the body, control characters.
 */
export function parseRequest(head: string): ProxyRequest | null {
  const [line = "", ...lines] = head.slice(0, -4).split("\r\n");
  const fields = lines.map((each) => FIELD.exec(each));
  if (fields.includes(null)) return null;
  const [method = "", target = "", version = "", ...more] = line.split(" ");
  if (!/^HTTP\/1\.[01]$/.test(version) || more.length > 0 || !/^[A-Z]+$/.test(method)) return null;
  if (method === "CONNECT") {
    const match = TUNNEL.exec(target);
    return match === null ? null : request(match[1] ?? match[2] ?? "", Number(match[3]), null);
  }
  const match = ABSOLUTE.exec(target);
  const body = bodySize(fields.map((field) => [field![1]!.toLowerCase(), field![2]!.trim()] as const));
  if (match === null || body === null) return null;
  const [, six, name = "", port, path = ""] = match;
  const authority = `${six === undefined ? name : `[${six}]`}${port === undefined ? "" : `:${port}`}`;
  const forward = [
    `${method} ${path.startsWith("/") ? path : `/${path}`} HTTP/1.1`,
    `Host: ${authority}`,
    ...lines.filter((_, at) => !OWN_FIELD.test(fields[at]![1]!)),
    "Connection: close",
    "",
    "",
  ].join("\r\n");
  return request(six ?? name, port === undefined ? 80 : Number(port), { head: forward, body });
}

/** The user name that clients of a proxy with a secret give. */
export const PROXY_USER = "flemma";

/** True if the request has the secret, exactly once. */
function hasSecret(head: string, secret: string): boolean {
  const fields = head.slice(0, -4).split("\r\n").slice(1).map((line) => FIELD.exec(line));
  const given = fields.filter((field) => field?.[1]?.toLowerCase() === "proxy-authorization");
  return given.length === 1 &&
    /^basic +(.*)$/i.exec(given[0]![2]!.trim())?.[1] === btoa(`${PROXY_USER}:${secret}`);
}

/** Returns where the body ends, from field names in lower case and their values; null if servers could disagree. */
function bodySize(fields: readonly (readonly [name: string, value: string])[]): BodySize | null {
  const valuesOf = (wanted: string) => fields.filter(([name]) => name === wanted).map(([, value]) => value);
  const lengths = valuesOf("content-length");
  const codings = valuesOf("transfer-encoding");
  if (lengths.length + codings.length > 1) return null;
  if (codings.length > 0) return codings[0]!.toLowerCase() === "chunked" ? "chunked" : null;
  return lengths.length === 0 ? 0 : /^\d{1,15}$/.test(lengths[0]!) ? Number(lengths[0]) : null;
}

function request(host: string, port: number, forward: ProxyRequest["forward"]): ProxyRequest | null {
  return port < 1 || port > 65535 ? null : { host, port, forward };
}

/**
 * Checks the name against the list, resolves it, checks each address against the list, and connects to an address that
 * was checked.
 */
async function connectTo(
  { host, port }: ProxyRequest,
  options: ProxyOptions,
): Promise<Outcome<Deno.Conn>> {
  const refuse = (why: string): Outcome<never> => {
    const problem = {
      code: "network-refused",
      message: `A command tried to reach ${host}:${port}: ${why}.`,
      next: `To allow it, add it to sandbox.policy.network.allow.`,
    };
    options.onRefusal(problem, `${host}:${port}`);
    return { ok: false, problem };
  };
  if (!mayAskFor(options.rules, host, port)) return refuse("it is not in the network list");
  let addresses: readonly string[];
  try {
    addresses = await (options.resolve ?? resolveBySystem)(host);
  } catch {
    addresses = [];
  }
  if (addresses.length === 0) return unreachable(host, port, "its name could not be resolved");
  const permitted = addresses.filter((address) => mayConnect(options.rules, { host, port, address }));
  if (permitted.length === 0) {
    return refuse(`its address ${addresses[0]} is in a private network and is not listed itself`);
  }
  for (const address of permitted) {
    try {
      return success(
        await Deno.connect({ hostname: address, port, signal: AbortSignal.timeout(CONNECT_LIMIT) }),
      );
    } catch {
      // This address does not answer, but the next one may.
    }
  }
  return unreachable(host, port, "nothing answered there");
}

function unreachable(host: string, port: number, why: string): Outcome<never> {
  return {
    ok: false,
    problem: { code: "network-unreachable", message: `${host}:${port} could not be reached: ${why}.` },
  };
}

/** Resolves names like every program of this machine, including its hosts file. */
async function resolveBySystem(name: string): Promise<readonly string[]> {
  const { lookup } = await import("node:dns/promises");
  return (await lookup(name, { all: true })).map(({ address }) => address);
}

async function answer(
  client: Deno.Conn,
  status: 400 | 403 | 407 | 431 | 502,
  message: string,
): Promise<void> {
  const reason = {
    400: "Bad Request",
    403: "Forbidden",
    407: "Proxy Authentication Required",
    431: "Request Header Fields Too Large",
    502: "Bad Gateway",
  }[status];
  const body = new TextEncoder().encode(`flemma: ${message}\n`);
  await writeAll(
    client,
    encode(
      `HTTP/1.1 ${status} ${reason}\r\nContent-Type: text/plain; charset=utf-8\r\n` +
        (status === 407 ? 'Proxy-Authenticate: Basic realm="flemma"\r\n' : "") +
        `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n`,
    ),
  );
  await writeAll(client, body);
}
