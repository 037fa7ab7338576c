// A cache of keys for one run, so that a keyring or command is queried once instead of before every request.

import { type Outcome, success } from "../../base/problem.ts";
import { plural } from "../../base/text/plural.ts";
import { withKeySource } from "./hint.ts";
import type { ProviderError } from "../types.ts";
import { resolveCredential } from "./credentials.ts";
import type { Credential, CredentialQuery, CredentialResolver } from "./types.ts";

interface CachedKey {
  readonly credential: Credential;
  /** Time at which the key was retrieved, in milliseconds of `now`. */
  readonly since: number;
  /** Time at which the key expires, in milliseconds of `now`. */
  readonly until: number;
}

/** The keys of one run, by the name of the provider. They are only in memory, never on disk. */
export class KeyMemory {
  readonly #cached = new Map<string, CachedKey>();
  readonly #now: () => number;
  readonly #resolvers: readonly CredentialResolver[] | undefined;
  readonly #helpers: CredentialQuery["helpers"];

  /** Creates an empty cache; `now` returns milliseconds and never decreases. */
  constructor(
    now: () => number,
    resolvers?: readonly CredentialResolver[],
    helpers?: CredentialQuery["helpers"],
  ) {
    this.#now = now;
    this.#helpers = helpers;
    this.#resolvers = resolvers;
  }

  /** Returns the key of a provider; fails like `resolveCredential`. */
  async get(query: CredentialQuery): Promise<Outcome<Credential>> {
    const cached = this.#cached.get(query.provider.name);
    if (cached !== undefined && this.#now() < cached.until) return success(cached.credential);
    const found = await resolveCredential({ helpers: this.#helpers, ...query }, this.#resolvers);
    if (found.ok) {
      const { lifetime } = found.value;
      const since = this.#now();
      const until = lifetime === undefined ? Infinity : since + lifetime * 1000;
      this.#cached.set(query.provider.name, { credential: found.value, since, until });
    }
    return found;
  }

  /** Retrieves a key again that the provider refused. True if there is now another one. */
  async renew(query: CredentialQuery): Promise<boolean> {
    const refused = this.#cached.get(query.provider.name)?.credential;
    this.#cached.delete(query.provider.name);
    const found = await this.get(query);
    return found.ok && refused !== undefined && found.value.secret !== refused.secret;
  }

  /** Adds to the error for a refused key where the key is from, and how old a key from a program is. */
  explain(provider: string, error: ProviderError): ProviderError {
    const cached = this.#cached.get(provider);
    const source = cached?.credential.source ?? null;
    if (error.class !== "authentication" || cached === undefined || source === null) return error;
    if (/^[A-Z0-9_]+$/i.test(source)) return withKeySource(error, `in the variable ${source}`);
    const minutes = Math.floor((this.#now() - cached.since) / 60_000);
    return withKeySource(error, `from ${source} (${plural(minutes, "minute")} old)`);
  }
}
