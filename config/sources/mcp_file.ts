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

/** The servers that a file names, in the shape of `mcp.servers`. Fails with what is wrong with the text. */
export function serversIn({ path, text }: McpFile): Outcome<Record<string, Record<string, unknown>>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    return broken(path, `it is not JSON: ${thrown instanceof Error ? thrown.message : thrown}`);
  }
  if (!isObject(value) || (value.mcpServers !== undefined && !isObject(value.mcpServers))) {
    return broken(path, 'it must be an object with the member "mcpServers"');
  }
  const servers: Record<string, Record<string, unknown>> = {};
  for (const [name, entry] of Object.entries(value.mcpServers ?? {})) {
    if (!isObject(entry)) return broken(path, `the server ${JSON.stringify(name)} must be an object`);
    // A dot would be read as a way into the settings, a colon as the end of the name.
    servers[name.replaceAll(/[.:\s]/g, "-")] = Object.fromEntries(
      MEMBERS.filter((member) => entry[member] !== undefined).map((member) => [member, entry[member]]),
    );
  }
  return success(servers);
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

function isNamed(name: string, logs: readonly LayerLog[]): boolean {
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
): Promise<
  Outcome<{ readonly servers: Record<string, Record<string, unknown>>; readonly notice: Problem | null }>
> {
  const none = (notice: Problem | null) => success({ servers: {}, notice });
  const read = serversIn(file);
  if (!read.ok) return none(read.problem);
  if (Object.keys(read.value).length === 0) return none(null);
  const trusted = await isTrusted(environment, real, file.text, []);
  if (!trusted.ok) return trusted;
  if (trusted.value) {
    const taken = Object.keys(read.value).filter((name) => isNamed(name, below));
    const servers = Object.fromEntries(Object.entries(read.value).filter(([name]) => !taken.includes(name)));
    const notice = taken.length === 0 ? null : {
      code: "mcp-named-twice",
      message: `Your own settings have servers of the names ${
        taken.join(", ")
      }; those of ${file.path} are left out.`,
      next: "Give yours another name in mcp.servers to have both.",
    };
    return success({ servers, notice });
  }
  return none({
    code: "mcp-untrusted",
    message: `${file.path} names servers of tools that you have not agreed to, so they are not started: ${
      Object.keys(read.value).join(", ")
    }.`,
    next: `Read it; if you agree: flemma trust ${operands(file.path)}`,
  });
}

function broken(path: string, why: string): Outcome<never> {
  return failure("mcp-file-broken", `${path} is left out: ${why}.`, "Correct the file.");
}
