// Signs in to an MCP server of the settings.

import program from "../../deno.json" with { type: "json" };
import type { Environment } from "../../base/environment.ts";
import { nearest } from "../../base/names.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import { operands } from "../../base/shell_word.ts";
import type { Loaded } from "../../config/sources/find.ts";
import type { SignIn } from "../../tools/mcp/sign_in/types.ts";
import type { StartedSignIn } from "../../tools/mcp/sign_in/flow.ts";
import { helperPlace } from "./helper_place.ts";
import { type KnownSignIn, type RemovedSignIn, signInOwner, SignIns } from "./sign_ins.ts";

/** A server to which the person can sign in. */
export interface ServerSignIn {
  /** Port of the callback on this machine; 0 for any. */
  readonly port: number;
  /** Finds the page that asks for consent. The server sends the person back to `redirectUrl`. */
  begin(redirectUrl: string): Promise<Outcome<StartedSignIn>>;
  /** Keeps a sign-in; returns where. */
  keep(signIn: SignIn): Promise<KnownSignIn["kept"]>;
  remove(): Promise<RemovedSignIn>;
}

/** Returns the server of a name. Fails with `usage` if the person cannot sign in there. */
export async function serverSignIn(
  name: string,
  { loaded, environment }: { readonly loaded: Loaded; readonly environment: Environment },
): Promise<Outcome<ServerSignIn>> {
  const { settings } = loaded;
  const { mcp: { servers }, tools } = settings;
  if (tools.untrusted_servers.includes(name) && !Object.hasOwn(servers, name)) {
    return failure(
      "usage",
      `The MCP server ${name} is defined in ${tools.servers_file}, which is not trusted.`,
      `Read the file. If you trust it: flemma trust ${operands(tools.servers_file ?? ".mcp.json")}`,
    );
  }
  const server = Object.hasOwn(servers, name) ? servers[name] : undefined;
  if (server === undefined) {
    const close = nearest(name, Object.keys(servers));
    return failure(
      "usage",
      `There is no MCP server ${name} in the settings.`,
      close === null ? "Add it: mcp.servers in your settings." : `Did you mean ${close}?`,
    );
  }
  const { expandServer } = await import("../../tools/mcp/expand.ts");
  const { insertableVariables } = await import("../../tools/mcp/spawn.ts");
  const { sandboxOf } = await import("../sandbox.ts");
  const sandbox = sandboxOf(environment, { path: null, named: null }, { settings, loaded });
  const place = { environment, settings, sandbox, folder: environment.cwd };
  const { server: { url, oauth }, missing } = expandServer(server, insertableVariables(name, place));
  if (!url) {
    return failure("usage", `The MCP server ${name} is a program, and programs need no sign-in here.`);
  }
  if (missing.length > 0) {
    return failure(
      "usage",
      `The settings of the MCP server ${name} use variables that are not set: ${missing.join(", ")}.`,
    );
  }
  const store = new SignIns(
    signInOwner(tools, name, url),
    environment,
    helperPlace(settings, environment, null),
  );
  const { beginSignIn } = await import("../../tools/mcp/sign_in/flow.ts");
  const { singleRequests } = await import("../../tools/mcp/http.ts");
  const { openNetwork } = await import("../../providers/http/network.ts");
  return success({
    port: oauth?.callback_port ?? 0,
    begin: async (redirectUrl) =>
      await beginSignIn({
        name,
        url,
        oauth,
        version: program.version,
        fetch: singleRequests((url) => openNetwork(url, environment)),
        // A keyring that refuses counts as none; `keep` then reports where the new sign-in is.
        previous: await store.read().catch(() => null),
        wanted: await store.wanted(),
        redirectUrl,
      }),
    keep: (signIn) => store.alone(() => store.keep(signIn)),
    remove: () => store.alone(() => store.removeAll()),
  });
}
