// Servers for editors with random invalid messages: each request is answered once, nothing breaks, and they end in
// order.

import assert from "node:assert/strict";
import { serveAgent } from "../../editors/acp/agent.ts";
import { serveEditor } from "../../editors/lsp/server.ts";
import { encodeLine, framesOnLines, framesWithHeader, withHeader } from "../../editors/rpc/framing.ts";
import { fileUri } from "../../base/paths.ts";
import { callsDocument } from "../cli/harness.ts";
import { freshFolder, removeFolder } from "../folder.ts";
import { Random } from "../parser/hostile.ts";
import { bent, noise, pieces } from "./wild_messages.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

const COUNT = Number(Deno.env.get("FLEMMA_FUZZ") ?? 250);
const SEED = Number(Deno.env.get("FLEMMA_FUZZ_SEED") ?? 1);

/** A stream that is written to as it is read. */
class Pipe implements AsyncIterable<Uint8Array> {
  #chunks: Uint8Array[] = [];
  #more = Promise.withResolvers<void>();
  #ended = false;

  write(bytes: Uint8Array): void {
    this.#chunks.push(bytes);
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  #wake(): void {
    this.#more.resolve();
    this.#more = Promise.withResolvers();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    while (true) {
      while (this.#chunks.length > 0) yield this.#chunks.shift()!;
      if (this.#ended) return;
      await this.#more.promise;
    }
  }
}

interface Protocol {
  readonly frame: (text: string) => Uint8Array;
  readonly frames: typeof framesOnLines;
  readonly serve: (
    options: {
      input: AsyncIterable<Uint8Array>;
      write: (bytes: Uint8Array) => Promise<void>;
      folder: string;
    },
  ) => Promise<unknown>;
  /** What a good client sends, after it has said who it is. */
  readonly messages: (
    folder: string,
  ) => readonly { method: string; params: Json; isNotification?: boolean }[];
  readonly hello: Json;
}

async function wild({ frame, frames, serve, messages, hello }: Protocol, seed: number): Promise<void> {
  const random = new Random(seed);
  const folder = await Deno.realPath(await freshFolder("flemma-wild-"));
  const [input, output] = [new Pipe(), new Pipe()];
  const answers = new Map<number, Json>();
  const asked = new Set<number>();
  const reported: Json[] = [];
  const settled = new Map<number, () => void>();
  try {
    const serving = serve({
      input,
      write: (bytes) => Promise.resolve(output.write(bytes.slice())),
      folder,
    }).finally(() => output.end());
    const reading = (async () => {
      for await (const each of frames(output)) {
        assert.equal(each.kind, "message");
        const message: Json = each.kind === "message" ? JSON.parse(each.text) : null;
        if (message.method !== undefined) {
          reported.push(message);
          // The client of this test refuses whatever it is asked.
          if (message.id !== undefined) {
            input.write(frame(JSON.stringify({
              jsonrpc: "2.0",
              id: message.id,
              error: { code: -32601, message: "no" },
            })));
          }
        } else if (message.id !== null) {
          assert.ok(!answers.has(message.id), `${message.id} is answered twice`);
          answers.set(message.id, message);
          settled.get(message.id)?.();
        }
      }
    })();
    let id = 0;
    const send = (bytes: Uint8Array) => {
      for (const piece of pieces(random, bytes)) input.write(piece);
    };
    const ask = (method: string, params: Json) => {
      id++;
      asked.add(id);
      const answered = new Promise<void>((resolve) => settled.set(id, resolve));
      send(frame(JSON.stringify({ jsonrpc: "2.0", id, method, params })));
      return answered;
    };
    await ask("initialize", hello);
    const known = messages(folder);
    for (let count = 0; count < COUNT; count++) {
      const { method, params, isNotification } = random.pick(known);
      const given = random.chance(3) ? params : bent(random, params);
      if (random.chance(8)) send(noise(random, frame));
      if (isNotification) send(frame(JSON.stringify({ jsonrpc: "2.0", method, params: given })));
      else {
        const answered = ask(random.chance(20) ? "toString" : method, given);
        // Some are waited for, others come upon each other.
        if (random.chance(2)) await answered;
      }
    }
    for (const each of asked) {
      if (!answers.has(each)) await new Promise<void>((resolve) => settled.set(each, resolve));
    }
    // The last one is cut off in the middle.
    input.write(frame(JSON.stringify({ jsonrpc: "2.0", id: 1e6, method: "x", params: {} })).slice(0, -5));
    input.end();
    await serving;
    await reading;
    for (const answer of answers.values()) {
      assert.doesNotMatch(answer.error?.message ?? "", /Internal error/, JSON.stringify(answer));
    }
    for (const { params } of reported) {
      assert.doesNotMatch(JSON.stringify(params ?? null), /Internal error/);
    }
    assert.equal(answers.size, asked.size);
  } finally {
    await removeFolder(folder);
  }
}

const environment = (folder: string) => ({
  cwd: folder,
  home: folder,
  variables: {
    PATH: Deno.env.get("PATH") ?? "",
    HOME: folder,
    XDG_STATE_HOME: `${folder}/state`,
    XDG_CONFIG_HOME: `${folder}/config`,
    XDG_RUNTIME_DIR: `${folder}/run`,
  },
});

const LSP: Protocol = {
  frame: withHeader,
  frames: framesWithHeader,
  hello: { capabilities: { workspace: { applyEdit: true } } },
  serve: ({ input, write, folder }) =>
    serveEditor({ input, write, environment: environment(folder), version: "0" }),
  messages: (folder) => {
    const uri = fileUri(`${folder}/a b.chat`);
    const textDocument = { uri, version: 1 };
    const position = { line: 8, character: 3 };
    const range = { start: { line: 0, character: 0 }, end: position };
    const text = callsDocument([{ id: "call_1", command: "true", status: "pending" }]);
    const about = (method: string) => ({
      method: `textDocument/${method}`,
      params: { textDocument, position, range, positions: [position], context: { diagnostics: [] } },
    });
    const command = (name: string) => ({
      method: "workspace/executeCommand",
      params: { command: `flemma.${name}`, arguments: [{ uri, id: "call_1", line: 3, message: "no" }] },
    });
    return [
      {
        method: "textDocument/didOpen",
        params: { textDocument: { ...textDocument, text } },
        isNotification: true,
      },
      {
        method: "textDocument/didOpen",
        params: { textDocument: { ...textDocument, text } },
        isNotification: true,
      },
      {
        method: "textDocument/didChange",
        params: { textDocument, contentChanges: [{ range, text: "@You:\n🙂" }, { text }] },
        isNotification: true,
      },
      { method: "textDocument/didClose", params: { textDocument }, isNotification: true },
      { method: "textDocument/didSave", params: { textDocument }, isNotification: true },
      { method: "workspace/didChangeWatchedFiles", params: { changes: [] }, isNotification: true },
      { method: "$/cancelRequest", params: { id: 3 }, isNotification: true },
      { method: "window/workDoneProgress/cancel", params: { token: 1 }, isNotification: true },
      ...[
        "diagnostic",
        "codeAction",
        "foldingRange",
        "documentSymbol",
        "selectionRange",
        "documentHighlight",
        "definition",
        "references",
        "documentLink",
        "hover",
        "inlayHint",
        "codeLens",
        "completion",
        "onTypeFormatting",
        "semanticTokens/full",
        "semanticTokens/full/delta",
        "semanticTokens/range",
      ].map(about),
      { method: "workspace/symbol", params: { query: "a" } },
      ...[
        "cancel",
        "reject",
        "takeAsResult",
        "explain",
        "showRequest",
        "showDiff",
        "status",
        "showLine",
        "fly",
      ]
        .map(command),
      { method: "initialize", params: { capabilities: {} } },
    ];
  },
};

const ACP: Protocol = {
  frame: encodeLine,
  frames: framesOnLines,
  hello: { protocolVersion: 1, clientCapabilities: { elicitation: { form: {} } } },
  serve: ({ input, write, folder }) =>
    serveAgent({
      input,
      write,
      environment: environment(folder),
      version: "0",
      log: (line) => assert.doesNotMatch(line, /Internal error/),
    }),
  messages: (folder) => {
    const sessionId = btoa(`${folder}/a.chat`).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
    const mcpServers = [{ name: "x", command: "/bin/false", args: ["a"], env: [{ name: "A", value: "b" }] }];
    const base = { sessionId, cwd: folder, mcpServers };
    Deno.writeTextFileSync(
      `${folder}/a.chat`,
      callsDocument([{ id: "call_1", command: "true", status: "pending" }]),
    );
    const prompt = [
      { type: "text", text: "/status" },
      { type: "resource_link", uri: "file:///a%zz", name: "a" },
      { type: "resource", resource: { uri: "file:///b", text: "{{ x" } },
    ];
    return [
      { method: "session/resume", params: base },
      { method: "session/load", params: base },
      { method: "session/list", params: { cwd: folder } },
      { method: "session/set_mode", params: { sessionId, modeId: "step" } },
      { method: "session/set_config_option", params: { sessionId, configId: "thinking", value: "low" } },
      { method: "session/prompt", params: { sessionId, prompt: [{ type: "text", text: "/status" }] } },
      { method: "session/prompt", params: { sessionId, prompt: bent(new Random(folder.length), prompt) } },
      { method: "session/cancel", params: { sessionId }, isNotification: true },
      { method: "session/close", params: { sessionId } },
      { method: "authenticate", params: { methodId: "x" } },
      { method: "session/delete", params: { sessionId: "x" } },
      { method: "$/cancel_request", params: { requestId: 4 }, isNotification: true },
      { method: "fs/read_text_file", params: {} },
    ];
  },
};

for (const [name, protocol] of Object.entries({ "the language server": LSP, "the agent": ACP })) {
  Deno.test(`${name} answers each of many random invalid messages once and keeps working`, () =>
    wild(protocol, SEED));
}

Deno.test("if headers are wrong, endless or missing, only their own messages are lost, and memory stays bounded", async () => {
  const input = new Pipe();
  const output = new Pipe();
  const serving = serveEditor({
    input,
    write: (bytes) => Promise.resolve(output.write(bytes.slice())),
    environment: environment("/nonexistent"),
    version: "0",
  }).finally(() => output.end());
  const encode = (text: string) => new TextEncoder().encode(text);
  const ask = (id: number) =>
    withHeader(JSON.stringify({ jsonrpc: "2.0", id, method: "initialize", params: {} }));
  // A header without an end, of any length.
  for (let count = 0; count < 100; count++) input.write(encode("X-Header: ".padEnd(4000, "y")));
  input.write(encode("\r\n\r\n"));
  // A length that is none, two of them, a negative one, a huge one, one in another base.
  for (const length of ["x", "-5", "0x10", "1e3", "99999999999999999999", ""]) {
    input.write(encode(`Content-Length: ${length}\r\n\r\n`));
  }
  // Shorter than the message: what is left of it is passed over up to the next header.
  input.write(encode(`Content-Length: 5\r\n\r\n{"a":1}\r\n\r\n`));
  input.write(encode("Content-Length: 0\r\n\r\n"));
  input.write(ask(1));
  const codes: number[] = [];
  for await (const frame of framesWithHeader(output)) {
    const message: Json = frame.kind === "message" ? JSON.parse(frame.text) : null;
    if (message.id === 1) break;
    codes.push(message.error.code);
  }
  assert.ok(codes.length >= 8 && codes.every((code) => code === -32700 || code === -32600), String(codes));
  input.end();
  assert.equal(await serving, 1);
});
