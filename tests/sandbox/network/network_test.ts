// The network list: which hosts pass, what the proxy allows, and that there is no other way out.

import assert from "node:assert/strict";
import type { Problem } from "../../../base/problem.ts";
import { isInward, parseAddress } from "../../../sandbox/network/address.ts";
import { parseRequest, PROXY_USER, startProxy } from "../../../sandbox/network/proxy.ts";
import { mayAskFor, mayConnect, parseHostRules } from "../../../sandbox/network/rules.ts";
import { exists, plant, projectSandbox, requireBubblewrap, runInside } from "../fixture.ts";
import { testInFolder as test } from "../../folder.ts";

function rules(...entries: string[]) {
  const parsed = parseHostRules(entries);
  assert.ok(parsed.ok, parsed.ok ? "" : parsed.problem.message);
  return parsed.value;
}

Deno.test("network addresses are accepted only in their canonical forms", () => {
  const text = (bytes: Uint8Array | null) => bytes === null ? null : [...bytes].join(" ");
  assert.equal(text(parseAddress("127.0.0.1")), "127 0 0 1");
  assert.equal(text(parseAddress("::ffff:10.1.2.3")), "10 1 2 3");
  assert.equal(text(parseAddress("2001:db8::1")), "32 1 13 184 0 0 0 0 0 0 0 0 0 0 0 1");
  assert.equal(text(parseAddress("::")), "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0");
  const rows = [
    "0177.0.0.1",
    "127.1",
    "0x7f.0.0.1",
    "256.0.0.1",
    "1.2.3",
    "1::2::3",
    ":::",
    "12345::",
    "::1%lo",
    "",
  ];
  for (const odd of rows) {
    assert.equal(parseAddress(odd), null, odd);
  }
});

Deno.test("this machine, its network and special addresses count as internal; the open Internet does not", () => {
  const inward = (address: string) => isInward(parseAddress(address)!);
  const own = [
    ...[
      "127.0.0.1",
      "127.255.255.254",
      "10.0.0.1",
      "172.16.0.1",
      "172.31.255.255",
      "192.168.1.1",
      "169.254.169.254",
    ],
    ...[
      "0.0.0.0",
      "100.64.0.1",
      "224.0.0.1",
      "255.255.255.255",
      "::1",
      "::",
      "fe80::1",
      "fc00::1",
      "fd12::1",
      "ff02::1",
    ],
    ...["::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::"],
  ];
  for (const address of own) assert.ok(inward(address), address);
  for (
    const address of ["1.1.1.1", "172.32.0.1", "172.15.0.1", "100.128.0.1", "11.0.0.1", "2606:4700::1111"]
  ) {
    assert.ok(!inward(address), address);
  }
});

Deno.test("a host name matches itself, a star matches its subdomains, and a rule without a port covers ports 80 and 443", () => {
  const list = rules("packages.example.org:8443", "*.github.com", "Plain.Example.");
  const asked: [string, number, boolean][] = [
    ["packages.example.org", 8443, true],
    ["packages.example.org", 443, false],
    ["PACKAGES.example.org.", 8443, true],
    ["x.packages.example.org", 8443, false],
    ["api.github.com", 443, true],
    ["a.b.github.com", 80, true],
    ["github.com", 443, false],
    ["evilgithub.com", 443, false],
    ["api.github.com.evil.org", 443, false],
    ["api.github.com", 22, false],
    ["plain.example", 80, true],
    ["1.1.1.1", 443, false],
    ["", 443, false],
    ["api.github.com\0.evil", 443, false],
  ];
  for (const [host, port, expected] of asked) {
    assert.equal(mayAskFor(list, host, port), expected, `${host}:${port}`);
  }
});

