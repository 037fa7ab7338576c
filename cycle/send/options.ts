// Options of a send.

import type { Environment } from "../../base/environment.ts";
import type { Settings } from "../../config/settings.generated.ts";
import type { EvaluatedFrontmatter } from "../../prompt/evaluate.ts";
import type { RequestLimiter } from "../../providers/http/limiter.ts";
import type { Clock } from "../../providers/http/patience.ts";
import type { CredentialResolver, HelperPlace } from "../../providers/keys/types.ts";
import type { OfferedTool, Provider, ProviderRequest, Trouble } from "../../providers/types.ts";
import type { Problem } from "../../base/problem.ts";
import type { Diagnostic } from "../../parser/types.ts";
import type { DocumentStore, Emit, Journal, Reclaim } from "../types.ts";
import type { UsageLog } from "../usage/log.ts";
import type { RunLimits } from "./limits.ts";

/** A request that goes into a batch, or the reply to such a request. */
export interface BatchedRequest {
  /** The reply that the batch brought, which answers the first request; null if requests are only collected. */
  readonly answer: BatchAnswer | null;
  /**
   * Takes a request in place of the network.
   *
   * @returns why the request cannot go into a batch; null if it was taken
   */
  take(request: TakenRequest): Problem | null;
}

/** A whole reply of a batch. */
export interface BatchAnswer {
  /** Id of the request in the batch. */
  readonly item: string;
  /** SHA-256 of the body that was sent. */
  readonly body: string;
  /** Time at which the batch was sent. */
  readonly sent: Date;
  /** Returns the response as the provider would have sent it. Called once. */
  response(): Response;
}

/** A request that is ready for a batch. */
export interface TakenRequest {
  readonly request: ProviderRequest;
  readonly provider: string;
  /** API of the provider, as `Provider.kind`, or the provider's own name. */
  readonly kind: string;
  readonly model: string;
  /** Tokens estimated from the length of the body. */
  readonly tokens: number;
  /** Estimated dollars at the price of a batch, without the reply; null if the price is unknown. */
  readonly cost: number | null;
  /** Most dollars for a run, by the settings; null without limit. */
  readonly most: number | null;
}

/** Options that all sends of one document share. */
export interface SendOptions {
  readonly store: DocumentStore;
  readonly settings: Settings;
  readonly environment: Environment;
  readonly provider: Provider;
  /** Returns the tools to offer; called at each send. */
  readonly tools: () => readonly OfferedTool[];
  readonly emit: Emit;
  readonly fetch?: typeof fetch;
  /** If false, the reply is written once, at its end (`--no-stream`). */
  readonly stream?: boolean;
  /** Milliseconds between commits while streaming. */
  readonly commitInterval?: number;
  /** Returns the tools whose result may be a single file reference; called at each send. @default the built-in ones */
  readonly templatedTools?: () => readonly string[];
  readonly resolvers?: readonly CredentialResolver[];
  /** Where helper programs for keys run. @default in `environment` */
  readonly helpers?: () => HelperPlace;
  /** The frontmatter, which is evaluated once for all sends of a run. */
  readonly frontmatter?: EvaluatedFrontmatter;
  /**
   * The document's journal. @default nothing is remembered: neither files, nor unfinished replies, nor earlier thinking
   */
  readonly journal?: Journal;
  /** Log in which the usage of requests is recorded. @default it is not recorded */
  readonly usage?: UsageLog;
  /**
   * Limits of the requests of a run, and what the requests have used. @default the limits of the settings, for all
   * sends together
   */
  readonly limits?: RunLimits;
  /** True if neither the requests nor their replies are part of the document, as for a summary. @default false */
  readonly isAside?: boolean;
  /** True to repeat a request that may succeed later, as long as no part of a reply arrived. @default true */
  readonly retry?: boolean;
  /**
   * Makes the send fail early, because another model is asked then: after so many attempts, and without long waits, if
   * the provider cannot answer for one of these reasons. @default the send is as patient as the settings say
   */
  readonly giveUp?: { readonly attempts: number; readonly on: readonly Trouble[] };
  /** The model that could not answer and for which this one is asked, as `PROVIDER/MODEL`. @default none */
  readonly insteadOf?: string;
  /**
   * Lets other runs use the document while the request waits for a limit. @default the document stays locked
   */
  readonly pause?: Pause;
  /** Returns findings that prevent requests, after the document changed during a wait. @default none */
  readonly blockers?: () => readonly Diagnostic[];
  /** Limits how many requests the provider gets in parallel. @default the send's own limiter */
  readonly limiter?: RequestLimiter;
  /** The batch that takes the requests, and whose reply answers the first one. @default requests go to the provider */
  readonly batch?: BatchedRequest;
  /** True if the document is trusted, so that it may name what tools of providers returned elsewhere. @default false */
  readonly isTrusted?: () => Promise<boolean>;
  /** Clock for waits and times. @default the clock of this machine */
  readonly clock?: Clock;
}

/** Releases a document for a time, and takes it back with everything that other runs recorded. */
export interface Pause {
  release(): Promise<void>;
  /** Takes the document back if it was released. Fails like `DocumentStore.reclaim`. */
  reclaim(how: Reclaim): Promise<Problem | null>;
}

/** Options with their defaults filled in. */
export type TimedOptions = SendOptions & {
  readonly clock: Clock;
  readonly limits: RunLimits;
  /** The reply of a batch that answers this request. @default the provider answers */
  readonly answer?: BatchAnswer;
};
