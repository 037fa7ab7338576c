// Types of the key lookup: query, credential and source.

import type { Environment } from "../../base/environment.ts";
import type { Settings } from "../../config/settings.generated.ts";
import type { Provider } from "../types.ts";

/** The parts of a provider that describe its key. */
export type KeyOwner = Pick<Provider, "name" | "display" | "keyVariables" | "keyKind" | "keyOptional">;

/** Where the person's helper programs run, and which must not run. */
export interface HelperPlace {
  /** Working folder and variables for programs outside the sandbox. */
  readonly environment: Environment;
  /** Why a command must not run, as the end of a sentence; null if it may. */
  refusal(command: string | readonly string[]): string | null;
}

export interface CredentialQuery {
  readonly provider: KeyOwner;
  readonly environment: Environment;
  readonly settings?: Pick<Settings, "providers" | "secrets">;
  /** Called when a helper program is about to run. @default programs run in `environment`, and every one may */
  readonly helpers?: () => HelperPlace;
}

/** Name of a key in keyrings, in addition to its provider's name. */
export type CredentialKind = "api_key" | "access_token" | "service_account";

export interface Credential {
  readonly secret: string;
  /**
   * Name of the source for messages, such as the name of a variable; never the key itself. Null if there is no key
   * because none is needed.
   */
  readonly source: string | null;
  /** Seconds until the key expires; absent if it is valid until revoked. */
  readonly lifetime?: number;
}

export interface FoundCredential extends Credential {
  readonly source: string;
}

/** The credential, the reason why there is none, or null if the source does not apply to this provider. */
export type CredentialAnswer =
  | FoundCredential
  /** The source has no key. If `keeps` is true, the person can store one there. */
  | { readonly reason: string; readonly keeps?: boolean }
  | null;

export interface CredentialResolver {
  readonly name: string;
  resolve(query: CredentialQuery): Promise<CredentialAnswer>;
}