Deno.test("addresses and ranges match by their bytes, whatever their spelling", () => {
  const list = rules("192.0.2.7", "10.0.0.0/8:*", "[2001:db8::/32]:443");
  assert.ok(mayAskFor(list, "192.0.2.7", 80) && mayAskFor(list, "10.9.8.7", 5432));
  assert.ok(mayAskFor(list, "::ffff:10.9.8.7", 1) && mayAskFor(list, "2001:db8:0:0::9", 443));
  assert.ok(!mayAskFor(list, "192.0.2.8", 80) && !mayAskFor(list, "11.0.0.1", 80));
  assert.ok(!mayAskFor(list, "2001:db9::1", 443) && !mayAskFor(list, "2001:db8::1", 80));
});

Deno.test("a permitted name that resolves to an internal address is refused unless that address is listed; localhost is allowed", () => {
  const to = (list: string[], host: string, address: string) =>
    mayConnect(rules(...list), { host, port: 80, address });
  assert.ok(to(["a.org"], "a.org", "93.184.216.34"));
  assert.ok(!to(["a.org"], "a.org", "127.0.0.1") && !to(["a.org"], "a.org", "169.254.169.254"));
  assert.ok(!to(["a.org"], "a.org", "::ffff:10.0.0.1") && !to(["a.org"], "a.org", "not an address"));
  assert.ok(to(["a.org", "10.0.0.0/8"], "a.org", "10.0.0.1"));
  assert.ok(!to(["a.org", "10.0.0.0/8:443"], "a.org", "10.0.0.1"));
  assert.ok(to(["localhost"], "localhost", "127.0.0.1") && to(["localhost"], "localhost", "::1"));
  assert.ok(!to(["localhost"], "localhost", "10.0.0.1"));
});

Deno.test("an invalid host in the network list is refused when the settings are read", () => {
  const odd = [
    ...[
      "",
      "*",
      "*.",
      "a b",
      "http://a.org",
      "a.org:",
      "a.org:0",
      "a.org:70000",
      "a.org/x",
      "*.*.org",
      "a..org",
      "-a.org",
    ],
    ...["10.0.0.0/33", "10.0.0.0/x", "::1", "[a.org]:80", "1.2.3.4.5", "0x7f.1", "017700000001"],
  ];
  for (const entry of odd) assert.ok(!parseHostRules([entry]).ok, entry);
});

Deno.test("proxy requests are parsed strictly, and the forwarded request names only the host that was checked", () => {
  const read = (...lines: string[]) => parseRequest(`${lines.join("\r\n")}\r\n\r\n`);
  assert.deepEqual(read("CONNECT a.org:443 HTTP/1.1", "Host: b.org"), {
    host: "a.org",
    port: 443,
    forward: null,
  });
  assert.deepEqual(read("CONNECT [::1]:22 HTTP/1.1"), { host: "::1", port: 22, forward: null });
  const get = read(
    ...[
      "GET http://a.org:81/x?y HTTP/1.1",
      "Host: evil.org",
      "Proxy-Authorization: secret",
      "Connection: keep-alive",
    ],
    ...["Accept: */*"],
  );
  assert.deepEqual(get, {
    host: "a.org",
    port: 81,
    forward: {
      head: "GET /x?y HTTP/1.1\r\nHost: a.org:81\r\nAccept: */*\r\nConnection: close\r\n\r\n",
      body: 0,
    },
  });
  assert.equal(read("GET http://a.org?q HTTP/1.0")?.forward?.head.split("\r\n")[0], "GET /?q HTTP/1.1");
  const odd = [
    ...[
      "GET /x HTTP/1.1",
      "GET https://a.org/ HTTP/1.1",
      "CONNECT a.org HTTP/1.1",
      "CONNECT a.org:443:80 HTTP/1.1",
    ],
    ...[
      "GET http://u:p@a.org/ HTTP/1.1",
      "CONNECT u@a.org:443 HTTP/1.1",
      "GET http://a.org/ HTTP/2",
      "hello",
    ],
    ...["CONNECT a.org:0 HTTP/1.1", "CONNECT a.org:99999 HTTP/1.1", "GET http://a.org\\@b.org/ x HTTP/1.1"],
  ];
  for (const line of odd) assert.equal(read(line), null, line);
  for (const end of ["\n", "\r", "\r\r\n"]) {
    assert.equal(parseRequest(`GET http://a.org/ HTTP/1.1\r\nA: b${end}Host: evil.org\r\n\r\n`), null);
  }
});

