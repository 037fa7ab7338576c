// The settings file of mcporter, read as `mcp.servers` if `tools.mcporter.enabled` is set.

import type { Environment } from "../../base/environment.ts";
import { isObject } from "../../base/is_object.ts";
import { type Outcome, type Problem, success } from "../../base/problem.ts";
import { readText } from "./json_file.ts";
import { type McpFile, serversIn } from "./mcp_file.ts";

/** Known members of an entry: flemma reads them, or reaches the server without them. Others are reported. */
const READ: ReadonlySet<string> = new Set([
  ...["command", "args", "env", "cwd", "url", "baseUrl", "headers"],
  ...["description", "name", "type", "transport"],
]);

export interface McporterServers {
  readonly servers: Record<string, Record<string, unknown>>;
  readonly notices: readonly Problem[];
}

/** @param isTaken whether the settings define a server of this name; if so, the settings take precedence */
export function mcporterServers(
  environment: Environment,
  isTaken: (name: string) => boolean,
): McporterServers {
  const found = findFile(environment);
  if (!found.ok) return { servers: {}, notices: [mcporterWarning(found.problem.message)] };
  const file = found.value;
  if (file === null) {
    return {
      servers: {},
      notices: [mcporterWarning("mcporter has no settings file, so it has no servers.")],
    };
  }
  const read = serversIn(file);
  if (!read.ok) return { servers: {}, notices: [mcporterWarning(read.problem.message)] };
  const servers = Object.fromEntries(
    Object.entries(read.value.servers).filter(([name]) => !isTaken(name)),
  );
  const sentences = [
    `flemma reads ${file.path} as mcp.servers: ${Object.keys(servers).join(", ") || "no server"}.`,
  ];
  const unread = unreadMembers(file);
  if (unread.length > 0) sentences.push(`It ignores ${unread.join(", ")}.`);
  return { servers, notices: [mcporterWarning(sentences.join(" "))] };
}

/** Creates a warning that ends with what to do about the old setting. */
export function mcporterWarning(message: string): Problem {
  return {
    code: "mcporter-old",
    message: `tools.mcporter.enabled asks for servers of mcporter, which flemma no longer starts. ${message}`,
    next: "Move the servers to mcp.servers in your settings, and remove tools.mcporter.",
  };
}

/** Returns the file that mcporter itself would read; null if there is none. */
function findFile({ home, variables }: Environment): Outcome<McpFile | null> {
  const base = variables.XDG_CONFIG_HOME;
  const folders = [...(base?.startsWith("/") ? [`${base}/mcporter`] : []), `${home}/.mcporter`];
  for (const path of folders.flatMap((folder) => [`${folder}/mcporter.json`, `${folder}/mcporter.jsonc`])) {
    const text = readText(path);
    if (!text.ok) return text;
    if (text.value !== null) return success({ path, text: text.value });
  }
  return success(null);
}

/** Returns the names of members that flemma does not read. */
function unreadMembers({ text }: McpFile): string[] {
  const { mcpServers, $schema: _, ...others } = JSON.parse(text) as Record<string, unknown>;
  const entries = Object.values(isObject(mcpServers) ? mcpServers : {}).filter(isObject);
  const unread = entries.flatMap((entry) => Object.keys(entry)).filter((name) => !READ.has(name));
  return [...new Set([...Object.keys(others), ...unread])];
}
