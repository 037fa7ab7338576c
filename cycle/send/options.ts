// Options of a send.

import type { Environment } from "../../base/environment.ts";
import type { Settings } from "../../config/settings.generated.ts";
import type { EvaluatedFrontmatter } from "../../prompt/evaluate.ts";
import type { RequestLimiter } from "../../providers/http/limiter.ts";
import type { Clock } from "../../providers/http/patience.ts";
import type { CredentialResolver } from "../../providers/keys/types.ts";
import type { OfferedTool, Provider } from "../../providers/types.ts";
import type { DocumentStore, Emit, Journal } from "../types.ts";
import type { UsageLog } from "../usage/log.ts";
import type { RunLimits } from "./limits.ts";

/** What all sends of one document use. */
export interface SendOptions {
  readonly store: DocumentStore;
  readonly settings: Settings;
  readonly environment: Environment;
  readonly provider: Provider;
  /** The tools to offer, read at each send. */
  readonly tools: () => readonly OfferedTool[];
  readonly emit: Emit;
  readonly fetch?: typeof fetch;
  /** False writes the reply once, at its end (`--no-stream`). */
  readonly stream?: boolean;
  /** Milliseconds between commits while streaming. */
  readonly commitInterval?: number;
  /** Tools whose result may be a single file reference, read at each send. @default the built-in ones */
  readonly templatedTools?: () => readonly string[];
  readonly resolvers?: readonly CredentialResolver[];
  /** The evaluated frontmatter; evaluated once for all sends of a run. */
  readonly frontmatter?: EvaluatedFrontmatter;
  /**
   * The document's journal. @default nothing is remembered: neither files, nor unfinished replies, nor earlier thinking
   */
  readonly journal?: Journal;
  /** Where the usage of requests is recorded. @default it is not recorded */
  readonly usage?: UsageLog;
  /**
   * What the requests of a run may use, and what they have used. @default those of the settings, for all sends together
   */
  readonly limits?: RunLimits;
  /** Whether to repeat a request that may succeed later, as long as no part of a reply arrived. @default true */
  readonly retry?: boolean;
  /** How many requests the provider gets in parallel. @default its own limiter */
  readonly limiter?: RequestLimiter;
  /** @default the clock of this machine */
  readonly clock?: Clock;
}

/** Options with their defaults filled in. */
export type TimedOptions = SendOptions & { readonly clock: Clock; readonly limits: RunLimits };