/** A server on the loopback that answers every request with what it was asked. */
async function withServer(body: (port: number, asked: string[]) => Promise<void>): Promise<void> {
  const asked: string[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, (request) => {
    asked.push(`${request.method} ${new URL(request.url).pathname} ${request.headers.get("host")}`);
    return new Response("served\n");
  });
  try {
    await body(server.addr.port, asked);
  } finally {
    await server.shutdown();
  }
}

/** Sends bytes to the socket and reads to the end. */
async function talk(path: string, text: string): Promise<string> {
  const connection = await Deno.connect({ transport: "unix", path });
  await connection.write(new TextEncoder().encode(text));
  return await new Response(connection.readable).text();
}

test("the proxy connects only to the address that it checked", async (root) => {
  await withServer(async (port, asked) => {
    const refused: Problem[] = [];
    const resolved: string[] = [];
    const proxy = startProxy({
      path: `${root}/p`,
      rules: rules("a.test:*", "b.test:*", `127.0.0.1:${port}`),
      onRefusal: (problem) => refused.push(problem),
      resolve: (name) => {
        resolved.push(name);
        // Asked a second time it would lead elsewhere, as a rebound name does.
        return Promise.resolve(resolved.length > 1 && name === "a.test" ? ["10.0.0.1"] : ["127.0.0.1"]);
      },
    });
    try {
      const get = (host: string) => talk(`${root}/p`, `GET http://${host}/path HTTP/1.1\r\nHost: x\r\n\r\n`);
      assert.match(await get(`a.test:${port}`), /^HTTP\/1\.1 200 [^]*served\n$/);
      assert.deepEqual(resolved, ["a.test"]);
      assert.deepEqual(asked, [`GET /path a.test:${port}`]);
      assert.match(await get(`other.test:${port}`), /^HTTP\/1\.1 403 [^]*not in the network list/);
      assert.deepEqual(resolved, ["a.test"], "a name that is not listed is not even looked up");
      assert.match(await get("b.test:1"), /^HTTP\/1\.1 403 [^]*private network/);
      assert.match(await talk(`${root}/p`, "nonsense\r\n\r\n"), /^HTTP\/1\.1 400 /);
      assert.deepEqual(refused.map(({ code }) => code), ["network-refused", "network-refused"]);
      assert.match(refused[0]?.message ?? "", /other\.test/);
    } finally {
      proxy.close();
    }
    await assert.rejects(Deno.connect({ transport: "unix", path: `${root}/p` }));
  });
});

test("when the proxy ends, it ends connections that have not yet sent a request", async (root) => {
  const proxy = startProxy({ path: `${root}/p`, rules: rules(), onRefusal: () => {} });
  using early = await Deno.connect({ transport: "unix", path: `${root}/p` });
  // The proxy has accepted the earlier connection by the time at which it answers a later one.
  assert.match(await talk(`${root}/p`, "x\r\n\r\n"), /^HTTP\/1\.1 400 /);
  proxy.close();
  const answer = await early.write(new TextEncoder().encode("x\r\n\r\n"))
    .then(() => early.read(new Uint8Array(100))).catch(() => null);
  assert.equal(answer, null);
});

test("a tunnel carries bytes in both directions and ends when one side closes", async (root) => {
  await withServer(async (port, asked) => {
    const proxy = startProxy({
      path: `${root}/p`,
      rules: rules(`127.0.0.1:${port}`),
      onRefusal: () => {},
    });
    try {
      const answer = await talk(
        `${root}/p`,
        `CONNECT 127.0.0.1:${port} HTTP/1.1\r\n\r\nGET /in HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`,
      );
      assert.match(answer, /^HTTP\/1\.1 200 Connection established\r\n\r\nHTTP\/1\.1 200 [^]*served\n$/);
      assert.deepEqual(asked, ["GET /in h"]);
    } finally {
      proxy.close();
    }
  });
});

