// Where the key of a provider would come from, for reports: nothing is asked that could ask the person in turn.

import { failure, type Outcome, success } from "../../base/problem.ts";
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

/** The place that has a key, by name; fails like `resolveCredential`. Commands of the person are named and not run. */
export async function sourceOf(
  query: CredentialQuery,
  keyring: CredentialResolver = keyringResolver(),
): Promise<Outcome<string>> {
  const found = await resolveCredential(query, [environmentResolver, commandNamed, keyring, gcloudThere]);
  return found.ok
    ? success(found.value.source)
    : failure(found.problem.code, found.problem.message, found.problem.next);
}
