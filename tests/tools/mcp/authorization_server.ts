// A strict authorization server and the MCP server that it protects, both on loopback. Whatever a client must not do
// is refused and recorded.

import { createMcpHandler, Server } from "@modelcontextprotocol/server";

/** What the servers do; tests change it while they run. */
export interface Conduct {
  /** Seconds for which access tokens are valid. */
  lifetime: number;
  /** The `iss` of answers; null for the right one. */
  iss: string | null;
  /** PKCE methods that the metadata announce. */
  methods: string[];
  /** False if clients cannot register by themselves. */
  registers: boolean;
  /** False if it gives no refresh tokens. */
  refreshes: boolean;
  /** The authorization server that the MCP server names; null for this one. */
  names: string | null;
  /** What the authorization server answers to the person's consent. */
  error: string | null;
}

/** Both servers. */
export interface Protected {
  /** Address of the MCP server. */
  readonly url: string;
  readonly issuer: string;
  readonly conduct: Conduct;
  /** What the client did wrong. */
  readonly faults: string[];
  /** Scopes of each request for consent. */
  readonly consents: string[];
  /** Number of refreshes. */
  readonly refreshes: number;
  /** Number of registrations. */
  readonly registrations: number;
  /** Number of calls by tool. */
  readonly calls: Readonly<Record<string, number>>;
  /** All secrets that the client got. */
  readonly secrets: readonly string[];
  /** Ends all tokens, as an administrator does. */
  revoke(): void;
  close(): Promise<void>;
}

interface Grant {
  readonly client: string;
  readonly scope: string;
  readonly resource: string;
}

interface Code extends Grant {
  readonly challenge: string;
  readonly redirect: string;
  used: boolean;
}

/** Rights that tools need. */
const NEEDS: Readonly<Record<string, string>> = { echo: "read", admin: "admin" };