Deno.test("a proxy on a port serves only requests with its secret, given exactly once", async () => {
  await withServer(async (port, asked) => {
    const secret = "0d0f-secret";
    const refused: string[] = [];
    const proxy = startProxy({
      secret,
      rules: rules(`127.0.0.1:${port}`),
      onRefusal: (_, target) => refused.push(target),
    });
    const ask = async (...fields: string[]) => {
      const head = [`GET http://127.0.0.1:${port}/ HTTP/1.1`, ...fields, "", ""].join("\r\n");
      const connection = await Deno.connect({ hostname: "127.0.0.1", port: proxy.port! });
      await connection.write(new TextEncoder().encode(head));
      return await new Response(connection.readable).text();
    };
    const given = (user: string, password: string) => `Basic ${btoa(`${user}:${password}`)}`;
    const own = given(PROXY_USER, secret);
    const wrong: Record<string, string[]> = {
      "no secret": [],
      "an empty secret": [`Proxy-Authorization: ${given(PROXY_USER, "")}`],
      "another secret": [`Proxy-Authorization: ${given(PROXY_USER, `${secret}x`)}`],
      "the beginning of the secret": [`Proxy-Authorization: ${given(PROXY_USER, secret.slice(0, -1))}`],
      "another user": [`Proxy-Authorization: ${given("root", secret)}`],
      "another scheme": [`Proxy-Authorization: Bearer ${secret}`],
      "the secret as it is": [`Proxy-Authorization: Basic ${secret}`],
      "the field for the server": [`Authorization: ${own}`],
      "a wrong and the right secret": [
        `Proxy-Authorization: ${given(PROXY_USER, "x")}`,
        `Proxy-Authorization: ${own}`,
      ],
      "the right secret twice": [`Proxy-Authorization: ${own}`, `proxy-authorization: ${own}`],
    };
    try {
      for (const [name, fields] of Object.entries(wrong)) {
        const answer = await ask(...fields);
        assert.match(answer, /^HTTP\/1\.1 407 [^]*\r\nProxy-Authenticate: Basic /, name);
      }
      assert.deepEqual(asked, []);
      for (const field of [`Proxy-Authorization: ${own}`, `proxy-authorization:  basic  ${own.slice(6)} `]) {
        assert.match(await ask(field), /^HTTP\/1\.1 200 [^]*served\n$/, field);
      }
      assert.equal(asked.length, 2);
      const other = await ask(`Proxy-Authorization: ${own}`, "Host: 127.0.0.1:1");
      assert.match(other, /^HTTP\/1\.1 200 /);
      assert.deepEqual(refused, [], "who has no secret is not reported as the command");
    } finally {
      proxy.close();
    }
    await assert.rejects(Deno.connect({ hostname: "127.0.0.1", port: proxy.port! }));
  });
});

test("a proxy with a secret does not pass it on, and one on a local socket needs none", async (root) => {
  const fields: string[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, (request) => {
    fields.push([...request.headers.keys()].filter((name) => name.includes("auth")).join());
    return new Response("served\n");
  });
  const list = rules(`127.0.0.1:${server.addr.port}`);
  const proxy = startProxy({ secret: "s", rules: list, onRefusal: () => {} });
  const local = startProxy({ path: `${root}/p`, rules: list, onRefusal: () => {} });
  try {
    const head = `GET http://127.0.0.1:${server.addr.port}/ HTTP/1.1\r\n`;
    const connection = await Deno.connect({ hostname: "127.0.0.1", port: proxy.port! });
    const secret = `Proxy-Authorization: Basic ${btoa(`${PROXY_USER}:s`)}\r\n\r\n`;
    await connection.write(new TextEncoder().encode(head + secret));
    assert.match(await new Response(connection.readable).text(), /^HTTP\/1\.1 200 /);
    assert.equal(local.port, null);
    assert.match(await talk(`${root}/p`, `${head}\r\n`), /^HTTP\/1\.1 200 /);
    assert.deepEqual(fields, ["", ""]);
  } finally {
    proxy.close();
    local.close();
    await server.shutdown();
  }
});

