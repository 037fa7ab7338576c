// A document whose calls go to MCP servers, in separate folders: the base of the tests of MCP servers.

import assert from "node:assert/strict";
import { chatInMemory } from "../../../agent/open.ts";
import type { ChatSession } from "../../../agent/types.ts";
import { type Environment, environmentAt } from "../../../base/environment.ts";
import type { McpServer } from "../../../config/settings.generated.ts";
import type { CycleEvent } from "../../../cycle/types.ts";
import { denoFolder, freshFolder, removeFolder } from "../../folder.ts";

/** Servers that nobody here wrote. */
export const EVERYTHING = "npm:@modelcontextprotocol/server-everything@2026.8.31";
export const FILES = "npm:@modelcontextprotocol/server-filesystem@2026.8.31";

/** A server of ours that does what servers must not. */
const MISBEHAVING = new URL("misbehaving.ts", import.meta.url).pathname;

const SCRIPTED = new URL("scripted.ts", import.meta.url).pathname;

/** The one that does what the names of its tools say; it works in the document's folder. */
export function scripted(folder = "."): McpServer {
  return denoServer(SCRIPTED, folder);
}

/** A server that Deno runs: a file or a package. */
export function denoServer(...args: string[]): McpServer {
  return {
    command: Deno.execPath(),
    args: ["run", "-A", "--quiet", ...args],
    // Fetched once for all tests.
    env: { DENO_DIR: denoFolder() },
  };
}

/** The misbehaving one, outside of the sandbox: what it does has nothing to do with walls. */
export function misbehaving(...args: string[]): McpServer {
  return { ...denoServer(MISBEHAVING, ...args), sandbox: false };
}

/** One call of a document. */
export interface Call {
  readonly name: string;
  readonly input?: Record<string, unknown>;
  /** @default "approved" */
  readonly status?: "approved" | "pending";
}

/** What came of a run. */
export interface Ran {
  readonly text: string;
  /** `code: message` each. */
  readonly notices: readonly string[];
  readonly events: readonly CycleEvent[];
  /** What stands in the result of a call. */
  result(at: number): string;
}

/** A folder with a document. */
export interface Place {
  /** Its folder. */
  readonly folder: string;
  readonly environment: Environment;
  /** Where all of it lies. */
  readonly root: string;
  /** Opens a document with these calls, hands it to `work`, and tells what came of it. */
  with(
    servers: Record<string, McpServer>,
    calls: readonly Call[],
    work: (chat: ChatSession, events: readonly CycleEvent[]) => Promise<unknown>,
    more?: { readonly settings?: Record<string, unknown>; readonly fetch?: typeof fetch },
  ): Promise<Ran>;
  /** Runs the calls in one document. */
  run(servers: Record<string, McpServer>, calls: readonly Call[]): Promise<Ran>;
}

/** Makes the folders, hands them out, and takes them away. */
export async function withPlace(
  body: (place: Place) => Promise<void>,
  variables: Readonly<Record<string, string>> = {},
): Promise<void> {
  const root = await Deno.realPath(await freshFolder("flemma-mcp-"));
  for (const name of ["work", "tmp"]) await Deno.mkdir(`${root}/${name}`);
  const here = environmentAt(`${root}/work`);
  const environment = {
    ...here,
    home: root,
    variables: {
      ...here.variables,
      HOME: root,
      XDG_STATE_HOME: `${root}/state`,
      XDG_CACHE_HOME: `${root}/cache`,
      XDG_CONFIG_HOME: `${root}/config`,
      XDG_RUNTIME_DIR: `${root}/run`,
      TMPDIR: `${root}/tmp`,
      ...variables,
    },
  };
  const place: Place = {
    folder: `${root}/work`,
    environment,
    root,
    with: async (servers, calls, work, { settings = {}, fetch } = {}) => {
      const events: CycleEvent[] = [];
      const opened = await chatInMemory(new TextEncoder().encode(documentOf(calls)), {
        environment,
        path: `${root}/work/a.chat`,
        settings: {
          overrides: {
            mcp: { servers: named(servers, `${root}/work`) },
            tools: { autopilot: { enabled: false }, max_concurrent: 0 },
            trust: { documents: "always", approvals: "anywhere" },
            ...settings,
          },
        },
        fetch,
        emit: (event) => void events.push(event),
      });
      assert.ok(opened.ok, JSON.stringify(opened));
      await using chat = opened.value;
      await work(chat, events);
      const text = new TextDecoder().decode(chat.chat.bytes);
      const notices = events.flatMap((event) =>
        event.event === "notice" ? [`${event.code}: ${event.message}`] : []
      );
      return { text, notices, events, result: (at) => resultIn(text, at) };
    },
    run: (servers, calls) => place.with(servers, calls, (chat) => chat.advance()),
  };
  try {
    await body(place);
  } finally {
    await removeFolder(root);
  }
}

/** A server outside of the sandbox does not start in the document's folder, so it is told the folder. */
function named(servers: Record<string, McpServer>, folder: string): Record<string, McpServer> {
  return Object.fromEntries(
    Object.entries(servers).map(([name, server]) => {
      const { sandbox, args = [] } = server;
      const told = sandbox === false && args?.at(-1) === ".";
      return [name, told ? { ...server, args: [...(args ?? []).slice(0, -1), folder] } : server];
    }),
  );
}

/** The notices that tell of a fault: that a slow start is waited for is none. */
export function faultsIn({ notices }: Pick<Ran, "notices">): readonly string[] {
  return notices.filter((notice) => !notice.startsWith("tools-waiting"));
}

function documentOf(calls: readonly Call[]): string {
  if (calls.length === 0) return "@You:\nGo.\n";
  const uses = calls.map(({ name, input = {} }, at) =>
    `**Tool Use:** \`${name}\` (\`call_${at}\`)\n\n\`\`\`json\n${JSON.stringify(input)}\n\`\`\`\n\n`
  );
  const answers = calls.map(({ status = "approved" }, at) =>
    `**Tool Result:** \`call_${at}\`\n\n\`\`\`flemma:tool status=${status}\n\`\`\`\n\n`
  );
  return `@You:\nGo.\n\n@Assistant:\nI will.\n\n${uses.join("")}@You:\n\n${answers.join("")}`;
}

function resultIn(text: string, at: number): string {
  const found = new RegExp(`\\*\\*Tool Result:\\*\\* \`call_${at}\`([^]*?)(?=\\n\\*\\*Tool Result|$)`).exec(
    text,
  );
  return found?.[1] ?? "";
}
