// Signs in to an MCP server: finds its authorization server, asks for consent, and redeems the answer for tokens.

import type { AuthorizationServerMetadata, OAuthTokens } from "npm:@modelcontextprotocol/client@2.4.0";
import { hideSecrets, learnSecret } from "../../../base/text/secrets.ts";
import { failure, type Outcome, success, thrownText } from "../../../base/problem.ts";
import type { McpServer } from "../../../config/settings.generated.ts";
import { maySignInAt, signInFetch } from "./addresses.ts";
import type { SignIn, SignInClient } from "./types.ts";

/** What a sign-in begins with. */
export interface SignInSubject {
  readonly name: string;
  readonly url: string;
  readonly oauth: McpServer["oauth"];
  readonly version: string;
  readonly fetch: typeof fetch;
  /** The sign-in so far, whose client is used again; null if there is none. */
  readonly previous: SignIn | null;
  /** Scopes that the server asked for since then. */
  readonly wanted: readonly string[];
  /** Where the authorization server sends the person back to. */
  readonly redirectUrl: string;
}

/** A sign-in that waits for the person's consent. */
export interface StartedSignIn {
  /** Page of the authorization server that asks for consent. */
  readonly page: string;
  readonly scope: string | null;
  /** True if an answer belongs to this sign-in. */
  isOwn(answer: URLSearchParams): boolean;
  /** Redeems the answer. */
  finish(answer: URLSearchParams): Promise<Outcome<SignIn>>;
}

type Sdk = typeof import("../client.ts");

/** Finds the authorization server and prepares the page that asks for consent. Fails with `mcp-sign-in-failed`. */
export async function beginSignIn(subject: SignInSubject): Promise<Outcome<StartedSignIn>> {
  try {
    return await begin(await import("../client.ts"), subject);
  } catch (thrown) {
    return failed(subject, wordsOf(thrown));
  }
}

async function begin(sdk: Sdk, subject: SignInSubject): Promise<Outcome<StartedSignIn>> {
  const { name, url, oauth, previous, wanted, redirectUrl } = subject;
  if (!maySignInAt(url, url)) {
    return failed(subject, "its address is not https", `Set mcp.servers.${name}.url to an https address.`);
  }
  const fetchFn = signInFetch(subject.fetch, url);
  const challenge = await challengeOf(sdk, subject, fetchFn);
  const found = await findServer(sdk, url, challenge.resourceMetadataUrl, fetchFn);
  if (found === null) {
    return failed(
      subject,
      "it does not name an authorization server",
      "If it needs a token, set mcp.servers." + name + ".headers.",
    );
  }
  const { metadata, resource, supported } = found;
  const fault = faultOfServer(metadata, url);
  if (fault !== null) return failed(subject, fault);
  const { issuer } = metadata;
  const scope = scopeOf(sdk, {
    asked: oauth?.scopes?.join(" ") || challenge.scope || supported,
    granted: wanted.length > 0 ? previous?.scope ?? undefined : undefined,
    wanted,
    offered: metadata.scopes_supported ?? [],
  });
  const client = await clientOf(sdk, subject, metadata, scope, fetchFn);
  if (client === null) {
    return failed(
      subject,
      `${issuer} registers no clients by itself`,
      `Register one there, and set mcp.servers.${name}.oauth.client_id.`,
    );
  }
  const state = randomText();
  const { authorizationUrl, codeVerifier } = await sdk.startAuthorization(issuer, {
    metadata,
    clientInformation: client,
    state,
    redirectUrl,
    ...(scope === null ? {} : { scope }),
    ...(resource === null ? {} : { resource }),
  });
  return success({
    page: authorizationUrl.href,
    scope,
    isOwn: (answer) => answer.get("state") === state,
    finish: async (answer) => {
      try {
        return await finish(answer);
      } catch (thrown) {
        return failed(subject, wordsOf(thrown));
      }
    },
  });

  async function finish(answer: URLSearchParams): Promise<Outcome<SignIn>> {
    const iss = answer.get("iss") ?? undefined;
    // Another server could have answered in this one's place: nothing of the answer is used before this.
    sdk.validateAuthorizationResponseIssuer({
      iss,
      expectedIssuer: issuer,
      issParameterSupported: (metadata as { authorization_response_iss_parameter_supported?: unknown })
        .authorization_response_iss_parameter_supported === true,
    });
    const error = answer.get("error");
    if (error !== null) {
      return failed(
        subject,
        error === "access_denied"
          ? "it was not allowed"
          : `the authorization server answered ${shown(error)}`,
      );
    }
    const code = answer.get("code");
    if (code === null) return failed(subject, "the answer contains no code");
    const tokens = await sdk.exchangeAuthorization(issuer, {
      metadata,
      clientInformation: client!,
      authorizationCode: code,
      ...(iss === undefined ? {} : { iss }),
      codeVerifier,
      redirectUri: redirectUrl,
      ...(resource === null ? {} : { resource }),
      fetchFn,
    });
    return success(signInOf(tokens, { issuer, metadata, resource, client: client!, scope }, name));
  }
}

/** Turns the tokens of an authorization server into a sign-in, and keeps them out of all messages. */
export function signInOf(
  tokens: OAuthTokens,
  rest: Pick<SignIn, "issuer" | "metadata" | "resource" | "client" | "scope">,
  name: string,
): SignIn {
  const signIn: SignIn = {
    ...rest,
    access_token: tokens.access_token,
    refresh_token: tokens.refresh_token ?? null,
    scope: tokens.scope ?? rest.scope,
    expires_at: tokens.expires_in === undefined ? null : Date.now() + tokens.expires_in * 1000,
  };
  learnTokens(signIn, name);
  return signIn;
}

