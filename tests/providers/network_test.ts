import assert from "node:assert/strict";
import { openNetwork } from "../../providers/http/network.ts";
import { transportError } from "../../providers/http/transport_error.ts";
import { inFolder, testInFolder as test } from "../folder.ts";
import { makeAuthority } from "./authority.ts";
import { type ProxyOptions, startProxy } from "./proxy_server.ts";

const API = "api.example.test";

/** What an answer said, or the error in place of one. */
const ASK_ONCE = new URL("ask_once.ts", import.meta.url).pathname;

async function ask(url: string, variables: Record<string, string>): Promise<{
  readonly text?: string;
  readonly message?: string;
  readonly next?: string;
  readonly again?: boolean;
}> {
  const network = await openNetwork(url, { cwd: "/", home: "/", variables });
  if (!network.ok) return network.problem;
  const { proxy, close } = network.value;
  try {
    const response = await network.value.fetch(url, { signal: AbortSignal.timeout(20_000) });
    return { text: await response.text() };
  } catch (thrown) {
    const { message, next, retry } = transportError(thrown, { request: { url }, proxy });
    return { message, next, again: retry !== undefined };
  } finally {
    close();
  }
}

/** A server for the names, over TLS when it has a certificate; its port is told. */
function serve(tls: { cert: string; key: string } | null): { readonly port: number; close(): Promise<void> } {
  const handler = () => new Response("the API");
  const options = { port: 0, hostname: "127.0.0.1", onListen() {} };
  const server = tls === null ? Deno.serve(options, handler) : Deno.serve({ ...options, ...tls }, handler);
  return { port: server.addr.port, close: () => server.shutdown() };
}

async function withProxy(
  options: ProxyOptions,
  body: (url: string, requests: readonly string[]) => Promise<void>,
) {
  const proxy = startProxy(options);
  try {
    await body(proxy.url, proxy.requests);
  } finally {
    await proxy.close();
  }
}

test("a request goes through the proxy, as a tunnel for HTTPS, with the login from the environment variable", async (folder) => {
  const authority = await makeAuthority(folder);
  const secured = serve(await authority.sign(`DNS:${API}`));
  const plain = serve(null);
  const hosts = { [`${API}:443`]: `127.0.0.1:${secured.port}`, [API]: `127.0.0.1:${plain.port}` };
  try {
    await withProxy({ hosts, login: "me:p@ss" }, async (url, requests) => {
      const proxy = url.replace("//", "//me:p%40ss@");
      const variables = { HTTPS_PROXY: proxy, HTTP_PROXY: proxy, SSL_CERT_FILE: authority.file };
      assert.deepEqual(await ask(`https://${API}/`, variables), { text: "the API" });
      assert.deepEqual(await ask(`http://${API}/`, variables), { text: "the API" });
      assert.deepEqual(requests, [
        `CONNECT ${API}:443 HTTP/1.1 as me:p@ss`,
        `GET http://${API}/ HTTP/1.1 as me:p@ss`,
      ]);
      const refused = await ask(`https://${API}/`, { ...variables, HTTPS_PROXY: url });
      assert.match(
        refused.message ?? "",
        /^The proxy 127\.0\.0\.1:\d+ \(from HTTPS_PROXY\) requires a user name/,
      );
      assert.match(refused.next ?? "", /HTTPS_PROXY: http:\/\/NAME:PASSWORD@127/);
    });
  } finally {
    await Promise.all([secured.close(), plain.close()]);
  }
});

Deno.test("a star in no_proxy, or a host or address with its port, bypasses the proxy", async () => {
  const server = serve(null);
  try {
    await withProxy({}, async (url, requests) => {
      const target = `http://127.0.0.1:${server.port}/`;
      const answers = async (variables: Record<string, string>) => {
        // The runtime reads the variables of the process by itself, in its own way, and other tests share this process.
        const { stdout } = await new Deno.Command(Deno.execPath(), {
          args: ["run", "-A", "--quiet", ASK_ONCE, target, JSON.stringify(variables)],
          env: { HTTP_PROXY: url, NO_PROXY: "", no_proxy: "" },
        }).output();
        return new TextDecoder().decode(stdout);
      };
      for (const NO_PROXY of ["*", `127.0.0.1:${server.port}`]) {
        assert.equal(await answers({ HTTP_PROXY: url, NO_PROXY }), "the API");
      }
      assert.deepEqual(requests, []);
      await answers({ HTTP_PROXY: url });
      assert.equal(requests.length, 1);
    });
  } finally {
    await server.close();
  }
});

Deno.test("an error of the proxy is reported as the proxy's, with the variable that names the proxy", async () => {
  const url = `https://${API}/`;
  await withProxy({ instead: "refuse" }, async (proxy) => {
    const { message, next, again } = await ask(url, { HTTPS_PROXY: proxy });
    assert.match(
      message ?? "",
      /^The proxy .* \(from HTTPS_PROXY\) refused to connect to api\.example\.test\.$/,
    );
    assert.match(next ?? "", /NO_PROXY/);
    assert.equal(again, false);
  });
  await withProxy({ instead: "hang-up" }, async (proxy) => {
    const { message, again } = await ask(url, { ALL_PROXY: proxy });
    assert.match(message ?? "", /^The proxy .* \(from ALL_PROXY\) closed the connection/);
    assert.equal(again, true);
  });
  const gone = await ask(url, { https_proxy: "http://127.0.0.1:1" });
  assert.match(gone.message ?? "", /^The proxy 127\.0\.0\.1:1 \(from https_proxy\) could not be reached/);
  assert.match(gone.next ?? "", /Correct https_proxy, or add api\.example\.test to NO_PROXY/);
  const nameless = await ask(url, { HTTPS_PROXY: "http://proxy.invalid:3128" });
  assert.match(
    nameless.message ?? "",
    /^The host name of the proxy proxy\.invalid:3128 \(from HTTPS_PROXY\)/,
  );
});

