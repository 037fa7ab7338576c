// Where the key of a provider would come from, for reports: nothing is asked that could ask the person in turn.

import { resolveCredential } from "./credentials.ts";
import { keyringResolver } from "./resolvers.ts";
import type { CredentialQuery, CredentialResolver } from "./types.ts";
import { environmentResolver } from "./variables.ts";
import { findHelper } from "./key_program.ts";

/** Stands for a key that was not asked for. */
const UNASKED = "unasked";

const commandNamed: CredentialResolver = {
  name: "key_command",
  resolve({ provider, settings }) {
    const command = settings?.providers[provider.name]?.key_command ?? "";
    if (command.length === 0) return Promise.resolve(null);
    return Promise.resolve({
      secret: UNASKED,
      source: `the command of providers.${provider.name}.key_command`,
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
        ? { reason: `there is no program ${name}` }
        : { secret: UNASKED, source: name },
    );
  },
};

/** What a report says of a provider's key. */
export interface KeyReport {
  /** Whether requests can be made as far as the key goes. */
  readonly found: boolean;
  /** The place that has the key, by name; that none is needed; or why there is none. */
  readonly detail: string;
}

const NONE_NEEDED = "none, and none is needed";

/** Looks for the key of a provider where `resolveCredential` does. Commands of the person are named and not run. */
export async function keyReport(
  query: CredentialQuery,
  keyring: CredentialResolver = keyringResolver(),
): Promise<KeyReport> {
  const found = await resolveCredential(query, [environmentResolver, commandNamed, keyring, gcloudThere]);
  return found.ok
    ? { found: true, detail: found.value.source ?? NONE_NEEDED }
    : { found: false, detail: found.problem.message };
}

/** The same as a line behind the name of the provider. */
export function keyWords({ found, detail }: KeyReport): string {
  return found && detail !== NONE_NEEDED ? `from ${detail}` : detail;
}
