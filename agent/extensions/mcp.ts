// Registers the tools of a document's MCP servers, and ends the servers with the `ChatSession`.

import program from "../../deno.json" with { type: "json" };
import { projectFolderOf } from "../../base/paths.ts";
import { type Problem, problemLine, success } from "../../base/problem.ts";
import type { McpServer } from "../../config/settings.generated.ts";
import type { Sandbox } from "../../sandbox/types.ts";
import type { ToolDefinition } from "../../tools/definition.ts";
import type { Server, ServerPlace } from "../../tools/mcp/server.ts";
import type { ToolRegistry } from "../../tools/registry.ts";
import { helperPlace } from "./helper_place.ts";
import type { SourcesSubject } from "./sources_subject.ts";

/** The MCP servers of an open document. */
export interface ToolServers {
  /** Takes over new tool lists that servers announced; called between requests. */
  update(): Promise<void>;
  /** Requests the tools of every server again, even if its list is cached; returns the problems. */
  refresh(): Promise<readonly Problem[]>;
  /** Ends idle servers. A caller does this before it uses files that no other process may change meanwhile. */
  release(): Promise<void>;
  close(): Promise<void>;
}

export const NO_SERVERS: ToolServers = {
  update: () => Promise.resolve(),
  refresh: () => Promise.resolve([]),
  release: () => Promise.resolve(),
  close: () => Promise.resolve(),
};

/**
 * Registers the cached tools of servers. Registers a server without a cached list as a tool source. Starts no server.
 *
 * @param tell receives problems
 */
export async function openServers(
  tools: ToolRegistry,
  subject: SourcesSubject & { readonly sandbox: Sandbox },
  tell: (problem: Problem) => void,
): Promise<ToolServers> {
  const { mcp: { servers: settings }, tools: { untrusted_servers: untrusted } } = subject.settings;
  for (const name of untrusted) {
    if (!Object.hasOwn(settings, name)) {
      tools.leaveOut(serverSource(name), "the file that defines it is not trusted");
    }
  }
  const named = Object.entries(settings);
  if (named.length === 0) return NO_SERVERS;
  const { Server, FIRST_START } = await import("../../tools/mcp/server.ts");
  const place = await serverPlace(subject, tell);
  const own = new Own(tools, tell);
  const servers: Server[] = [];
  for (const [name, settings] of named) {
    const reason = unusable(name, settings);
    if (reason !== null) {
      tools.leaveOut(serverSource(name), reason.why);
      if (reason.problem !== undefined) tell(reason.problem);
      continue;
    }
    const server = new Server(name, settings, place);
    servers.push(server);
    const known = await server.known();
    if (known !== null) own.take(server, known);
    // The server has its own timeout, so the timeout here only has to be longer.
    else {own.expect(
        server,
        Math.max(FIRST_START, settings.start_timeout ?? 0) + (settings.timeout ?? 0) + 10,
      );}
  }
  return toolServers(servers, own, tell);
}

/** Returns what servers need of this program. */
export async function serverPlace(
  subject: SourcesSubject & { readonly sandbox: Sandbox },
  tell: (problem: Problem) => void,
): Promise<ServerPlace> {
  const { SignIns, signInOwner } = await import("./sign_ins.ts");
  const { environment, document, fetch, settings } = subject;
  return {
    ...subject,
    folder: projectFolderOf(environment, document),
    version: program.version,
    network: async (url: string) => {
      if (fetch !== undefined) return success({ fetch, close() {} });
      const { openNetwork } = await import("../../providers/http/network.ts");
      return await openNetwork(url, environment);
    },
    signIns: (name: string, url: string) =>
      new SignIns(
        signInOwner(settings.tools, name, url),
        environment,
        helperPlace(settings, environment, document),
      ),
    tell,
  };
}

function toolServers(
  servers: readonly Server[],
  own: Own,
  tell: (problem: Problem) => void,
): ToolServers {
  const forEach = async (work: (server: Server) => Promise<void>) =>
    void await Promise.all(servers.map(work));
  return {
    update: () =>
      forEach(async (server) => {
        const news = await server.news();
        if (news === null) return;
        own.take(server, news);
        tell({
          code: "mcp-tools-changed",
          message: `The tools of the server ${server.name} changed. The next request offers the new ones.`,
        });
      }),
    refresh: async () => {
      const problems: Problem[] = [];
      await forEach(async (server) => {
        const asked = await server.ask({ isPatient: true });
        if (asked.ok) own.take(server, asked.value);
        else problems.push(asked.problem);
      });
      return problems;
    },
    release: () => forEach((server) => server.release()),
    close: () => forEach((server) => server.close()),
  };
}

/** Returns a server as a tool source: its name in messages, and the names that its tools may have. */
function serverSource(name: string) {
  return { name: `the server ${name}`, mayHave: (tool: string) => tool.startsWith(`${name}:`) };
}

/** Returns why a server is not used, as the end of a sentence, with a problem to report; null if it is used. */
function unusable(
  name: string,
  { enabled, command, url }: McpServer,
): { readonly why: string; readonly problem?: Problem } | null {
  if (enabled === false) return { why: `mcp.servers.${name}.enabled is false` };
  if (Boolean(command) !== Boolean(url)) return null;
  return {
    why: "it needs either a command or a url",
    problem: {
      code: "mcp-misnamed",
      message: `The server ${name} needs either a command or a url, so it is not used.`,
      next: `Set either mcp.servers.${name}.command or mcp.servers.${name}.url.`,
    },
  };
}

/** The registered tools of each server. */
class Own {
  readonly #names = new Map<Server, readonly string[]>();
  readonly #tools: ToolRegistry;
  readonly #tell: (problem: Problem) => void;

  constructor(tools: ToolRegistry, tell: (problem: Problem) => void) {
    this.#tools = tools;
    this.#tell = tell;
  }

  /** Requests the tools of a server when they are first needed; the registry waits `timeout` seconds. */
  expect(server: Server, timeout: number): void {
    this.#tools.registerFrom("server", {
      ...serverSource(server.name),
      timeout,
      resolve: async (_register, done) => {
        const asked = await server.ask();
        if (asked.ok) this.take(server, asked.value);
        done(
          asked.ok ? undefined : problemLine(asked.problem).replace(`The MCP server ${server.name} `, "it "),
        );
      },
    });
  }

  /** Replaces the registered tools of a server. */
  take(server: Server, definitions: readonly ToolDefinition[]): void {
    for (const name of this.#names.get(server) ?? []) this.#tools.unregister(name);
    this.#names.set(server, definitions.map(({ name }) => name));
    for (const definition of definitions) {
      const registered = this.#tools.registerFrom("server", definition);
      for (const problem of registered.ok ? registered.value : [registered.problem]) this.#tell(problem);
    }
  }
}
