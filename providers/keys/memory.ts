// Keeps the keys that a run found, so that a keyring or a command is asked once and not before every request.

import { type Outcome, success } from "../../base/problem.ts";
import { resolveCredential } from "./credentials.ts";
import type { Credential, CredentialQuery, CredentialResolver } from "./types.ts";

interface CachedKey {
  readonly credential: Credential;
  /** Milliseconds after which it holds no more. */
  readonly until: number;
}

/** The keys of one run, by provider. They are held in memory only. */
export class KeyMemory {
  readonly #cached = new Map<string, CachedKey>();
  readonly #now: () => number;
  readonly #resolvers: readonly CredentialResolver[] | undefined;

  /** `now` is in milliseconds and only grows. */
  constructor(now: () => number, resolvers?: readonly CredentialResolver[]) {
    this.#now = now;
    this.#resolvers = resolvers;
  }

  /** The key of a provider; fails like `resolveCredential`. */
  async get(query: CredentialQuery): Promise<Outcome<Credential>> {
    const cached = this.#cached.get(query.provider.name);
    if (cached !== undefined && this.#now() < cached.until) return success(cached.credential);
    const found = await resolveCredential(query, this.#resolvers);
    if (found.ok) {
      const { lifetime } = found.value;
      const until = lifetime === undefined ? Infinity : this.#now() + lifetime * 1000;
      this.#cached.set(query.provider.name, { credential: found.value, until });
    }
    return found;
  }

  /** Lets go of a key that the provider refused. */
  forget(provider: string): void {
    this.#cached.delete(provider);
  }
}
