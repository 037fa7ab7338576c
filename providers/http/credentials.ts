// Finds the secret of a provider by asking resolvers in turn (providers section 15).

import type { Environment } from "../../base/environment.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import type { Provider } from "../types.ts";

/** What a provider needs: kind and variables come from its description. */
export interface CredentialQuery {
  readonly provider: Pick<Provider, "name" | "display" | "keyVariables" | "keyOptional">;
  readonly environment: Environment;
}

export interface Credential {
  readonly secret: string;
  /** Where it came from, for messages: a variable's name, never the value. */
  readonly source: string;
}

/** One place to look. Answers the credential, or the reason why it has none. */
export interface CredentialResolver {
  readonly name: string;
  resolve(query: CredentialQuery): Promise<Credential | { readonly reason: string }>;
}

/** Looks at the provider's variables in their order; an empty one counts as unset. */
export const environmentResolver: CredentialResolver = {
  name: "environment",
  resolve({ provider, environment }) {
    for (const name of provider.keyVariables) {
      const secret = (environment.variables[name] ?? "").trimEnd();
      if (secret !== "") return Promise.resolve({ secret, source: name });
    }
    const names = provider.keyVariables.join(" and ");
    return Promise.resolve({ reason: `${names} ${provider.keyVariables.length > 1 ? "are" : "is"} not set` });
  },
};

const DEFAULT_RESOLVERS: readonly CredentialResolver[] = [environmentResolver];

/** What a provider that can do without a key is sent when none was found. */
const KEYLESS: Credential = { secret: "", source: "nowhere, and needs none" };

/** Stands in requests to a provider that takes no key. */
const NO_KEY: Credential = { secret: "none", source: "the provider, which takes no key" };

/** The first credential that a resolver has, or a stand-in where no key is needed; the failure names every resolver and its reason. */
export async function resolveCredential(
  query: CredentialQuery,
  resolvers: readonly CredentialResolver[] = DEFAULT_RESOLVERS,
): Promise<Outcome<Credential>> {
  if (query.provider.keyVariables.length === 0) return success(NO_KEY);
  const reasons: string[] = [];
  for (const resolver of resolvers) {
    const answer = await resolver.resolve(query);
    if ("secret" in answer) return isSendable(answer.secret) ? success(answer) : unsendable(answer);
    reasons.push(`${resolver.name}: ${answer.reason}`);
  }
  if (query.provider.keyOptional) return success(KEYLESS);
  const [variable = ""] = query.provider.keyVariables;
  return failure(
    "credential-missing",
    `No key for ${query.provider.display} was found (${reasons.join("; ")}).`,
    `Set the variable ${variable}, e.g. export ${variable}=…`,
  );
}

/** A header takes printable ASCII only; a runtime that refuses more would show the secret in its message. */
function isSendable(secret: string): boolean {
  return /^[\x21-\x7e]+$/.test(secret);
}

function unsendable({ source }: Credential): Outcome<never> {
  return failure(
    "credential-invalid",
    `The key from ${source} holds blanks or characters that no key has.`,
    `Set ${source} again, without quotes or line ends.`,
  );
}
