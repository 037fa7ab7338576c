// A server of the legacy protocol, over pipes, that asks the person while its tool runs. It notes each message that it gets.
//
//     asking_legacy.ts NOTES

const [notes = ""] = Deno.args;
const write = (value: object) =>
  void Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify({ jsonrpc: "2.0", ...value })}\n`));
const text = (stated: string) => ({ content: [{ type: "text", text: stated }] });

interface Message {
  readonly id?: number;
  readonly method?: string;
  // deno-lint-ignore no-explicit-any -- whatever a client sends
  readonly params?: any;
  // deno-lint-ignore no-explicit-any -- whatever a client answers
  readonly result?: any;
}

let asked = 0;
const waiting = new Map<number, (answer: Message) => void>();

function ask(params: object): Promise<Message> {
  const id = 1000 + ++asked;
  const answer = new Promise<Message>((resolve) => waiting.set(id, resolve));
  write({ id, method: "elicitation/create", params });
  return answer;
}

const wordOf = (message: string) => ({
  message,
  requestedSchema: { type: "object", properties: { word: { type: "string", default: message } } },
});

/** Asks twice, and answers with both answers. */
async function call(name: string): Promise<object> {
  if (name === "pages") {
    const elicitations = [{
      mode: "url",
      message: "Sign in there",
      url: "https://example.com/in",
      elicitationId: "1",
    }];
    throw { code: -32042, message: "open a page", data: { elicitations } };
  }
  const first = await ask(wordOf("First?"));
  if (name === "dies" && first.result?.action === "cancel") Deno.exit(1);
  if (name === "fails" && first.result?.action === "cancel") throw { code: -32000, message: "not answered" };
  const second = name === "twice" ? await ask(wordOf("Second?")) : null;
  return text(JSON.stringify([first, second].map((answer) => answer?.result ?? null)));
}

async function answer({ id, method, params }: Message): Promise<void> {
  if (method === "initialize") {
    const { protocolVersion } = params;
    const serverInfo = { name: "x", version: "1" };
    return write({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo } });
  }
  if (method === "tools/list") {
    const names = ["once", "twice", "dies", "fails", "pages"];
    return write({ id, result: { tools: names.map((name) => ({ name, inputSchema: { type: "object" } })) } });
  }
  if (method !== "tools/call") return write({ id, error: { code: -32601, message: "unknown" } });
  try {
    write({ id, result: await call(params.name) });
  } catch (error) {
    write({ id, error });
  }
}

let open = "";
for await (const chunk of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  const lines = (open + chunk).split("\n");
  open = lines.pop()!;
  for (const line of lines) {
    const message: Message = JSON.parse(line);
    if (notes !== "") Deno.writeTextFileSync(notes, `${line}\n`, { append: true });
    if (message.method === undefined) waiting.get(message.id!)?.(message);
    else if (message.id !== undefined) void answer(message);
  }
}
