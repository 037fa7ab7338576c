// `${VAR}` and `${VAR:-default}` in what settings say of a server.

import type { McpServer } from "../../config/settings.ts";

/** The server with all variables put in; those that are not there stand for nothing. */
export function expandServer(server: McpServer, variables: Readonly<Record<string, string>>): McpServer {
  const text = (value: string) =>
    value.replaceAll(/\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g, (_, name: string, fallback = "") => {
      const found = Object.hasOwn(variables, name) ? variables[name]! : "";
      return found === "" ? fallback : found;
    });
  const texts = (values: Readonly<Record<string, string>> | null | undefined) =>
    Object.fromEntries(Object.entries(values ?? {}).map(([name, value]) => [name, text(value)]));
  return {
    ...server,
    command: server.command ? text(server.command) : null,
    args: (server.args ?? []).map(text),
    env: texts(server.env),
    url: server.url ? text(server.url) : null,
    headers: texts(server.headers),
    cwd: server.cwd ? text(server.cwd) : null,
  };
}
