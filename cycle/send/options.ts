// What a send is made with.

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

/** What sends of one document are made with. */
export interface SendOptions {
  readonly store: DocumentStore;
  readonly settings: Settings;
  readonly environment: Environment;
  readonly provider: Provider;
  /** The tools to offer, asked at each send. */
  readonly tools: () => readonly OfferedTool[];
  readonly emit: Emit;
  readonly fetch?: typeof fetch;
  /** False writes the reply once, at its end (`--no-stream`). */
  readonly stream?: boolean;
  /** Milliseconds between commits while streaming. */
  readonly commitInterval?: number;
  /** Tools whose result may be a single file reference, asked at each send. @default those of the program */
  readonly templatedTools?: () => readonly string[];
  readonly resolvers?: readonly CredentialResolver[];
  /** What the document's first block said; evaluated once for all sends of a run. */
  readonly frontmatter?: EvaluatedFrontmatter;
  /** The document's journal. @default nothing is remembered: neither files, nor unfinished replies, nor earlier thinking */
  readonly journal?: Journal;
  /** Where it is remembered what requests used; left out, it is not. */
  readonly usage?: UsageLog;
  /** What the requests of a run may use, and what they have used. @default those of the settings, for all sends together */
  readonly limits?: RunLimits;
  /** Whether a request that may succeed later is made again, as long as nothing of a reply came. @default true */
  readonly retry?: boolean;
  /** How many requests the provider gets in parallel. @default its own limiter */
  readonly limiter?: RequestLimiter;
  /** @default the time of this machine */
  readonly clock?: Clock;
}

/** Options with their defaults filled in. */
export type TimedOptions = SendOptions & { readonly clock: Clock; readonly limits: RunLimits };
