// Which addresses a sign-in at an MCP server may use.

import assert from "node:assert/strict";
import { maySignInAt, signInFetch } from "../../../tools/mcp/sign_in/addresses.ts";

const FAR = "https://mcp.example.org/mcp";
const NEAR = "http://127.0.0.1:4000/mcp";

const ROWS: readonly (readonly [address: string, server: string, isAllowed: boolean])[] = [
  ["https://login.example.org/token", FAR, true],
  ["http://login.example.org/token", FAR, false],
  ["http://127.0.0.1:5000/token", FAR, false],
  ["https://localhost/token", FAR, false],
  ["http://[::1]:5000/token", FAR, false],
  ["http://127.0.0.1.example.org/token", FAR, false],
  ["https://user:word@login.example.org/token", FAR, false],
  ["file:///etc/passwd", FAR, false],
  ["not an address", FAR, false],
  ["http://127.0.0.1:5000/token", NEAR, true],
  ["http://localhost:5000/token", NEAR, true],
  ["http://[::1]:5000/token", NEAR, true],
  ["ftp://127.0.0.1/token", NEAR, false],
  ["http://login.example.org/token", NEAR, false],
  ["https://login.example.org/token", NEAR, true],
];

Deno.test("a sign-in uses https; this machine only if the MCP server is on it: one row per condition", () => {
  for (const [address, server, isAllowed] of ROWS) {
    assert.equal(maySignInAt(address, server), isAllowed, `${address} for ${server}`);
  }
});

Deno.test("a request of a sign-in to another address is not sent, and no redirect is followed unseen", async () => {
  const sent: (RequestInit | undefined)[] = [];
  const send = signInFetch((_input, init) => {
    sent.push(init);
    return Promise.resolve(new Response());
  }, FAR);
  await assert.rejects(send("http://169.254.169.254/latest", {}), /http:\/\/169\.254\.169\.254 is not https/);
  await assert.rejects(send("http://127.0.0.1/x", {}), /is not https/);
  assert.equal(sent.length, 0);
  await send("https://login.example.org/token", { redirect: "follow" });
  assert.equal(sent[0]?.redirect, "manual");
});
