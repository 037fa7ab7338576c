// A stream of a server over HTTP ends with its connection, even if the runtime has garbage-collected the unread body.

import assert from "node:assert/strict";

Deno.test("the program ends even if a server keeps an abandoned stream open", async () => {
  const http = new URL("../../../tools/mcp/http.ts", import.meta.url).href;
  const program = `
    const { guardedFetch } = await import(${JSON.stringify(http)});
    const server = Deno.serve({ port: 0, onListen() {} }, () =>
      new Response(new ReadableStream({ start: (it) => it.enqueue(new TextEncoder().encode("id: 1\\ndata: \\n\\n")) }), {
        headers: { "content-type": "text/event-stream" },
      }));
    const stop = new AbortController();
    const open = async () => (await guardedFetch(fetch)("http://127.0.0.1:" + server.addr.port, { signal: stop.signal })).body;
    const reader = (await open()).getReader();
    await reader.read();
    const next = reader.read();
    await new Promise((resume) => setTimeout(resume));
    gc();
    stop.abort();
    console.log((await next).done);
    Deno.exit();
  `;
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--no-config", "--v8-flags=--expose-gc", program],
    // Where it does not end by itself, the test ends it and fails.
    signal: AbortSignal.timeout(60_000),
    stderr: "inherit",
  }).output();
  assert.equal(new TextDecoder().decode(stdout), "true\n");
});
