// Settings schema of MCP servers.

import { BOOLEAN, group, key, natural, type SettingKey, STRING, STRINGS, type Type } from "../define.ts";

const address: Type = {
  is: "custom",
  ts: "string",
  expected: "an http or https address",
  accepts: (value) => typeof value === "string" && /^https?:\/\/[^/]/.test(value) && URL.canParse(value),
  json: { type: "string", pattern: "^https?://" },
};

/** A key for the person's settings, a trusted project's, and the command line, but never for a document. */
function serverKey(type: Type, doc: string, rest: Partial<SettingKey> = {}): SettingKey {
  return key(type, doc, { who: ["G", "P", "C"], optional: true, ...rest });
}

export const mcpGroup = group("Servers of tools that speak MCP.", {
  servers: group("The servers by name.", {}, {
    others: group("One server.", {
      command: serverKey(STRING, "The program that is started, for a server that talks over its pipes."),
      args: serverKey(STRINGS, "Its arguments.", { default: [] }),
      env: serverKey({ is: "map", of: STRING }, "Variables added to its environment."),
      cwd: serverKey(STRING, "Where it works; the document's folder when unset."),
      url: serverKey(address, "The address of a server that talks over HTTP."),
      headers: serverKey({ is: "map", of: STRING }, "Headers of requests to that address."),
      enabled: serverKey(BOOLEAN, "Offer its tools.", { default: true, optional: false }),
      include: serverKey(STRINGS, "Names of its tools that are offered; `*` stands for any characters.", {
        default: ["*"],
      }),
      exclude: serverKey(STRINGS, "Names of its tools that are left out.", { default: [] }),
      timeout: serverKey(natural(1), "Seconds of one call.", { default: 60, optional: false }),
      start_timeout: serverKey(natural(1), "Seconds until it must have started; the first time 60.", {
        default: 10,
        optional: false,
      }),
      sandbox: serverKey(BOOLEAN, "Start it in the sandbox.", { default: true, optional: false }),
    }, { ts: "McpServer" }),
  }),
});
