// The token for requests to one MCP server: from its sign-in, refreshed before it expires.

import type { AuthProvider } from "npm:@modelcontextprotocol/client@2.4.0";
import { signInFetch } from "./addresses.ts";
import { findServer, learnTokens, signInOf } from "./flow.ts";
import { type SignIn, SignInNeeded, type SignInStore } from "./types.ts";

/** Milliseconds before its end at which a token is refreshed. */
const EARLY = 60_000;

/** True if a token ends soon. */
function endsSoon({ expires_at }: SignIn): boolean {
  return expires_at !== null && expires_at - Date.now() < EARLY;
}

/** Gives a connection its token. Throws `SignInNeeded` if only the person can go on. */
export class Bearer implements AuthProvider {
  readonly #name: string;
  readonly #url: string;
  readonly #store: SignInStore;
  readonly #fetch: typeof fetch;
  /** The sign-in as last read; undefined before that. */
  #signIn: SignIn | null | undefined;
  #renewing: Promise<void> | null = null;

  constructor(name: string, url: string, store: SignInStore, fetch: typeof globalThis.fetch) {
    this.#name = name;
    this.#url = url;
    this.#store = store;
    this.#fetch = fetch;
  }

  async token(): Promise<string | undefined> {
    if (this.#signIn === undefined) this.#take(await this.#store.read());
    if (this.#signIn && endsSoon(this.#signIn)) await this.#renew(this.#signIn, false);
    return this.#signIn?.access_token;
  }

  async onUnauthorized({ response }: { readonly response: Response }): Promise<void> {
    const refused = this.#signIn;
    if (!refused) throw this.#needed("it needs a sign-in");
    const sdk = await import("../client.ts");
    const { resourceMetadataUrl } = sdk.extractWWWAuthenticateParams(response);
    const found = await findServer(sdk, this.#url, resourceMetadataUrl, signInFetch(this.#fetch, this.#url));
    if (found !== null && found.metadata.issuer !== refused.issuer) {
      throw this.#needed("it now names another authorization server than the one where you signed in");
    }
    await this.#renew(refused, true);
    if (!this.#signIn) throw this.#needed("the sign-in has ended");
  }

  /** Keeps the scopes that a server asked for, and returns the error that says so. */
  async outgrown(scope: string | undefined): Promise<SignInNeeded> {
    const wanted = scope?.split(" ").filter((word) => word !== "") ?? [];
    const { scope: granted } = this.#signIn ?? { scope: null };
    await this.#store.want(wanted);
    const now = granted === null ? "" : ` It has: ${granted}.`;
    return this.#needed(
      wanted.length === 0
        ? "the call needs more rights than the sign-in has"
        : `the call needs the rights ${wanted.join(" ")}.${now}`,
    );
  }

  #needed(why: string): SignInNeeded {
    return new SignInNeeded(why);
  }

  #take(signIn: SignIn | null): void {
    this.#signIn = signIn;
    if (signIn !== null) learnTokens(signIn, this.#name);
  }

  /** Replaces a sign-in whose token was refused or ends soon. Requests at the same time share one refresh. */
  #renew(old: SignIn, isRefused: boolean): Promise<void> {
    return this.#renewing ??= this.#store.alone(() => this.#refresh(old, isRefused)).finally(() =>
      this.#renewing = null
    );
  }

  async #refresh(old: SignIn, isRefused: boolean): Promise<void> {
    const stored = await this.#store.read();
    // Another process may have refreshed it, or the person may have signed in again.
    const isNew = stored !== null && stored.access_token !== old.access_token && !endsSoon(stored);
    if (stored === null || isNew) return this.#take(stored);
    if (stored.refresh_token === null) {
      const isOver = isRefused || stored.expires_at !== null && stored.expires_at <= Date.now();
      return this.#take(isOver ? null : stored);
    }
    const sdk = await import("../client.ts");
    const { issuer, metadata, client, resource, scope } = stored;
    try {
      const tokens = await sdk.refreshAuthorization(issuer, {
        metadata,
        clientInformation: client,
        refreshToken: stored.refresh_token,
        ...(resource === null ? {} : { resource }),
        fetchFn: signInFetch(this.#fetch, this.#url),
      });
      const renewed = signInOf(tokens, { issuer, metadata, resource, client, scope }, this.#name);
      this.#take(renewed);
      await this.#store.write(renewed);
    } catch (thrown) {
      const code = thrown instanceof Error && thrown.name === "OAuthError"
        ? (thrown as { code?: unknown }).code
        : null;
      if (code === null) throw thrown;
      this.#take(null);
      if (code !== "invalid_grant") return;
      // A process of another machine may have refreshed it meanwhile; its sign-in stays.
      const now = await this.#store.read();
      if (now?.refresh_token === stored.refresh_token) await this.#store.remove();
      else this.#take(now);
    }
  }
}
