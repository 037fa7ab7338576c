// Trusts the MCP servers of a project: the programs to start, and the variables that their settings insert.

import type { Trustable } from "../../agent/extensions/trustable.ts";
import type { Environment } from "../../base/environment.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import { shellWord } from "../../base/shell_word.ts";
import { serversIn } from "../../config/sources/mcp_file.ts";
import { readText } from "../../config/sources/json_file.ts";
import { isTrusted, recordTrust } from "../../config/sources/trust.ts";

export const MCP_FILE = ".mcp.json";

/** Returns the file at its real path. A file that cannot be read is refused. */
export function trustableServers(environment: Environment, path: string): Outcome<Trustable> {
  const found = readText(path);
  if (!found.ok) return found;
  const text = found.value;
  if (text === null) return failure("file-unreadable", `${path} no longer exists.`);
  const read = serversIn({ path, text });
  if (!read.ok) return read;
  return success({
    path,
    lines: Object.entries(read.value.servers).flatMap(([name, server]) => [
      `the server ${name} ${inWords(server)}`,
      ...variablesIn(server).map((variable) => `  inserts the variable ${variable}, if commands may see it`),
    ]),
    nothing: "defines no servers",
    isAgreed: () => isTrusted(environment, path, text),
    agree: async () => {
      const recorded = await recordTrust(environment, path, text, {}, new Date());
      return recorded.ok ? success([]) : recorded;
    },
    agreed: `${path} is trusted in its current version, until it changes.`,
  });
}

function inWords({ command, args, url }: Record<string, unknown>): string {
  if (url !== undefined) return `is at ${url}, and uses your sign-in there after flemma auth mcp`;
  return `runs: ${[command, ...[args ?? []].flat()].map((word) => shellWord(String(word))).join(" ")}`;
}

/** Returns the names of the variables used as `${VAR}`. */
function variablesIn(server: Record<string, unknown>): string[] {
  return [...new Set([...JSON.stringify(server).matchAll(/\$\{([A-Za-z_]\w*)/g)].map(([, name]) => name!))]
    .sort();
}
