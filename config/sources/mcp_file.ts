// MCP servers from a project's `.mcp.json`, which take effect once the person agreed to the file.

import type { Environment } from "../../base/environment.ts";
import { isObject } from "../../base/is_object.ts";
import { operands } from "../../base/shell_word.ts";
import { failure, type Outcome, type Problem, success } from "../../base/problem.ts";
import type { LayerLog } from "../layers/log.ts";
import { isNamed, SERVER_MEMBERS } from "../layers/servers.ts";
import { isTrusted } from "./trust.ts";

export interface McpFile {
  readonly path: string;
  readonly text: string;
}

/** Names that no setting can have; `__proto__` exists on every JavaScript object. */
const NAMELESS: ReadonlySet<string> = new Set(["", "__proto__"]);

export interface NamedServers {
  /** The servers, in the shape of `mcp.servers`. */
  readonly servers: Record<string, Record<string, unknown>>;
  /** Groups of names in the file that become the same name in flemma; only the first name of each group is used. */
  readonly alike: readonly (readonly string[])[];
  readonly nameless: readonly string[];
  /** Servers with members of `oauth` that a project may not set, as `SERVER: member, member`. */
  readonly refused: readonly string[];
}

/** Members of `oauth` that a project may set: a secret, and where its tokens come from, are the person's. */
const OAUTH_MEMBERS: ReadonlySet<string> = new Set(["client_id", "scopes"]);

/** Parses the servers in a file. Fails if the text is invalid. */
export function serversIn({ path, text }: McpFile): Outcome<NamedServers> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    return broken(path, `it is not valid JSON: ${thrown instanceof Error ? thrown.message : thrown}`);
  }
  if (!isObject(value) || (value.mcpServers !== undefined && !isObject(value.mcpServers))) {
    return broken(path, 'it must be an object with the member "mcpServers"');
  }
  const servers = new Map<string, Record<string, unknown>>();
  const nameless: string[] = [];
  const refused: string[] = [];
  const written = new Map<string, string[]>();
  for (const [name, entry] of Object.entries(value.mcpServers ?? {})) {
    if (!isObject(entry)) return broken(path, `the server ${JSON.stringify(name)} must be an object`);
    // A dot would separate keys of the settings, and a colon would end the name.
    const key = name.replaceAll(/[.:\s]/g, "-");
    if (NAMELESS.has(key)) {
      nameless.push(name);
      continue;
    }
    const others = written.get(key);
    others?.push(name);
    if (others !== undefined) continue;
    written.set(key, [name]);
    // mcporter writes `baseUrl` in place of `url`.
    const members: typeof entry = { url: entry.baseUrl, ...entry };
    if (isObject(entry.oauth)) {
      // Claude Code writes `clientId`.
      const { clientId, ...rest } = entry.oauth;
      const oauth = Object.entries({ ...(clientId === undefined ? {} : { client_id: clientId }), ...rest });
      members.oauth = Object.fromEntries(oauth.filter(([member]) => OAUTH_MEMBERS.has(member)));
      const others = oauth.map(([member]) => member).filter((member) => !OAUTH_MEMBERS.has(member));
      if (others.length > 0) refused.push(`${key}: ${others.join(", ")}`);
    }
    servers.set(
      key,
      Object.fromEntries(
        SERVER_MEMBERS.filter((member) => members[member] !== undefined).map((
          member,
        ) => [member, members[member]]),
      ),
    );
  }
  const alike = [...written.values()].filter(({ length }) => length > 1);
  return success({ servers: Object.fromEntries(servers), alike, nameless, refused });
}

export interface McpShare {
  readonly servers: Record<string, Record<string, unknown>>;
  /** Names of servers that would take effect if the person agreed. */
  readonly untrusted: readonly string[];
  readonly notices: readonly Problem[];
}

/** Determines which servers of the file take effect, with messages for the person. */
export async function mcpShare(
  environment: Environment,
  real: string,
  file: McpFile,
  below: readonly LayerLog[],
): Promise<Outcome<McpShare>> {
  const read = serversIn(file);
  if (!read.ok) return success({ servers: {}, untrusted: [], notices: [read.problem] });
  const { servers, alike, nameless, refused } = read.value;
  const names = Object.keys(servers);
  const notices = [
    ...alike.map((each) => namedAlike(file, each)),
    ...nameless.map((name) => unnameable(file, name)),
    ...(refused.length === 0 ? [] : [{
      code: "mcp-oauth-ignored",
      message: `${file.path}: a project may not set these members of oauth, so flemma ignores them: ${
        refused.join("; ")
      }.`,
      next: "To use them, define the server in your own settings.",
    }]),
  ];
  if (names.length === 0) return success({ servers, untrusted: [], notices });
  const trusted = await isTrusted(environment, real, file.text);
  if (!trusted.ok) return trusted;
  if (trusted.value) {
    const taken = names.filter((name) => isNamed(name, below));
    const counting = Object.fromEntries(Object.entries(servers).filter(([name]) => !taken.includes(name)));
    return success({
      servers: counting,
      untrusted: [],
      notices: [...notices, ...(taken.length === 0 ? [] : [namedTwice(file, taken)])],
    });
  }
  return success({
    servers: {},
    untrusted: names,
    notices: [...notices, {
      code: "mcp-untrusted",
      message: `The MCP servers of ${file.path} are not trusted, so flemma does not start them: ${
        names.join(", ")
      }.`,
      next: `Read the file. If you trust it: flemma trust ${operands(file.path)}`,
    }],
  });
}

function namedTwice({ path }: McpFile, taken: readonly string[]): Problem {
  return {
    code: "mcp-named-twice",
    message: `Your own settings already have servers named ${
      taken.join(", ")
    }, so flemma ignores those of ${path}.`,
    next: "To use both, rename yours in mcp.servers.",
  };
}

function namedAlike({ path }: McpFile, [first, ...others]: readonly string[]): Problem {
  const quoted = others.map((name) => JSON.stringify(name)).join(", ");
  const are = others.length === 1 ? "is" : "are";
  return {
    code: "mcp-named-alike",
    message: `${path}: to flemma, ${quoted} ${are} the same as ${
      JSON.stringify(first)
    }, so it uses only the server ${JSON.stringify(first)}.`,
    next: "Give each server a different name; flemma replaces dots, colons and spaces in names by dashes.",
  };
}

function unnameable({ path }: McpFile, name: string): Problem {
  return {
    code: "mcp-unnameable",
    message: `${path}: ${
      JSON.stringify(name)
    } is not allowed as a server name, so flemma ignores the server.`,
    next: "Rename the server.",
  };
}

function broken(path: string, why: string): Outcome<never> {
  return failure("mcp-file-broken", `Ignored ${path}: ${why}.`, "Correct the file.");
}
