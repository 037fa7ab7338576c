// Finds the secret of a provider by asking one place after the other.

import { failure, type Outcome, success } from "../../base/problem.ts";
import type { Credential, CredentialQuery, CredentialResolver, FoundCredential } from "./types.ts";
import { environmentResolver } from "./variables.ts";

/** What a provider that can do without a key is sent when none was found. */
const KEYLESS: Credential = { secret: "", source: null };

/** Stands in requests to a provider that takes no key. */
const NO_KEY: Credential = { secret: "none", source: null };

/**
 * The first credential that a place has, or a stand-in where no key is needed; the failure names every place and its reason.
 *
 * @param resolvers the places. @default variables, the person's own command, the keyring, gcloud
 */
export async function resolveCredential(
  query: CredentialQuery,
  resolvers?: readonly CredentialResolver[],
): Promise<Outcome<Credential>> {
  if (query.provider.keyVariables.length === 0) return success(NO_KEY);
  const reasons: string[] = [];
  let keeps = false;
  for await (const resolver of resolvers ?? places()) {
    const answer = await resolver.resolve(query);
    if (answer === null) continue;
    if ("secret" in answer) return isSendable(answer.secret) ? success(answer) : unsendable(answer);
    reasons.push(`${resolver.name}: ${answer.reason.replace(/\.$/, "")}`);
    keeps ||= answer.keeps === true;
  }
  if (query.provider.keyOptional) return success(KEYLESS);
  const { name, display, keyKind, keyVariables: [variable = ""] } = query.provider;
  return failure(
    "credential-missing",
    `No key for ${display} was found (${reasons.join("; ")}).`,
    keyKind === "access_token"
      ? `Log in with gcloud auth login, or set the variable ${variable}.`
      : keeps
      ? `Set the variable ${variable}, e.g. export ${variable}=…, or keep it in your keyring: flemma auth set ${name}`
      : `Set the variable ${variable}, e.g. export ${variable}=…`,
  );
}

/** What is beyond variables is loaded only for those who have no variable. */
async function* places(): AsyncGenerator<CredentialResolver> {
  yield environmentResolver;
  yield* (await import("./resolvers.ts")).RESOLVERS;
}

/** A header takes printable ASCII only; a runtime that refuses more would show the secret in its message. */
function isSendable(secret: string): boolean {
  return /^[\x21-\x7e]+$/.test(secret);
}

function unsendable({ source }: FoundCredential): Outcome<never> {
  return failure(
    "credential-invalid",
    `The key from ${source} holds blanks or characters that no key has.`,
    `Set ${source} again, without quotes or line ends.`,
  );
}
