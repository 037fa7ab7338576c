// Reports where a provider's key would come from, without running anything that could prompt the person.

import { resolveCredential } from "./credentials.ts";
import { keyringResolver } from "./resolvers.ts";
import type { CredentialQuery, CredentialResolver } from "./types.ts";
import { environmentResolver } from "./variables.ts";
import { findHelper } from "./key_program.ts";

/** Placeholder for a key that was not retrieved. */
const UNASKED = "unasked";

const commandNamed: CredentialResolver = {
  name: "key_command",
  resolve({ provider, settings }) {
    const command = settings?.providers[provider.name]?.key_command ?? "";
    if (command.length === 0) return Promise.resolve(null);
    return Promise.resolve({
      secret: UNASKED,
      source: `the command in providers.${provider.name}.key_command`,
    });
  },
};

const gcloudThere: CredentialResolver = {
  name: "gcloud",
  resolve({ provider, environment, settings }) {
    if (provider.keyKind !== "access_token") return Promise.resolve(null);
    const name = settings?.secrets.gcloud.path ?? "gcloud";
    return Promise.resolve(
      findHelper(name, environment) === null
        ? { reason: `the program ${name} was not found` }
        : { secret: UNASKED, source: name },
    );
  },
};

export interface KeyReport {
  readonly found: boolean;
  /** Name of the source; or a statement that no key is needed; or the reason why no key was found. */
  readonly detail: string;
}

const NONE_NEEDED = "none needed";

/** Searches the sources of `resolveCredential`. The person's commands are named, not run. */
export async function keyReport(
  query: CredentialQuery,
  keyring: CredentialResolver = keyringResolver(),
): Promise<KeyReport> {
  const found = await resolveCredential(query, [environmentResolver, commandNamed, keyring, gcloudThere]);
  return found.ok
    ? { found: true, detail: found.value.source ?? NONE_NEEDED }
    : { found: false, detail: found.problem.message };
}

/** Formats a report as text after the provider's name. */
export function keyWords({ found, detail }: KeyReport): string {
  return found && detail !== NONE_NEEDED ? `from ${detail}` : detail;
}
