// A program of the legacy protocol that does not answer a request which it does not know before the handshake.
//
//     old_server.ts exits | silent

const write = (value: object) =>
  Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify({ jsonrpc: "2.0", ...value })}\n`));
let open = "";
for await (const chunk of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  const lines = (open + chunk).split("\n");
  open = lines.pop()!;
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line);
    if (method === "initialize") {
      const { protocolVersion } = params;
      write({
        id,
        result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } },
      });
    } else if (method === "tools/list") {
      write({ id, result: { tools: [{ name: "echo", inputSchema: { type: "object" } }] } });
    } else if (method === "tools/call") {
      write({ id, result: { content: [{ type: "text", text: "echo of old" }] } });
    } else if (id !== undefined && Deno.args[0] === "exits") Deno.exit(1);
  }
}
