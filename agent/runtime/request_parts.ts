// Collects the parts of a request, for showing it or counting its tokens without sending it.

import type { Environment } from "../../base/environment.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import type { Settings } from "../../config/settings.generated.ts";
import type { RequestOptions } from "../../cycle/send/request.ts";
import type { DocumentStore, Journal } from "../../cycle/types.ts";
import type { Diagnostic } from "../../parser/types.ts";
import type { EvaluatedFrontmatter } from "../../prompt/evaluate.ts";
import { withLearned } from "../../providers/models/learned.ts";
import { KeyMemory } from "../../providers/keys/memory.ts";
import type { OfferedTool, Provider } from "../../providers/types.ts";
import { helperPlace } from "../extensions/helper_place.ts";
import { providerOf } from "./sender.ts";

export interface RequestSources {
  readonly subject: { readonly settings: Settings };
  /** Waits for every tool source; returns the findings that prevent a request. */
  toolsReady(signal?: AbortSignal): Promise<readonly Diagnostic[]>;
  offered(): readonly OfferedTool[];
  templatedTools(): readonly string[];
  evaluated(): Promise<EvaluatedFrontmatter>;
  readonly journal: Journal;
}

export async function requestParts(
  store: Pick<DocumentStore, "chat" | "path">,
  { subject: { settings }, toolsReady, offered, templatedTools, evaluated, journal }: RequestSources,
  { environment, provider: given, signal }: {
    readonly environment: Environment;
    readonly provider?: Provider;
    readonly signal?: AbortSignal;
  },
): Promise<Outcome<RequestOptions>> {
  const [unknown] = await toolsReady(signal);
  if (unknown !== undefined) return failure(unknown.code, unknown.message);
  const provider = await providerOf({ provider: given, settings });
  if (!provider.ok) return provider;
  return success({
    chat: store.chat,
    document: store.path,
    settings: await withLearned(environment, settings),
    environment,
    provider: provider.value,
    tools: offered(),
    templatedTools: templatedTools(),
    frontmatter: await evaluated(),
    keys: new KeyMemory(() => 0, undefined, helperPlace(settings, environment, store.path)),
    journal,
  });
}
