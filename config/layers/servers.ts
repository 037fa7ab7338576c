// Who defined an MCP server: the person's own settings, or a project.

import type { Layer } from "../types.ts";
import type { LayerLog } from "./log.ts";

/** Members of a server in an `.mcp.json` that are also settings of flemma. */
export const SERVER_MEMBERS: readonly string[] = ["command", "args", "env", "cwd", "url", "headers", "oauth"];

/** Members that determine a server's program or address, and what it receives. */
const IDENTITY: ReadonlySet<string> = new Set([...SERVER_MEMBERS, "sandbox"]);

/** Layers that only the person writes. */
const OWN: ReadonlySet<Layer> = new Set<Layer>(["G", "R", "C"]);

/** True if a path is a member of a server that determines the server's identity. */
function identifies([group, list, _name, member = ""]: readonly string[]): boolean {
  return group === "mcp" && list === "servers" && IDENTITY.has(member);
}

/**
 * True if a key changes the identity of a server that the person already has under this name. A project must not do
 * that: what the person's server receives, such as a token in its headers, would go to the project's server.
 *
 * @param below the layers of the person's settings
 */
export function takesOver(path: readonly string[], below: readonly LayerLog[]): boolean {
  return identifies(path) && isNamed(path[2] ?? "", below);
}

/** True if a layer has a setting of the server with this name. */
export function isNamed(name: string, logs: readonly LayerLog[]): boolean {
  return logs.some(({ operations }) =>
    operations.some(({ path }) => path[0] === "mcp" && path[1] === "servers" && path[2] === name)
  );
}

/** Returns the names of servers whose identity only the person's own settings determine. */
export function personalServers(logs: readonly LayerLog[]): string[] {
  const namesIn = (those: readonly LayerLog[]) =>
    those.flatMap(({ operations }) =>
      operations.filter(({ path }) => identifies(path)).map(({ path }) => path[2]!)
    );
  const others = new Set(namesIn(logs.filter(({ layer }) => !OWN.has(layer))));
  return [...new Set(namesIn(logs.filter(({ layer }) => OWN.has(layer))))].filter((name) =>
    !others.has(name)
  );
}
