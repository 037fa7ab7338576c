// An MCP server that does what servers must not: prints between messages, never answers, dies, floods, lies.

const [, , mode = "plain"] = ["", "", ...Deno.args];
const decoder = new TextDecoder();
const write = (value: unknown) =>
  Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify(value)}\n`));

const TOOLS = [
  { name: "echo", inputSchema: { type: "object", properties: { text: { type: "string" } } } },
  { name: "never", inputSchema: { type: "object" } },
  { name: "die", inputSchema: { type: "object" } },
  { name: "flood", inputSchema: { type: "object" } },
  { name: "task", inputSchema: { type: "object" }, execution: { taskSupport: "required" } },
  { name: "bad`name", inputSchema: { type: "object" } },
];

async function flood() {
  const part = new Uint8Array(1 << 20).fill(120);
  for (let at = 0; at < 17; at++) await Deno.stdout.write(part);
}

async function answer(
  { id, method, params = {} }: { id?: number; method?: string; params?: Record<string, unknown> },
) {
  if (method === "server/discover" && mode !== "silent") {
    write({ jsonrpc: "2.0", id, error: { code: -32601, message: "no such method" } });
  } else if (method === "initialize") {
    if (mode === "silent") return;
    Deno.stdout.writeSync(new TextEncoder().encode("Server is up! { this is no JSON\n"));
    const result = {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "x", version: "1" },
    };
    write({ jsonrpc: "2.0", id, result });
  } else if (method === "tools/list" && mode === "floods") {
    await flood();
  } else if (method === "tools/list") write({ jsonrpc: "2.0", id, result: { tools: TOOLS } });
  else if (method === "tools/call") {
    const { name, arguments: given } = params as { name: string; arguments: { text?: string } };
    if (name === "echo") {
      write({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: `echo ${given.text}` }] } });
    } else if (name === "die") {
      Deno.stderr.writeSync(new TextEncoder().encode("I am gone.\n"));
      Deno.exit(7);
    } else if (name === "flood") {
      await flood();
    }
  }
}

let open = "";
for await (const chunk of Deno.stdin.readable) {
  const lines = (open + decoder.decode(chunk, { stream: true })).split("\n");
  open = lines.pop()!;
  for (const line of lines) if (line.trim() !== "") await answer(JSON.parse(line));
}
