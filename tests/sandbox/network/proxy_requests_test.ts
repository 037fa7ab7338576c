// Requests that a server could read in another way than the proxy: refused, or cut where the first one ends.

import assert from "node:assert/strict";
import { writeAll } from "../../../base/files.ts";
import { parseRequest, startProxy } from "../../../sandbox/network/proxy.ts";
import { BodyMeter, type BodySize } from "../../../sandbox/network/request_body.ts";
import { parseHostRules } from "../../../sandbox/network/rules.ts";
import { testInFolder as test } from "../../folder.ts";

const FIRST = "POST http://a.org/x HTTP/1.1";

function isAccepted(...lines: string[]): boolean {
  return parseRequest(`${lines.join("\r\n")}\r\n\r\n`) !== null;
}

/** Each row is accepted without its last line. */
const AMBIGUOUS: Readonly<Record<string, readonly string[]>> = {
  "a continued header line": [FIRST, "A: b", " Host: evil.org"],
  "a line continued with a tab": [FIRST, "A: b", "\tHost: evil.org"],
  "a first header line that begins with a blank": [FIRST, " Host: evil.org"],
  "a blank before the colon": [FIRST, "Host : evil.org"],
  "a tab before the colon": [FIRST, "Content-Length\t: 5"],
  "a header line without a colon": [FIRST, "Host"],
  "a header line without a name": [FIRST, ": evil.org"],
  "a name that is not a token": [FIRST, "Ho st: evil.org"],
  "a name of other characters": [FIRST, "H\xf6st: evil.org"],
  "a NUL in a value": [FIRST, "A: b\0Host: evil.org"],
  "a lone CR in a value": [FIRST, "A: b\rHost: evil.org"],
  "a lone LF in a value": [FIRST, "A: b\nHost: evil.org"],
  "a vertical tab in a value": [FIRST, "A: b\x0bc"],
  "an escape character in a value": [FIRST, "A: \x1b[2J"],
  "two lengths": [FIRST, "Content-Length: 5", "Content-Length: 6"],
  "two equal lengths": [FIRST, "Content-Length: 5", "content-length: 5"],
  "a length and a coding": [FIRST, "Content-Length: 5", "Transfer-Encoding: chunked"],
  "a coding and a length": [FIRST, "Transfer-Encoding: chunked", "Content-Length: 5"],
  "two codings": [FIRST, "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
  "a list of lengths": [FIRST, "Content-Length: 5, 5"],
  "a length with a sign": [FIRST, "Content-Length: +5"],
  "a length in hexadecimal": [FIRST, "Content-Length: 0x5"],
  "an empty length": [FIRST, "Content-Length:"],
  "a length of 16 digits": [FIRST, "Content-Length: 1000000000000000"],
  "a coding other than chunked": [FIRST, "Transfer-Encoding: gzip"],
  "a list of codings": [FIRST, "Transfer-Encoding: identity, chunked"],
  "a disguised coding": [FIRST, "Transfer-Encoding: xchunked"],
};

for (const [name, lines] of Object.entries(AMBIGUOUS)) {
  Deno.test(`the proxy refuses a request with ${name}`, () => {
    assert.ok(isAccepted(...lines.slice(0, -1)), "without the last line");
    assert.ok(!isAccepted(...lines));
  });
}

const TARGETS: Readonly<Record<string, string>> = {
  "credentials in the URL": "GET http://u:p@a.org/",
  "an empty user name": "GET http://@a.org/",
  "a fragment": "GET http://a.org/x#http://b.org/",
  "a control character in the path": "GET http://a.org/\x01",
  "an escape character in the host": "CONNECT a\x1b.org:443",
  "a NUL in the host": "CONNECT a\0.org:443",
  "letters that are not ASCII in the host": "CONNECT \xe4.org:443",
  "an IPv4 address in brackets": "CONNECT [127.0.0.1]:80",
  "an IPv6 address without brackets": "CONNECT ::1:80",
  "an IPv6 zone": "CONNECT [fe80::1%25lo]:80",
  "no port": "CONNECT a.org",
  "an empty port": "CONNECT a.org:",
  "port 0": "CONNECT a.org:0",
  "a port above 65535": "CONNECT a.org:65536",
  "a port with a sign": "CONNECT a.org:+80",
  "a port of six digits": "CONNECT a.org:000080",
  "two ports": "CONNECT a.org:80:443",
  "a path after the port": "CONNECT a.org:80/x",
  "a relative path": "GET /x",
  "the asterisk": "OPTIONS *",
  "another scheme": "GET ftp://a.org/",
  "two targets": "GET http://a.org/ http://b.org/",
};

for (const [name, start] of Object.entries(TARGETS)) {
  Deno.test(`the proxy refuses a target with ${name}`, () => {
    assert.ok(!isAccepted(`${start} HTTP/1.1`));
  });
}

Deno.test("the proxy replaces every Host field and removes the fields that are meant for proxies", () => {
  const read = parseRequest(
    [FIRST, "Host: evil.org", "HOST: worse.org", "Proxy-Connection: x", "Keep-Alive: y", "A: b", "", ""].join(
      "\r\n",
    ),
  );
  assert.equal(
    read?.forward?.head,
    "POST /x HTTP/1.1\r\nHost: a.org\r\nA: b\r\nConnection: close\r\n\r\n",
  );
});

/** A body in one piece, and how much of it counts; null if it is malformed. */
const BODIES: readonly (readonly [name: string, size: BodySize, piece: string, counts: string | null])[] = [
  ["nothing follows a request without a body", 0, "GET /", ""],
  ["a length counts its bytes", 3, "abcGET /", "abc"],
  ["an incomplete body counts", 9, "abc", "abc"],
  ["chunks end at the empty one", "chunked", "3\r\nabc\r\n0\r\n\r\nGET /", "3\r\nabc\r\n0\r\n\r\n"],
  ["a chunk contains anything", "chunked", "5\r\n0\r\n\r\n\r\n0\r\n\r\nG", "5\r\n0\r\n\r\n\r\n0\r\n\r\n"],
  ["sizes have extensions", "chunked", '1;a="b"\r\nx\r\n0\r\n\r\nG', '1;a="b"\r\nx\r\n0\r\n\r\n'],
  ["fields follow the last chunk", "chunked", "0\r\nA: b\r\n\r\nGET /", "0\r\nA: b\r\n\r\n"],
  ["a size is hexadecimal", "chunked", "0x3\r\nabc\r\n", null],
  ["a size has no sign", "chunked", "-3\r\nabc\r\n", null],
  ["a size is not empty", "chunked", "\r\nabc\r\n", null],
  ["a size line ends with CR LF", "chunked", "3\nabc\r\n", null],
  ["a size line has no lone CR", "chunked", "3\r;\r\nabc\r\n", null],
  ["a chunk is as long as its size", "chunked", "3\r\nabcd\r\n", null],
  ["a size line is short", "chunked", `1;${"a".repeat(5000)}\r\nx`, null],
];

for (const [name, size, piece, counts] of BODIES) {
  Deno.test(`the proxy reads the body of a request as HTTP defines it: ${name}`, () => {
    const bytes = new TextEncoder().encode(piece);
    const taken = (parts: readonly Uint8Array[]) => {
      const meter = new BodyMeter(size);
      return parts.map((part) => new TextDecoder().decode(meter.take(part))).join("");
    };
    const single = [...bytes].map((byte) => Uint8Array.of(byte));
    for (const parts of [[bytes], single]) {
      if (counts === null) assert.throws(() => taken(parts));
      else assert.equal(taken(parts), counts);
    }
  });
}

/** Listens on loopback, answers the first request and closes; returns everything it received. */
async function receive(proxied: (port: number) => Promise<unknown>): Promise<string> {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const received = (async () => {
    const connection = await listener.accept();
    await connection.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"));
    await connection.closeWrite();
    return await new Response(connection.readable).text();
  })();
  await proxied(listener.addr.port);
  return await received;
}

test("a second request on a proxy connection does not reach the server, whatever its Host", async (root) => {
  const second = "GET http://evil.org/ HTTP/1.1\r\nHost: evil.org\r\n\r\n";
  for (const body of ["", "Content-Length: 2\r\n\r\nhi", "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"]) {
    const received = await receive(async (port) => {
      const rules = parseHostRules([`127.0.0.1:${port}`]);
      assert.ok(rules.ok);
      const proxy = startProxy({ path: `${root}/p`, rules: rules.value, onRefusal: () => {} });
      try {
        const client = await Deno.connect({ transport: "unix", path: `${root}/p` });
        const request = `POST http://127.0.0.1:${port}/ HTTP/1.1\r\n${body === "" ? "\r\n" : body}${second}`;
        await writeAll(client, new TextEncoder().encode(request));
        await client.closeWrite();
        await new Response(client.readable).text();
      } finally {
        proxy.close();
      }
    });
    assert.ok(received.startsWith("POST / HTTP/1.1\r\n"), received);
    assert.ok(!received.includes("evil"), received);
  }
});

test("the proxy responds with an error if the head of a request is too long", async (root) => {
  const proxy = startProxy({ path: `${root}/p`, rules: [], onRefusal: () => {} });
  try {
    const client = await Deno.connect({ transport: "unix", path: `${root}/p` });
    const head = `GET http://a.org/${"x".repeat(64 * 1024 - "GET http://a.org/".length)}`;
    await writeAll(client, new TextEncoder().encode(head));
    assert.match(await new Response(client.readable).text(), /^HTTP\/1\.1 431 /);
  } finally {
    proxy.close();
  }
});
