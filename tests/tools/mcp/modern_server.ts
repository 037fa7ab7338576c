// A server of the modern protocol by the SDK, over HTTP on loopback or over pipes.
//
//     modern_server.ts    over pipes

import { createMcpHandler, inputRequired, ProtocolError, Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { listen, type Listening } from "./http_server.ts";

const text = (stated: string) => ({ content: [{ type: "text" as const, text: stated }] });
const names = ["echo", "declared", "grow", "sample", "ask", "later", "tasks", "lacks"];

function create(grown?: () => void): Server {
  const server = new Server({ name: "x", version: "1" }, { capabilities: { tools: { listChanged: true } } });
  server.setRequestHandler("tools/list", () => ({
    tools: [
      ...names.map((name) => ({ name, inputSchema: { type: "object" as const } })),
      {
        name: "region",
        inputSchema: {
          type: "object" as const,
          properties: { region: { type: "string", "x-mcp-header": "Region" } },
        },
        outputSchema: { type: "object" as const, required: ["promised"] },
      },
    ],
  }));
  server.setRequestHandler("tools/call", ({ params }, { mcpReq }) => {
    if (params.name === "declared") return text(JSON.stringify(mcpReq.envelope ?? {}));
    if (params.name === "grow") {
      names.push("grown");
      grown?.();
    }
    switch (params.name) {
      case "sample":
        return inputRequired({
          inputRequests: { one: inputRequired.createMessage({ messages: [], maxTokens: 1 }) },
        });
      case "ask":
        return inputRequired({
          inputRequests: {
            // deno-lint-ignore no-explicit-any -- a mode that the protocol does not have
            one: { method: "elicitation/create", params: { mode: "voice", message: "?" } } as any,
          },
        });
      case "later":
        return inputRequired({ requestState: "x" });
      case "tasks":
        throw new ProtocolError(-32003, "no", {
          requiredCapabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } },
        });
      case "lacks":
        throw new ProtocolError(-32021, "no", { requiredCapabilities: { sampling: {} } });
    }
    if (params.name === "refuse") throw new Error("not this");
    return text(`${params.name} ${JSON.stringify(params.arguments)}`);
  });
  return server;
}

/** Serves it over HTTP. */
export function serveModern(options: { readonly legacy?: "reject" } = {}): Listening {
  const handler = createMcpHandler(() => create(() => handler.notify.toolsChanged()), {
    ...options,
    keepAliveMs: 0,
  });
  const listening = listen((request) => handler.fetch(request));
  return {
    ...listening,
    close: async () => {
      await handler.close();
      await listening.close();
    },
  };
}

if (import.meta.main) serveStdio(() => create());