test("each certificate variable can add a private authority, and the message about an untrusted certificate names these variables", async (folder) => {
  const authority = await makeAuthority(folder);
  const server = serve(await authority.sign("DNS:localhost"));
  const url = `https://localhost:${server.port}/`;
  const certificates = `${folder}/certs`;
  await Deno.mkdir(certificates);
  await Deno.copyFile(authority.file, `${certificates}/own.crt`);
  await Deno.symlink("/nowhere", `${certificates}/dead.pem`);
  await Deno.writeTextFile(`${certificates}/README`, "no certificate");
  try {
    const named = [
      ["SSL_CERT_FILE", authority.file],
      ["DENO_CERT", authority.file],
      ["SSL_CERT_DIR", certificates],
      ["SSL_CERT_DIR", `${folder}:${certificates}`],
    ] as const;
    for (const [variable, path] of named) {
      assert.deepEqual(await ask(url, { [variable]: path }), { text: "the API" }, variable);
    }
    const { message, next, again } = await ask(url, {});
    assert.match(
      message ?? "",
      /^The certificate of localhost:\d+ is not from an authority that this machine trusts/,
    );
    for (const variable of ["SSL_CERT_FILE", "SSL_CERT_DIR", "DENO_CERT"]) {
      assert.match(next ?? "", new RegExp(variable));
    }
    assert.equal(again, false);
  } finally {
    await server.close();
  }
});

test("the variable of Node that turns certificate checks off has no effect", async (folder) => {
  const authority = await makeAuthority(folder);
  const server = serve(await authority.sign("DNS:localhost"));
  const request = `const { openNetwork } = await import(Deno.args[0]);
    const opened = await openNetwork(Deno.args[1], { cwd: "/", home: "/", variables: Deno.env.toObject() });
    console.log(await opened.value.fetch(Deno.args[1]).then(() => "sent", (thrown) => Deno.inspect(thrown)));`;
  const module = new URL("../../providers/http/network.ts", import.meta.url).href;
  try {
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["eval", "--no-check", request, module, `https://localhost:${server.port}/`],
      env: { NODE_TLS_REJECT_UNAUTHORIZED: "0" },
    }).output();
    assert.match(new TextDecoder().decode(stdout), /certificate/);
  } finally {
    await server.close();
  }
});

Deno.test("a certificate for another name, an expired one and a server without TLS are reported differently", async () => {
  await inFolder(async (folder) => {
    const authority = await makeAuthority(folder);
    const other = serve(await authority.sign("DNS:other.example"));
    const plain = serve(null);
    const variables = { SSL_CERT_FILE: authority.file };
    try {
      const named = await ask(`https://localhost:${other.port}/`, variables);
      assert.match(named.message ?? "", /is for another host name/);
      const unsecured = await ask(`https://localhost:${plain.port}/`, variables);
      assert.match(unsecured.message ?? "", /does not speak https/);
      assert.match(unsecured.next ?? "", /http:\/\//);
      const secured = await ask(`http://localhost:${other.port}/`, variables);
      assert.match(secured.message ?? "", /did not answer in HTTP/);
      assert.match(secured.next ?? "", /https:\/\//);
    } finally {
      await Promise.all([other.close(), plain.close()]);
    }
  });
  const expired = new TypeError("x", {
    cause: new Error(
      "client error (Connect): invalid peer certificate: certificate expired: verification time 1",
    ),
  });
  assert.match(
    transportError(expired, { request: { url: "https://h/" } }).next ?? "",
    /date of this machine/,
  );
});

test("a variable that names no valid certificate is reported before any request", async (folder) => {
  const empty = `${folder}/empty.pem`;
  const broken = `${folder}/broken.pem`;
  await Deno.writeTextFile(empty, "nothing");
  await Deno.writeTextFile(broken, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
  const rows = [
    [
      "SSL_CERT_FILE",
      `${folder}/none.pem`,
      /^The variable SSL_CERT_FILE names .*none\.pem, which cannot be used/,
    ],
    ["DENO_CERT", empty, /^The variable DENO_CERT names .*contains no PEM certificate/],
    ["SSL_CERT_DIR", `${folder}/none`, /^The variable SSL_CERT_DIR names/],
    ["SSL_CERT_FILE", broken, /cannot be used/],
  ] as const;
  for (const [variable, path, message] of rows) {
    const problem = await ask("https://localhost:1/", { [variable]: path });
    assert.match(problem.message ?? "", message);
    assert.doesNotMatch(problem.message ?? "", /os error|readfile/);
  }
  // A plain address needs no certificate.
  const plain = await ask("http://127.0.0.1:1/", { SSL_CERT_FILE: empty });
  assert.match(plain.message ?? "", /could not be reached/);
});
