// Settings schema of MCP servers.

import { BOOLEAN, group, key, natural, type SettingKey, STRING, STRINGS, type Type } from "../define.ts";

const address: Type = {
  is: "custom",
  ts: "string",
  expected: "an http or https URL",
  accepts: (value) => typeof value === "string" && /^https?:\/\/[^/]/.test(value) && URL.canParse(value),
  json: { type: "string", pattern: "^https?://" },
};

/** A key that the person's settings, a trusted project and the command line may set, but never a document. */
function serverKey(type: Type, doc: string, rest: Partial<SettingKey> = {}): SettingKey {
  return key(type, doc, { who: ["G", "P", "C"], optional: true, ...rest });
}

export const mcpGroup = group("MCP servers.", {
  servers: group("MCP servers, by name.", {}, {
    others: group("Settings for one MCP server.", {
      command: serverKey(STRING, "Program to start, for a server that uses standard input and output."),
      args: serverKey(STRINGS, "Arguments of the program.", { default: [] }),
      env: serverKey({ is: "map", of: STRING }, "Environment variables to add."),
      cwd: serverKey(STRING, "Working folder; if unset, the document's folder."),
      url: serverKey(address, "URL of a server that uses HTTP."),
      headers: serverKey({ is: "map", of: STRING }, "Request headers for that URL."),
      oauth: group("How `flemma auth mcp` signs in to that URL.", {
        client_id: serverKey(
          STRING,
          "Client id that the authorization server knows, or the URL of a client's metadata.",
        ),
        client_secret: serverKey(STRING, "Secret of that client.", { who: ["G", "C"] }),
        scopes: serverKey(STRINGS, "Scopes to ask for; if unset, those that the server names."),
        callback_port: serverKey(natural(), "Port of the callback on this machine; 0 for any.", {
          who: ["G", "C"],
        }),
      }),
      enabled: serverKey(BOOLEAN, "Offer the tools of this server.", { default: true, optional: false }),
      include: serverKey(STRINGS, "Names of tools to offer; `*` matches any characters.", {
        default: ["*"],
      }),
      exclude: serverKey(STRINGS, "Names of tools to leave out; `*` matches any characters.", {
        default: [],
      }),
      timeout: serverKey(natural(1), "Time limit for one call, in seconds.", {
        default: 60,
        optional: false,
      }),
      start_timeout: serverKey(
        natural(1),
        "Time limit for starting, in seconds; if unset, 60 for the first start.",
        {
          default: 10,
          optional: false,
        },
      ),
      sandbox: serverKey(BOOLEAN, "Start the server in the sandbox.", { default: true, optional: false }),
    }, { ts: "McpServer" }),
  }),
});
