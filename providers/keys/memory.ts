// A cache of keys for one run, so that a keyring or command is queried once instead of before every request.

import { type Outcome, success } from "../../base/problem.ts";
import { resolveCredential } from "./credentials.ts";
import type { Credential, CredentialQuery, CredentialResolver } from "./types.ts";

interface CachedKey {
  readonly credential: Credential;
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
      const until = lifetime === undefined ? Infinity : this.#now() + lifetime * 1000;
      this.#cached.set(query.provider.name, { credential: found.value, until });
    }
    return found;
  }

  /** Discards a key that the provider refused. */
  forget(provider: string): void {
    this.#cached.delete(provider);
  }
}
