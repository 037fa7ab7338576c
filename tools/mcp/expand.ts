// Expands `${VAR}` and `${VAR:-default}` in the settings of a server.

import { learnSecret } from "../../base/text/secrets.ts";
import type { McpServer } from "../../config/settings.generated.ts";

/** A server with expanded settings. */
export interface Expanded {
  readonly server: McpServer;
  /** Variables that are unset and have no default. They are replaced with an empty text. */
  readonly missing: readonly string[];
}

/** Names of variables and headers that usually contain a secret. */
const SECRET_NAME = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|AUTH|COOKIE/i;

/** Expands all variables in a server's settings. */
export function expandServer(server: McpServer, variables: Readonly<Record<string, string>>): Expanded {
  const missing = new Set<string>();
  const text = (value: string) =>
    value.replaceAll(/\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g, (_, name: string, fallback?: string) => {
      const found = Object.hasOwn(variables, name) ? variables[name]! : "";
      if (found !== "") return found;
      if (fallback === undefined) missing.add(name);
      return fallback ?? "";
    });
  for (const [name, value] of Object.entries({ ...server.env, ...server.headers })) {
    if (SECRET_NAME.test(name)) learnSecret(name, text(value).replace(/^(?:Bearer|Basic|Token)\s+/i, ""));
  }
  const { oauth } = server;
  const own = (value: string | null | undefined) => value ? text(value) : null;
  if (oauth?.client_secret) learnSecret("client_secret", text(oauth.client_secret));
  const texts = (values: Readonly<Record<string, string>> | null | undefined) =>
    Object.fromEntries(Object.entries(values ?? {}).map(([name, value]) => [name, text(value)]));
  return {
    server: {
      ...server,
      command: server.command ? text(server.command) : null,
      args: (server.args ?? []).map(text),
      env: texts(server.env),
      url: server.url ? text(server.url) : null,
      headers: texts(server.headers),
      ...(oauth === undefined ? {} : {
        oauth: { ...oauth, client_id: own(oauth.client_id), client_secret: own(oauth.client_secret) },
      }),
      cwd: server.cwd ? text(server.cwd) : null,
    },
    missing: [...missing].sort(),
  };
}