/** Keeps the secrets of a sign-in out of all messages. */
export function learnTokens({ access_token, refresh_token, client }: SignIn, name: string): void {
  for (const secret of [access_token, refresh_token, client.client_secret]) {
    if (secret) learnSecret(`sign-in at ${name}`, secret);
  }
}

/**
 * Sends requests without a token; the refusal of the server says where and for what to sign in. Some servers refuse only
 * the second request.
 */
async function challengeOf(
  sdk: Sdk,
  { url, version }: SignInSubject,
  fetchFn: ReturnType<typeof signInFetch>,
) {
  const hello = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "flemma", version } };
  for (const [method, params] of [["initialize", hello], ["tools/list", {}]] as const) {
    const response = await fetchFn(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": hello.protocolVersion,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    await response.body?.cancel();
    if (response.status === 401 || response.status === 403) return sdk.extractWWWAuthenticateParams(response);
  }
  return {};
}

/** The authorization server of an MCP server, from its metadata. */
interface FoundServer {
  readonly metadata: AuthorizationServerMetadata;
  readonly resource: string | null;
  /** Scopes that the MCP server lists. */
  readonly supported: string | undefined;
}

/** Returns the authorization server that an MCP server names; null if it names none. Throws if its metadata are wrong. */
export async function findServer(
  sdk: Sdk,
  url: string,
  resourceMetadataUrl: URL | undefined,
  fetchFn: ReturnType<typeof signInFetch>,
): Promise<FoundServer | null> {
  const info = await sdk.discoverOAuthServerInfo(url, {
    ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
    fetchFn,
  });
  const { authorizationServerMetadata: metadata, resourceMetadata } = info;
  if (metadata === undefined) return null;
  const resource = resourceMetadata?.resource ?? null;
  if (
    resource !== null && !sdk.checkResourceAllowed({ requestedResource: url, configuredResource: resource })
  ) {
    throw new Error(`its metadata are about ${shown(resource)}`);
  }
  return { metadata, resource, supported: resourceMetadata?.scopes_supported?.join(" ") };
}

/** Returns why an authorization server is refused, as the end of a sentence; null if it is not. */
function faultOfServer(metadata: AuthorizationServerMetadata, url: string): string | null {
  const { issuer, authorization_endpoint, token_endpoint, registration_endpoint } = metadata;
  const insecure = [issuer, authorization_endpoint, token_endpoint, registration_endpoint ?? issuer]
    .find((address) => !maySignInAt(address, url));
  if (insecure !== undefined) {
    return `the address ${shown(insecure)} of its authorization server is not https`;
  }
  return metadata.code_challenge_methods_supported?.includes("S256")
    ? null
    : `its authorization server ${shown(issuer)} does not offer PKCE with S256`;
}

function scopeOf(
  sdk: Sdk,
  { asked, granted, wanted, offered }: {
    readonly asked: string | undefined;
    readonly granted: string | undefined;
    readonly wanted: readonly string[];
    readonly offered: readonly string[];
  },
): string | null {
  const scope = sdk.computeScopeUnion(asked, granted, wanted.join(" "));
  if (!scope) return null;
  // Without this scope, some servers give no refresh token. Only those that list it know it.
  const words = scope.split(" ");
  return offered.includes("offline_access") && !words.includes("offline_access")
    ? `${scope} offline_access`
    : scope;
}

/** Returns how this program is known to the authorization server; null if it cannot become known there. */
async function clientOf(
  sdk: Sdk,
  { oauth, previous, redirectUrl }: SignInSubject,
  metadata: AuthorizationServerMetadata,
  scope: string | null,
  fetchFn: ReturnType<typeof signInFetch>,
): Promise<SignInClient | null> {
  if (oauth?.client_id) {
    return {
      client_id: oauth.client_id,
      ...(oauth.client_secret ? { client_secret: oauth.client_secret } : {}),
    };
  }
  if (previous?.issuer === metadata.issuer) return previous.client;
  if (metadata.registration_endpoint === undefined) return null;
  const { client_id, client_secret } = await sdk.registerClient(metadata.issuer, {
    metadata,
    clientMetadata: {
      client_name: "flemma",
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: authMethod(metadata),
      application_type: "native",
    },
    ...(scope === null ? {} : { scope }),
    fetchFn,
  });
  return { client_id, ...(client_secret === undefined ? {} : { client_secret }) };
}

/** A program on the person's machine keeps no secret, unless the server insists on one. */
function authMethod(
  { token_endpoint_auth_methods_supported: offered = ["none"] }: AuthorizationServerMetadata,
): string {
  return offered.includes("none") ? "none" : offered[0] ?? "none";
}

function randomText(): string {
  return crypto.getRandomValues(new Uint8Array(24)).toHex();
}

/** Text of a server, short and in one line. */
function shown(text: string): string {
  // deno-lint-ignore no-control-regex -- a server could write into the terminal
  return text.replace(/[\x00-\x1f\x7f-\x9f]+/g, " ").slice(0, 200);
}

/** Returns what an error says; a server's own words are cut. */
function wordsOf(thrown: unknown): string {
  let inner = thrown;
  while (inner instanceof Error && inner.cause instanceof Error) inner = inner.cause;
  const { code } = (thrown ?? {}) as { readonly code?: unknown };
  const text = shown(hideSecrets(thrownText(inner))).replace(/\.$/, "");
  return typeof code === "string" && thrown instanceof Error && thrown.name === "OAuthError"
    ? `the authorization server answered ${shown(code)}${text === "" ? "" : `: ${text}`}`
    : text;
}

function failed({ name }: Pick<SignInSubject, "name">, why: string, next?: string): Outcome<never> {
  return failure("mcp-sign-in-failed", `The sign-in at the MCP server ${name} failed: ${why}.`, next);
}
