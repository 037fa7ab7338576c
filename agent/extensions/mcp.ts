// The servers of tools of a document: their tools made known to the model, and the servers ended with the session.

import program from "../../deno.json" with { type: "json" };
import type { Environment } from "../../base/environment.ts";
import { parentOf } from "../../base/paths.ts";
import type { Problem } from "../../base/problem.ts";
import type { Settings } from "../../config/settings.ts";
import type { RunSandbox } from "../../sandbox/mod.ts";
import type { ToolDefinition } from "../../tools/definition.ts";
import type { Server } from "../../tools/mcp/server.ts";
import type { ToolRegistry } from "../../tools/registry.ts";

/** Whose servers are meant. */
export interface ServersSubject {
  readonly environment: Environment;
  readonly settings: Settings;
  readonly sandbox: RunSandbox;
  /** Absolute path of the document, or null when unsaved. */
  readonly document: string | null;
  readonly fetch?: typeof fetch;
  tell(problem: Problem): void;
}

/** The servers while a session lives. */
export interface ToolServers {
  /** Asks servers that nobody asked yet for their tools; once. What does not answer is told and left out. */
  ready(): Promise<void>;
  /** Ends what has nothing to do, before somebody needs files that no command may change meanwhile. */
  release(): Promise<void>;
  close(): Promise<void>;
}

const NONE: ToolServers = {
  ready: () => Promise.resolve(),
  release: () => Promise.resolve(),
  close: () => Promise.resolve(),
};

/** Registers the tools that servers are known to have. Nothing is started yet. */
export async function openServers(tools: ToolRegistry, subject: ServersSubject): Promise<ToolServers> {
  const named = Object.entries(subject.settings.mcp.servers).filter(([, server]) => server.enabled !== false);
  if (named.length === 0) return NONE;
  const { Server } = await import("../../tools/mcp/server.ts");
  const { environment, document } = subject;
  const place = {
    ...subject,
    folder: document === null ? environment.cwd : parentOf(document),
    version: program.version,
  };
  const servers: Server[] = [];
  const unknown: Server[] = [];
  for (const [name, settings] of named) {
    if (Boolean(settings.command) === Boolean(settings.url)) {
      subject.tell({
        code: "mcp-misnamed",
        message: `The server ${name} needs either a command or a url, so it is left out.`,
        next: `Set one of mcp.servers.${name}.command and mcp.servers.${name}.url.`,
      });
      continue;
    }
    const server = new Server(name, settings, place);
    servers.push(server);
    const known = await server.known();
    if (known === null) unknown.push(server);
    else register(tools, known, subject);
  }
  let asked: Promise<void> | null = null;
  return {
    ready: () => asked ??= askAll(tools, unknown, subject),
    release: async () => void await Promise.all(servers.map((server) => server.release())),
    close: async () => void await Promise.all(servers.map((server) => server.close())),
  };
}

async function askAll(
  tools: ToolRegistry,
  servers: readonly Server[],
  subject: ServersSubject,
): Promise<void> {
  await Promise.all(servers.map(async (server) => {
    const asked = await server.ask();
    if (asked.ok) register(tools, asked.value, subject);
    else {
      subject.tell({
        code: asked.problem.code,
        message: `${asked.problem.message} Its tools are left out of this run.`,
        next: `${
          asked.problem.next ?? ""
        } To start it outside of the sandbox: mcp.servers.${server.name}.sandbox: false`
          .trim(),
      });
    }
  }));
}

function register(
  tools: ToolRegistry,
  definitions: readonly ToolDefinition[],
  { tell }: ServersSubject,
): void {
  const registered = tools.register(definitions);
  if (!registered.ok) tell(registered.problem);
}
