// Reports on a server that does not start: what the sandbox blocked, and which setting allows it; with real starts
// and the messages of many programs.

import assert from "node:assert/strict";
import type { McpServer } from "../../../config/settings.generated.ts";
import { faultOf, type FaultPlace } from "../../../tools/mcp/faults.ts";
import { withPlace } from "./scene.ts";

const OUTSIDE =
  "If you trust the server with all your rights, you can set mcp.servers.one.sandbox to false instead.";
const WRITES =
  `It tries to write where the sandbox does not allow it. To allow a folder, add it to sandbox.policy.rw_paths. ${OUTSIDE}`;
const SOCKET =
  `It needs a socket that the sandbox hides. To allow it, add it to sandbox.policy.sockets. ${OUTSIDE}`;
const NETWORK =
  `The sandbox may block its network access. To allow it, change sandbox.policy.network. ${OUTSIDE}`;

function next(stated: string, more: Partial<FaultPlace> = {}): string | undefined {
  const server: McpServer = { command: "server", args: ["--fast"] };
  const place = { name: "one", server, stderr: stated, confined: true, ...more };
  return faultOf(new Error("MCP error -32000: Connection closed"), place).next;
}

Deno.test("if the sandbox blocks the start of an MCP server, flemma recognizes this by the server's message and names the setting that allows only this", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["Error: EROFS: read-only file system, mkdir '/home/x/.cache'", WRITES],
    ["mkdir: cannot create directory '/opt/x': Read-only file system", WRITES],
    ["OSError: [Errno 30] Read-only filesystem: '/x'", WRITES],
    ["Cannot connect to the Docker daemon. Is the docker daemon running?", SOCKET],
    ["dial unix /run/user/1000/podman/podman.sock: connect: no such file", SOCKET],
    ["Error: connect ENOENT /var/run/x", SOCKET],
    ["Error: connect ECONNREFUSED /tmp/x", SOCKET],
    ["Error: connect EACCES /run/x", SOCKET],
    ["Error: getaddrinfo EAI_AGAIN packages.example", NETWORK],
    ["connect ENETUNREACH 1.1.1.1:443", NETWORK],
    ["curl: (7) Network is unreachable", NETWORK],
  ];
  for (const [stated, expected] of rows) assert.equal(next(stated), expected, stated);
});

Deno.test("if the sandbox did not block the start of an MCP server, flemma advises trying its command by hand", () => {
  assert.equal(
    next("Error: EROFS: read-only file system", { confined: false }),
    "Try its command in a terminal: server --fast",
  );
  assert.equal(
    next("SyntaxError: unexpected token"),
    "Try its command in a terminal: flemma sandbox run -- server --fast",
  );
  assert.equal(
    next("x", { server: { command: "my server", args: ["--", "it's"] } }),
    "Try its command in a terminal: flemma sandbox run -- 'my server' -- 'it'\\''s'",
  );
});

Deno.test("if the sandbox itself fails, the report gives its reason and its remedy, whatever the server would have written", () => {
  const setupFailure = { code: "sandbox-setup-failed", message: "The sandbox failed.", next: "Free memory." };
  const server: McpServer = { command: "server" };
  const place = { name: "one", server, stderr: "EROFS", confined: true, setupFailure };
  assert.deepEqual(faultOf(new Error("x"), place), { why: "The sandbox failed.", next: "Free memory." });
});

Deno.test("if a server fails to start because the sandbox denies it a folder or hides a socket, the report gives this reason", () =>
  withPlace(async (place) => {
    await Deno.mkdir(`${place.root}/closed`);
    const starts: readonly (readonly [string, string])[] = [
      [`mkdir ${place.root}/closed/cache || exit 1`, WRITES],
      [`echo "connect ENOENT /var/run/docker.sock" >&2; exit 1`, SOCKET],
    ];
    for (const [script, expected] of starts) {
      const one = { command: "/bin/sh", args: ["-c", script] };
      const { notices } = await place.run({ one }, [{ name: "one:run" }]);
      const reported = notices.join("\n");
      assert.match(reported, /the server one could not list its tools: it did not start/);
      assert.ok(reported.includes(`. ${expected}`), reported);
    }
    assert.deepEqual([...Deno.readDirSync(`${place.root}/closed`)], []);
  }));