const FETCH = `try {
  const answer = await fetch(Deno.args[0]);
  console.log(answer.ok ? (await answer.text()).trim() : "failed " + answer.status);
} catch (e) { console.log("failed", e.name); }`;

test("inside the sandbox, a listed host can be reached, another host is refused, and no connection bypasses the proxy", async (root) => {
  plant(root, "project/");
  await withServer(async (port) => {
    Deno.writeTextFileSync(`${root}/project/fetch.js`, FETCH);
    const sandbox = projectSandbox(root, {
      policy: { network: { allow: [`127.0.0.1:${port}`, "localhost:1"] } },
    });
    await requireBubblewrap(sandbox);
    // The library leaves addresses of its own machine to itself, unless the variables say otherwise.
    const fetch =
      `env -u no_proxy -u NO_PROXY DENO_NO_UPDATE_CHECK=1 "${Deno.execPath()}" run -A --no-config fetch.js`;
    const { out, code } = await runInside(
      sandbox,
      `${fetch} http://127.0.0.1:${port}/; ${fetch} http://127.0.0.1:${
        port + 1
      }/; ${fetch} http://example.org/; ` +
        `env -u http_proxy -u HTTP_PROXY -u all_proxy -u ALL_PROXY ${fetch} http://127.0.0.1:${port}/; ` +
        `cat /proc/net/dev | grep -c :; echo $https_proxy; exit 3`,
    );
    assert.equal(out, "served\nfailed 403\nfailed 403\nfailed TypeError\n1\nhttp://127.0.0.1:3128\n");
    assert.equal(code, 3);
    const refusals = sandbox.notices().filter(({ code }) => code === "network-refused");
    assert.deepEqual(refusals.map(({ message }) => message.split(": ")[0]), [
      `A command tried to reach 127.0.0.1:${port + 1}`,
      "A command tried to reach example.org:80",
    ]);
  });
});

test("a network list works if the runtime folder has a long name, and its temporary folder is removed", async (root) => {
  plant(root, "project/");
  const sandbox = projectSandbox(root, { policy: { network: { allow: ["a.org"] } } }, {
    variables: { XDG_RUNTIME_DIR: `${root}/${"long".repeat(30)}` },
  });
  const make = Deno.makeTempDirSync;
  const made: string[] = [];
  Deno.makeTempDirSync = (options) => {
    const folder = make(options);
    made.push(folder);
    return folder;
  };
  try {
    assert.equal((await runInside(sandbox, "echo $https_proxy")).out, "http://127.0.0.1:3128\n");
  } finally {
    Deno.makeTempDirSync = make;
  }
  assert.deepEqual([made.length > 0, made.filter(exists)], [true, []]);
});

test("an empty network list means no network; if local sockets are blocked, any other list is refused with the reason", async (root) => {
  plant(root, "project/");
  const empty = projectSandbox(root, { policy: { network: { allow: [] } } });
  assert.equal((await runInside(empty, "grep -c : /proc/net/dev; echo [$http_proxy]")).out, "1\n[]\n");
  const both = projectSandbox(root, {
    policy: { network: { allow: ["a.org"] }, block_unix_sockets: true },
  });
  const answer = await both.available();
  assert.match(answer.ok ? "" : answer.problem.message, /block_unix_sockets forbids/);
  const bad = projectSandbox(root, { policy: { network: { allow: ["http://a.org"] } } });
  const prepared = await bad.prepare(["true"]);
  assert.equal(prepared.ok ? "prepared" : prepared.problem.code, "bad-host-rule");
});
