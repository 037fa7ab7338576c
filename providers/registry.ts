// The providers by name.

import { nearest } from "../base/nearest.ts";
import { failure, type Outcome, success } from "../base/problem.ts";
import { anthropic } from "./anthropic/provider.ts";
import type { Provider } from "./types.ts";

const PROVIDERS: ReadonlyMap<string, Provider> = new Map([[anthropic.name, anthropic]]);

/** Names of all providers, sorted. */
export function providerNames(): readonly string[] {
  return [...PROVIDERS.keys()].sort();
}

/**
 * The provider of that name.
 *
 * @param name as settings write it
 * @returns the provider. Fails with `provider-unknown`, which suggests the nearest name.
 */
export function getProvider(name: string): Outcome<Provider> {
  const provider = PROVIDERS.get(name);
  if (provider !== undefined) return success(provider);
  const near = nearest(name, PROVIDERS.keys());
  return failure(
    "provider-unknown",
    `There is no provider named "${name}".`,
    near === null ? `Known providers: ${providerNames().join(", ")}.` : `Did you mean ${near}?`,
  );
}
