import assert from "node:assert/strict";
import { proxyFor, withoutProxy } from "../../providers/http/proxy.ts";

const P = "http://proxy.example:3128";

function found(url: string, variables: Record<string, string>): string | null {
  const proxy = proxyFor(url, variables);
  assert.ok(proxy.ok, "a proxy or none");
  return proxy.value === null ? null : `${proxy.value.variable} ${proxy.value.url}`;
}

Deno.test("the proxy variable of the URL scheme takes precedence over the general one, and lower case over upper case", () => {
  const rows = [
    ["https://h/", { HTTPS_PROXY: P }, `HTTPS_PROXY ${P}`],
    ["https://h/", { HTTP_PROXY: P }, null],
    ["http://h/", { HTTP_PROXY: P }, `HTTP_PROXY ${P}`],
    ["http://h/", { HTTPS_PROXY: P }, null],
    ["http://h/", { ALL_PROXY: P }, `ALL_PROXY ${P}`],
    ["https://h/", { all_proxy: P }, `all_proxy ${P}`],
    ["https://h/", { HTTPS_PROXY: "http://b:1", https_proxy: P }, `https_proxy ${P}`],
    ["https://h/", { HTTPS_PROXY: P, ALL_PROXY: "http://b:1" }, `HTTPS_PROXY ${P}`],
    ["https://h/", { HTTPS_PROXY: "  " }, null],
    ["https://h/", { HTTPS_PROXY: "proxy.example:8080" }, "HTTPS_PROXY http://proxy.example:8080"],
    ["https://h/", { HTTPS_PROXY: "http://proxy.example" }, "HTTPS_PROXY http://proxy.example:80"],
    ["https://h/", { HTTPS_PROXY: "socks5://proxy.example" }, "HTTPS_PROXY socks5://proxy.example:1080"],
    ["https://h/", {}, null],
  ] as const;
  for (const [url, variables, expected] of rows) {
    assert.equal(found(url, variables), expected, JSON.stringify(variables));
  }
});

Deno.test("a proxy login is decoded and appears in no message", () => {
  const proxy = proxyFor("https://h/", { HTTPS_PROXY: "http://me:p%40ss@proxy.example:3128" });
  assert.ok(proxy.ok && proxy.value !== null);
  assert.deepEqual(proxy.value.credentials, { username: "me", password: "p@ss" });
  assert.doesNotMatch(proxy.value.url + proxy.value.host, /me|ss@/);
  const bare = proxyFor("https://h/", { HTTPS_PROXY: "http://me:50%@proxy.example:3128" });
  assert.ok(bare.ok && bare.value?.credentials?.password === "50%");
  const wrong = proxyFor("https://h/", { HTTPS_PROXY: "ftp://me:secret@proxy.example" });
  assert.ok(!wrong.ok);
  assert.equal(wrong.problem.code, "proxy-invalid");
  assert.match(wrong.problem.message, /HTTPS_PROXY/);
  assert.doesNotMatch(JSON.stringify(wrong.problem), /secret/);
});

Deno.test("no_proxy supports names, suffixes, addresses, ranges, ports and the star", () => {
  const rows = [
    ["*", "https://api.example.com/", true],
    ["*", "http://127.0.0.1:11434/", true],
    ["localhost, 127.0.0.1", "http://127.0.0.1:1/", true],
    ["localhost 127.0.0.1", "http://localhost:1/", true],
    ["example.com", "https://example.com/", true],
    ["example.com", "https://api.example.com/", true],
    [".example.com", "https://api.example.com/", true],
    [".example.com", "https://example.com/", true],
    ["*.example.com", "https://api.example.com/", true],
    ["EXAMPLE.com", "https://API.example.COM/", true],
    ["example.com", "https://badexample.com/", false],
    ["example.com:443", "https://example.com/", true],
    ["example.com:8443", "https://example.com/", false],
    ["127.0.0.1:11434", "http://127.0.0.1:11434/", true],
    ["127.0.0.1:11434", "http://127.0.0.1:8080/", false],
    ["10.0.0.0/8", "http://10.20.30.40/", true],
    ["10.0.0.0/8", "http://11.20.30.40/", false],
    ["0.0.0.0/0", "http://11.20.30.40/", true],
    ["10.0.0.0/33", "http://10.0.0.0/", false],
    ["10.0.0.0/8", "http://ten.example/", false],
    ["0.0.1", "http://127.0.0.1/", false],
    ["[::1]", "http://[::1]:8080/", true],
    ["::1", "http://[::1]:8080/", true],
    ["[::1]:9", "http://[::1]:8080/", false],
    ["", "http://h/", false],
    [" , ,", "http://h/", false],
    [".", "http://h/", false],
  ] as const;
  for (const [list, url, expected] of rows) {
    assert.equal(withoutProxy(new URL(url), list), expected, `${list} ${url}`);
  }
  assert.equal(found("https://h/", { HTTPS_PROXY: P, NO_PROXY: "*" }), null);
  assert.equal(found("https://h/", { HTTPS_PROXY: P, no_proxy: "x", NO_PROXY: "*" }), `HTTPS_PROXY ${P}`);
});
