// The words of looking for keys: who needs one, what was found and where, and what a place to look is.

import type { Environment } from "../../base/environment.ts";
import type { Settings } from "../../config/settings.generated.ts";
import type { Provider } from "../types.ts";

/** A provider as far as its key goes. */
export type KeyOwner = Pick<Provider, "name" | "display" | "keyVariables" | "keyKind" | "keyOptional">;

/** What a provider needs: kind and variables come from its description. */
export interface CredentialQuery {
  readonly provider: KeyOwner;
  readonly environment: Environment;
  /** Where the person says that keys come from. */
  readonly settings?: Pick<Settings, "providers" | "secrets">;
}

/** What a key is called in keyrings, beside the name of its provider. */
export type KeyKind = "api_key" | "access_token" | "service_account";

export interface Credential {
  readonly secret: string;
  /** Where it came from, for messages: a variable's name, never the value; null where there is none and none is needed. */
  readonly source: string | null;
  /** Seconds for which it holds; absent for one that holds until somebody takes it back. */
  readonly lifetime?: number;
}

/** A credential that a place has. */
export interface FoundCredential extends Credential {
  readonly source: string;
}

/** What a place answers: the credential, the reason why it has none, or null where it is not meant for this provider. */
export type CredentialAnswer =
  | FoundCredential
  /** `keeps`: a key could be kept there. */
  | { readonly reason: string; readonly keeps?: boolean }
  | null;

/** One place to look. */
export interface CredentialResolver {
  readonly name: string;
  resolve(query: CredentialQuery): Promise<CredentialAnswer>;
}