/** Starts both servers. */
export function serveProtected(given: Partial<Conduct> = {}): Protected {
  const conduct: Conduct = {
    lifetime: 3600,
    iss: null,
    methods: ["S256"],
    registers: true,
    refreshes: true,
    names: null,
    error: null,
    ...given,
  };
  const faults: string[] = [];
  const consents: string[] = [];
  const clients = new Map<string, string[]>();
  const codes = new Map<string, Code>();
  const access = new Map<string, Grant & { readonly ends: number }>();
  const refresh = new Map<string, Grant & { used: boolean }>();
  const secrets: string[] = [];
  const calls: Record<string, number> = {};
  let [refreshes, registrations] = [0, 0];
  const fresh = (kind: string) => {
    const value = `${kind}-${crypto.randomUUID()}`;
    secrets.push(value);
    return value;
  };
  const wrong = (fault: string, status = 400) => {
    faults.push(fault);
    return Response.json({ error: "invalid_request", error_description: fault }, { status });
  };

  const authorization = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request): Promise<Response> => {
      const { pathname, searchParams: query } = new URL(request.url);
      if (request.headers.has("authorization")) {
        return wrong("the authorization server got a header Authorization");
      }
      switch (pathname) {
        case "/.well-known/oauth-authorization-server":
          return Response.json({
            issuer,
            authorization_endpoint: `${issuer}/authorize`,
            token_endpoint: `${issuer}/token`,
            ...(conduct.registers ? { registration_endpoint: `${issuer}/register` } : {}),
            response_types_supported: ["code"],
            grant_types_supported: ["authorization_code", "refresh_token"],
            code_challenge_methods_supported: conduct.methods,
            token_endpoint_auth_methods_supported: ["none"],
            authorization_response_iss_parameter_supported: true,
          });
        case "/register": {
          const { redirect_uris, application_type } = await request.json();
          if (application_type !== "native") return wrong("application_type is not native");
          registrations++;
          const client_id = `client-${registrations}`;
          clients.set(client_id, redirect_uris);
          return Response.json({ client_id, redirect_uris }, { status: 201 });
        }
        case "/authorize":
          return authorize(query);
        case "/token":
          return await redeem(new URLSearchParams(await request.text()));
        default:
          return new Response(null, { status: 404 });
      }
    },
  );
  const issuer = `http://127.0.0.1:${authorization.addr.port}`;
  const withoutPort = (address: string) => address.replace(/:\d+\//, "/");

  function authorize(query: URLSearchParams): Response {
    const client = query.get("client_id") ?? "";
    const redirect = query.get("redirect_uri") ?? "";
    const known = clients.get(client) ?? (client === "mine" ? ["http://127.0.0.1:1/callback"] : undefined);
    if (known === undefined) return wrong(`the client ${client} is unknown`);
    if (!known.some((each) => withoutPort(each) === withoutPort(redirect))) return wrong("redirect_uri");
    if (query.get("response_type") !== "code") return wrong("response_type");
    if (query.get("code_challenge_method") !== "S256") return wrong("code_challenge_method");
    if (query.get("resource") !== resource) return wrong(`resource ${query.get("resource")} at authorize`);
    if (!query.get("state")) return wrong("state");
    const scope = query.get("scope") ?? "";
    consents.push(scope);
    const answer = new URL(redirect);
    answer.searchParams.set("state", query.get("state")!);
    answer.searchParams.set("iss", conduct.iss ?? issuer);
    if (conduct.error !== null) answer.searchParams.set("error", conduct.error);
    else {
      const code = fresh("code");
      codes.set(code, {
        client,
        scope,
        resource,
        challenge: query.get("code_challenge")!,
        redirect,
        used: false,
      });
      answer.searchParams.set("code", code);
    }
    return new Response(null, { status: 302, headers: { location: answer.href } });
  }

  async function redeem(form: URLSearchParams): Promise<Response> {
    if (form.get("resource") !== resource) return wrong(`resource ${form.get("resource")} at token`);
    if (form.get("grant_type") === "refresh_token") {
      const token = form.get("refresh_token") ?? "";
      const grant = refresh.get(token);
      if (grant === undefined) return Response.json({ error: "invalid_grant" }, { status: 400 });
      if (grant.used) {
        refresh.clear();
        access.clear();
        faults.push("a refresh token was used twice");
        return Response.json({ error: "invalid_grant" }, { status: 400 });
      }
      if (form.get("client_id") !== grant.client) return wrong("another client refreshes");
      grant.used = true;
      refreshes++;
      return tokens(grant);
    }
    const code = codes.get(form.get("code") ?? "");
    if (code === undefined || code.used) return wrong("the code is unknown or was used");
    code.used = true;
    const verifier = new TextEncoder().encode(form.get("code_verifier") ?? "");
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", verifier));
    const challenge = digest.toBase64({ alphabet: "base64url", omitPadding: true });
    if (challenge !== code.challenge) return wrong("code_verifier");
    if (form.get("redirect_uri") !== code.redirect) return wrong("redirect_uri at token");
    if (form.get("client_id") !== code.client) return wrong("client_id at token");
    return tokens(code);
  }

  function tokens({ client, scope, resource }: Grant): Response {
    const access_token = fresh("access");
    access.set(access_token, { client, scope, resource, ends: Date.now() + conduct.lifetime * 1000 });
    const refresh_token = fresh("refresh");
    if (conduct.refreshes) refresh.set(refresh_token, { client, scope, resource, used: false });
    return Response.json({
      access_token,
      token_type: "Bearer",
      expires_in: conduct.lifetime,
      scope,
      ...(conduct.refreshes ? { refresh_token } : {}),
    });
  }

  const handler = createMcpHandler(() => {
    const server = new Server({ name: "x", version: "1" }, { capabilities: { tools: {} } });
    server.setRequestHandler("tools/list", () => ({
      tools: Object.keys(NEEDS).map((name) => ({ name, inputSchema: { type: "object" as const } })),
    }));
    server.setRequestHandler("tools/call", ({ params: { name } }) => {
      calls[name] = (calls[name] ?? 0) + 1;
      return { content: [{ type: "text" as const, text: `${name} done` }] };
    });
    return server;
  }, { keepAliveMs: 0 });

  const protectedServer = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request): Promise<Response> => {
      const { pathname, origin } = new URL(request.url);
      if (pathname === "/.well-known/oauth-protected-resource/mcp") {
        return Response.json({
          resource,
          authorization_servers: [conduct.names ?? issuer],
          scopes_supported: ["read"],
        });
      }
      const metadata = `resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
      const refused = (status: number, rest: string) => {
        return new Response(null, { status, headers: { "www-authenticate": `Bearer ${metadata}${rest}` } });
      };
      const token = /^Bearer (.*)$/.exec(request.headers.get("authorization") ?? "")?.[1];
      if (token === undefined) return refused(401, ', scope="read"');
      const grant = access.get(token);
      if (grant === undefined || grant.ends <= Date.now()) return refused(401, ', error="invalid_token"');
      const { method, params } = await request.clone().json().catch(() => ({}));
      const need = method === "tools/call" ? NEEDS[params.name] ?? "read" : "read";
      if (!grant.scope.split(" ").includes(need)) {
        return refused(403, `, error="insufficient_scope", scope="${need}"`);
      }
      return await handler.fetch(request);
    },
  );
  const resource = `http://127.0.0.1:${protectedServer.addr.port}/mcp`;

  return {
    url: resource,
    issuer,
    conduct,
    faults,
    consents,
    get refreshes() {
      return refreshes;
    },
    get registrations() {
      return registrations;
    },
    calls,
    secrets,
    revoke() {
      access.clear();
      refresh.clear();
    },
    close: async () => {
      await handler.close();
      await Promise.all([authorization.shutdown(), protectedServer.shutdown()]);
    },
  };
}
