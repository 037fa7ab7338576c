// Lookup of a provider's API key in one source after the other.

import { failure, type Outcome, success } from "../../base/problem.ts";
import { learnSecret } from "../../base/text/secrets.ts";
import { KNOWN_PROVIDERS } from "../known.ts";
import { VENDORS } from "../vendors.ts";
import type { Credential, CredentialQuery, CredentialResolver, FoundCredential, KeyOwner } from "./types.ts";
import { environmentResolver } from "./variables.ts";

/** Credential used if no key is found for a provider with an optional key, or if it takes none. */
const KEYLESS: Credential = { secret: "", source: null };

/**
 * Returns the first credential that is found, or a placeholder if no key is needed. If no source has a key, the failure
 * names each source, and the reason why it has none.
 *
 * @param resolvers the sources. @default variables, the person's own command, the keyring, gcloud
 */
export async function resolveCredential(
  query: CredentialQuery,
  resolvers?: readonly CredentialResolver[],
): Promise<Outcome<Credential>> {
  if (query.provider.keyVariables.length === 0 && !hasCommand(query)) return success(KEYLESS);
  const reasons: string[] = [];
  let keeps = false;
  for await (const resolver of resolvers ?? places()) {
    const answer = await resolver.resolve(query);
    if (answer === null) continue;
    if ("secret" in answer) {
      const { keyVariables, name } = query.provider;
      const isVariable = answer.source !== null && keyVariables.includes(answer.source);
      learnSecret(isVariable ? answer.source! : `key of ${name}`, answer.secret, { isKey: true });
      return isSendable(answer.secret) ? success(answer) : unsendable(answer);
    }
    reasons.push(`${resolver.name}: ${answer.reason.replace(/\.$/, "")}`);
    keeps ||= answer.keeps === true;
  }
  if (query.provider.keyOptional) return success(KEYLESS);
  const { name, display, keyKind, keyVariables: [variable = ""] } = query.provider;
  const next = keyKind === "access_token"
    ? `Run gcloud auth login, or set the variable ${variable}.`
    : variable === ""
    ? `Correct the command in providers.${name}.key_command.`
    : keeps
    ? `Set the variable ${variable}, for example export ${variable}=…, or save the key in your keyring: flemma auth set ${name}`
    : `Set the variable ${variable}, for example export ${variable}=…`;
  return failure(
    "credential-missing",
    `No key for ${display} was found (${reasons.join("; ")}).`,
    `${next}${otherKey(query)}`,
  );
}

/** Returns the end of a sentence about another provider whose key is set; empty if there is none. */
function otherKey({ provider, environment: { variables } }: CredentialQuery): string {
  const other = providerWithKey(variables);
  return other === null || other.name === provider.name
    ? ""
    : `; or use ${other.display}, whose key is set: --provider ${other.name}`;
}

/** Returns the first provider whose key is in one of these environment variables; null if none is. */
export function providerWithKey(
  variables: Readonly<Record<string, string>>,
): { readonly name: string; readonly display: string } | null {
  const known: readonly (readonly [string, Pick<KeyOwner, "display" | "keyVariables">])[] = [
    ...Object.entries(KNOWN_PROVIDERS),
    ...Object.entries(VENDORS),
  ];
  const found = known.find(([, { keyVariables }]) => keyVariables.some((each) => variables[each]));
  return found === undefined ? null : { name: found[0], display: found[1].display };
}

function hasCommand({ provider, settings }: CredentialQuery): boolean {
  return (settings?.providers[provider.name]?.key_command ?? null) !== null;
}

/** Returns the sources. Sources other than variables are loaded only if no variable contains the key. */
async function* places(): AsyncGenerator<CredentialResolver> {
  yield environmentResolver;
  yield* (await import("./resolvers.ts")).RESOLVERS;
}

/**
 * True if a secret can be sent. Headers allow only printable ASCII, and the runtime's error for other characters would
 * show the secret.
 */
function isSendable(secret: string): boolean {
  return /^[\x21-\x7e]+$/.test(secret);
}

function unsendable({ source }: FoundCredential): Outcome<never> {
  return failure(
    "credential-invalid",
    `The key from ${source} contains spaces or characters that keys cannot contain.`,
    `Set ${source} again, without quotes or line breaks.`,
  );
}
