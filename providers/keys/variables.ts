// Keys in environment variables.

import type { CredentialResolver } from "./types.ts";

/** Resolver that checks the provider's variables in order. An empty variable counts as unset. */
export const environmentResolver: CredentialResolver = {
  name: "environment",
  resolve({ provider, environment }) {
    for (const name of provider.keyVariables) {
      const secret = (environment.variables[name] ?? "").trimEnd();
      if (secret !== "") return Promise.resolve({ secret, source: name });
    }
    if (provider.keyVariables.length === 0) return Promise.resolve(null);
    const names = provider.keyVariables.join(" and ");
    return Promise.resolve({ reason: `${names} ${provider.keyVariables.length > 1 ? "are" : "is"} not set` });
  },
};
