// Sources of keys other than variables, in order: the person's own command, the keyring, gcloud.

import type { Environment } from "../../base/environment.ts";
import type { CredentialAnswer, CredentialKind, CredentialQuery, CredentialResolver } from "./types.ts";
import { resolvePath } from "../../base/paths.ts";
import { askHelper, findHelper, forHelpers, type HelperAnswer } from "./key_program.ts";
import { type Keyring, NO_KEY, systemKeyring } from "./keyring.ts";

function kindOf({ provider }: CredentialQuery): CredentialKind {
  return provider.keyKind ?? "api_key";
}

/** Resolver that uses the first line of the command's output, because password stores have more lines below it. */
const commandResolver: CredentialResolver = {
  name: "key_command",
  async resolve({ provider, environment, settings, helpers }) {
    const { key_command: command = null, key_ttl: lifetime } = settings?.providers[provider.name] ?? {};
    const key = `providers.${provider.name}.key_command`;
    if (command === null || command.length === 0) return null;
    const place = helpers?.();
    const refusal = place?.refusal(command) ?? null;
    if (refusal !== null) return { reason: refusal };
    const words = typeof command === "string" ? ["/bin/sh", "-c", command] : fromFolder(command, environment);
    const answer = await askHelper(words, { environment: place?.environment ?? environment });
    if ("reason" in answer) return answer;
    const [line = ""] = answer.output.split("\n");
    if (line.trim() === "") return { reason: "it printed nothing" };
    return { secret: line.trim(), source: key, ...(typeof lifetime === "number" ? { lifetime } : {}) };
  },
};

/** A program named by a path relative to the folder where flemma was started. */
function fromFolder(
  [program = "", ...args]: readonly string[],
  { cwd, home }: Environment,
): readonly string[] {
  return program.includes("/") ? [resolvePath(program, { folder: cwd, home }), ...args] : [program, ...args];
}

export function keyringResolver(
  find: (environment: Environment) => Keyring | null = systemKeyring,
): CredentialResolver {
  return {
    name: "keyring",
    async resolve(asked) {
      const query = forHelpers(asked);
      const keyring = find(query.environment);
      if (keyring === null) return { reason: "none is available" };
      const answer = fromOutput(await keyring.lookup(query.provider.name, kindOf(query)), keyring.name);
      // A locked or unreachable keyring cannot store a key either.
      return answer !== null && "reason" in answer ? { ...answer, keeps: answer.reason === NO_KEY } : answer;
    },
  };
}

/** Lifetime of a Google token in seconds, less a margin for clock differences. */
const TOKEN_SECONDS = 3330;

/**
 * Lets gcloud create a token: for a service account if one is known, otherwise for the user who is logged in to gcloud.
 */
function gcloudResolver(
  find: (environment: Environment) => Keyring | null = systemKeyring,
): CredentialResolver {
  return {
    name: "gcloud",
    async resolve(asked) {
      if (kindOf(asked) !== "access_token") return null;
      const query = forHelpers(asked);
      const { environment, settings } = query;
      const name = settings?.secrets.gcloud.path ?? "gcloud";
      const program = findHelper(name, environment);
      if (program === null) return { reason: `the program ${name} was not found` };
      const refusal = asked.helpers?.().refusal([program]) ?? null;
      if (refusal !== null) return { reason: refusal };
      const account = await serviceAccount(query, find(environment));
      const words = [program, "auth", "print-access-token"];
      const answer = account === null
        ? await askHelper(words, { environment })
        : await withAccountFile(account, (variables) => askHelper(words, { environment, variables }));
      return fromOutput(answer, name, TOKEN_SECONDS);
    },
  };
}

/** Returns a service account description from a variable or the keyring; null if there is none. */
async function serviceAccount(
  { provider, environment }: CredentialQuery,
  keyring: Keyring | null,
): Promise<string | null> {
  const variable = environment.variables[`${provider.name.toUpperCase()}_SERVICE_ACCOUNT`] ?? "";
  if (variable.includes("service_account")) return variable;
  const cached = await keyring?.lookup(provider.name, "service_account") ?? null;
  return cached !== null && "output" in cached && cached.output.includes("service_account")
    ? cached.output
    : null;
}

/** Runs `body` while the account is in a file with mode 0600, from which gcloud reads it. */
async function withAccountFile(
  account: string,
  body: (variables: Record<string, string>) => Promise<HelperAnswer>,
): Promise<HelperAnswer> {
  const file = await Deno.makeTempFile({ prefix: "flemma-account-", suffix: ".json" });
  try {
    await Deno.writeTextFile(file, account, { mode: 0o600 });
    return await body({ GOOGLE_APPLICATION_CREDENTIALS: file, CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE: file });
  } finally {
    await Deno.remove(file);
  }
}

function fromOutput(answer: HelperAnswer, source: string, lifetime?: number): CredentialAnswer {
  if ("reason" in answer) return answer;
  const secret = answer.output.trimEnd();
  if (secret === "") return { reason: "it printed nothing" };
  return { secret, source, ...(lifetime === undefined ? {} : { lifetime }) };
}

/** The sources. The first one that has a key is used. */
export const RESOLVERS: readonly CredentialResolver[] = [
  commandResolver,
  keyringResolver(),
  gcloudResolver(),
];
