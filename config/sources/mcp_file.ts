// `.mcp.json` of a project: servers of tools that other programs know too, which count once a person agreed to the file.

import type { Environment } from "../../base/environment.ts";
import { isObject } from "../../base/is_object.ts";
import { operands } from "../../base/shell_word.ts";
import { failure, type Outcome, type Problem, success } from "../../base/problem.ts";
import type { LayerLog } from "../layers/log.ts";
import { isTrusted } from "./trust.ts";

/** The file as it was found. */
export interface McpFile {
  readonly path: string;
  readonly text: string;
}

/** Members of an entry that are settings here too. */
const MEMBERS = ["command", "args", "env", "cwd", "url", "headers"];

/** Names that no setting can have: the second is one of every object of the language. */
const NAMELESS: ReadonlySet<string> = new Set(["", "__proto__"]);

/** What a file says. */
export interface NamedServers {
  /** In the shape of `mcp.servers`. */
  readonly servers: Record<string, Record<string, unknown>>;
  /** Names as they stand in the file that come to one and the same name here; of each the first counts. */
  readonly alike: readonly (readonly string[])[];
  /** Names that no setting can have. */
  readonly nameless: readonly string[];
}

/** The servers that a file names. Fails with what is wrong with the text. */
export function serversIn({ path, text }: McpFile): Outcome<NamedServers> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    return broken(path, `it is not JSON: ${thrown instanceof Error ? thrown.message : thrown}`);
  }
  if (!isObject(value) || (value.mcpServers !== undefined && !isObject(value.mcpServers))) {
    return broken(path, 'it must be an object with the member "mcpServers"');
  }
  const servers = new Map<string, Record<string, unknown>>();
  const nameless: string[] = [];
  const written = new Map<string, string[]>();
  for (const [name, entry] of Object.entries(value.mcpServers ?? {})) {
    if (!isObject(entry)) return broken(path, `the server ${JSON.stringify(name)} must be an object`);
    // A dot would be read as a way into the settings, a colon as the end of the name.
    const key = name.replaceAll(/[.:\s]/g, "-");
    if (NAMELESS.has(key)) {
      nameless.push(name);
      continue;
    }
    const others = written.get(key);
    others?.push(name);
    if (others !== undefined) continue;
    written.set(key, [name]);
    // mcporter writes `baseUrl`.
    const members: typeof entry = { url: entry.baseUrl, ...entry };
    servers.set(
      key,
      Object.fromEntries(
        MEMBERS.filter((member) => members[member] !== undefined).map((member) => [member, members[member]]),
      ),
    );
  }
  const alike = [...written.values()].filter(({ length }) => length > 1);
  return success({ servers: Object.fromEntries(servers), alike, nameless });
}

/** What of a file counts. */
export interface McpShare {
  readonly servers: Record<string, Record<string, unknown>>;
  /** Names of those that would count if the person agreed. */
  readonly untrusted: readonly string[];
  /** What a person has to know of it. */
  readonly notices: readonly Problem[];
}

/** What says which program or address a server is, and what it is given. */
const IDENTITY: ReadonlySet<string> = new Set([...MEMBERS, "sandbox"]);

/**
 * Whether a key makes another server of one that the person has under this name. A project may not: what the person's
 * server is given, a token in its headers for instance, would go to the project's.
 *
 * @param below what the person's settings say
 */
export function takesOver(path: readonly string[], below: readonly LayerLog[]): boolean {
  const [group, list, name = "", member = ""] = path;
  return group === "mcp" && list === "servers" && IDENTITY.has(member) && isNamed(name, below);
}

/** Whether settings have a server of this name. */
export function isNamed(name: string, logs: readonly LayerLog[]): boolean {
  return logs.some(({ operations }) =>
    operations.some(({ path }) => path[0] === "mcp" && path[1] === "servers" && path[2] === name)
  );
}

/** What of the file counts, and what a person has to know of it. */
export async function mcpShare(
  environment: Environment,
  real: string,
  file: McpFile,
  below: readonly LayerLog[],
): Promise<Outcome<McpShare>> {
  const read = serversIn(file);
  if (!read.ok) return success({ servers: {}, untrusted: [], notices: [read.problem] });
  const { servers, alike, nameless } = read.value;
  const names = Object.keys(servers);
  const notices = [
    ...alike.map((each) => namedAlike(file, each)),
    ...nameless.map((name) => unnameable(file, name)),
  ];
  if (names.length === 0) return success({ servers, untrusted: [], notices });
  const trusted = await isTrusted(environment, real, file.text, []);
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
      message: `${file.path} names servers of tools that you have not agreed to, so they are not started: ${
        names.join(", ")
      }.`,
      next: `Read it; if you agree: flemma trust ${operands(file.path)}`,
    }],
  });
}

function namedTwice({ path }: McpFile, taken: readonly string[]): Problem {
  return {
    code: "mcp-named-twice",
    message: `Your own settings have servers of the names ${
      taken.join(", ")
    }; those of ${path} are left out.`,
    next: "Give yours another name in mcp.servers to have both.",
  };
}

function namedAlike({ path }: McpFile, [first, ...others]: readonly string[]): Problem {
  const quoted = others.map((name) => JSON.stringify(name)).join(", ");
  const are = others.length === 1 ? "is the same name" : "are the same names";
  return {
    code: "mcp-named-alike",
    message: `${path}: ${quoted} ${are} as ${JSON.stringify(first)} here, so only that server counts.`,
    next: "Give each a name of its own; dots, colons and blanks count as dashes.",
  };
}

function unnameable({ path }: McpFile, name: string): Problem {
  return {
    code: "mcp-unnameable",
    message: `${path}: no server can be called ${JSON.stringify(name)} here, so it is left out.`,
    next: "Give it another name.",
  };
}

function broken(path: string, why: string): Outcome<never> {
  return failure("mcp-file-broken", `${path} is left out: ${why}.`, "Correct the file.");
}
