// A real HTTP proxy on loopback: it tunnels (CONNECT) and forwards, and can ask for a login, refuse or hang up.

export interface ProxyServer {
  readonly url: string;
  /** The first line of each request, with the login that came along. */
  readonly requests: readonly string[];
  close(): Promise<void>;
}

export interface ProxyOptions {
  /** Where a host and port really are; the proxy is who resolves names. */
  readonly hosts?: Readonly<Record<string, string>>;
  /** `NAME:PASSWORD` that it asks for. */
  readonly login?: string;
  /** What it does with every request instead of passing it on. */
  readonly instead?: "refuse" | "hang-up";
}

/** Starts a proxy. */
export function startProxy({ hosts = {}, login, instead }: ProxyOptions = {}): ProxyServer {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const requests: string[] = [];
  const open = new Set<Deno.Conn>();
  const work = new Set<Promise<void>>();

  const connectTo = async (authority: string): Promise<Deno.Conn> => {
    const [hostname = "", port = "80"] = (hosts[authority] ?? authority).split(":");
    const connection = await Deno.connect({ hostname, port: Number(port) });
    open.add(connection);
    return connection;
  };
  const handle = async (client: Deno.Conn): Promise<void> => {
    const head = await readHead(client);
    // A client that was stopped may open a connection and close it without a request.
    if (head === "") return client.close();
    const [line = ""] = head.split("\r\n");
    const given = /^proxy-authorization: basic (\S+)/im.exec(head)?.[1];
    requests.push(given === undefined ? line : `${line} as ${atob(given)}`);
    if (instead === "hang-up") return client.close();
    if (instead === "refuse") return await answer(client, "503 Service Unavailable");
    if (login !== undefined && (given === undefined || atob(given) !== login)) {
      return await answer(client, "407 Proxy Authentication Required", "Proxy-Authenticate: Basic\r\n");
    }
    const [method = "", target = ""] = line.split(" ");
    const tunnel = method === "CONNECT";
    const server = await connectTo(tunnel ? target : new URL(target).host);
    if (tunnel) await write(client, "HTTP/1.1 200 Connection Established\r\n\r\n");
    else await write(server, head.replace(target, new URL(target).pathname));
    await Promise.allSettled([
      client.readable.pipeTo(server.writable),
      server.readable.pipeTo(client.writable),
    ]);
  };
  const serving = (async () => {
    for await (const client of listener) {
      open.add(client);
      const one = handle(client).catch(() => {}).finally(() => work.delete(one));
      work.add(one);
    }
  })();
  return {
    url: `http://127.0.0.1:${(listener.addr as Deno.NetAddr).port}`,
    requests,
    async close() {
      listener.close();
      for (const connection of open) closeQuietly(connection);
      await Promise.all([serving, ...work]);
    },
  };
}

/** Everything up to the empty line, and what of the body came with it. */
async function readHead(client: Deno.Conn): Promise<string> {
  let head = "";
  const piece = new Uint8Array(64 * 1024);
  while (!head.includes("\r\n\r\n")) {
    const count = await client.read(piece);
    if (count === null) break;
    head += new TextDecoder().decode(piece.subarray(0, count));
  }
  return head;
}

async function answer(client: Deno.Conn, status: string, headers = ""): Promise<void> {
  await write(client, `HTTP/1.1 ${status}\r\n${headers}Content-Length: 0\r\nConnection: close\r\n\r\n`);
  client.close();
}

async function write(to: Deno.Conn, text: string): Promise<void> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length;) at += await to.write(bytes.subarray(at));
}

function closeQuietly(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch {
    // The other side, or a pipe, has closed it already.
  }
}
