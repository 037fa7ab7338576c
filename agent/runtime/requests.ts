// Builds and sends the requests of a document, after every tool source has answered.

import type { RunLimits } from "../../cycle/send/limits.ts";
import type { Pause } from "../../cycle/send/options.ts";
import { openUsageLog } from "../../cycle/usage/log.ts";
import type { CycleParts } from "../../cycle/mod.ts";
import type { DocumentStore, Emit, Journal, Send } from "../../cycle/types.ts";
import type { Diagnostic } from "../../parser/types.ts";
import { listedTools } from "../../tools/registration/personality.ts";
import type { ToolServers } from "../extensions/mcp.ts";
import { fileResultTools, offeredTools, unknownTools } from "../extensions/offered.ts";
import { waitForTools } from "../extensions/waiting.ts";
import { helperPlace } from "../extensions/helper_place.ts";
import { isTrustedDocument } from "../trust/agreement.ts";
import { createSender, providerOf } from "./sender.ts";
import type { ToolsSubject } from "../tools.ts";
import type { Composed, Runtime, RuntimeOptions } from "./types.ts";
import type { Environment } from "../../base/environment.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import type { Settings } from "../../config/settings.generated.ts";
import type { RequestOptions } from "../../cycle/send/request.ts";
import type { EvaluatedFrontmatter } from "../../prompt/evaluate.ts";
import { withLearned } from "../../providers/models/learned.ts";
import { KeyMemory } from "../../providers/keys/memory.ts";
import type { OfferedTool, Provider } from "../../providers/types.ts";

/** Creates the list of offered tools, the other parts of requests, and the function that sends them. */
export function createRequestParts(
  { tools, servers, subject, store, blocks, journal, blockers, pause, limits }: Composed & {
    readonly limits: RunLimits;
    readonly tools: ToolsSubject["tools"];
    readonly servers: ToolServers;
    readonly blockers: () => readonly Diagnostic[];
    readonly pause: Pause | undefined;
  },
  { environment, provider, fetch, stream = true, retry = true, limiter, batch, isAside }: RuntimeOptions,
  emit: Emit,
):
  & Pick<Runtime, "offered" | "templatedTools" | "unknownTools" | "toolsReady" | "evaluated" | "isTrusted">
  & Pick<CycleParts, "send"> {
  const { settings } = subject;
  const offered = () => offeredTools(tools, settings);
  const templatedTools = () => fileResultTools(tools);
  const unknown = () => (tools.isReady() ? unknownTools(tools, settings, blocks.frontmatter) : []);
  const toolsReady = async (signal?: AbortSignal) => {
    await Promise.all([servers.update(), waitForTools(tools, emit, signal)]);
    return unknown();
  };
  const evaluated = () =>
    subject.evaluated({
      tools: (personality) => listedTools(offered(), personality),
      day: journal.promptDay() ?? localDay(new Date()),
    });
  const isTrusted = async () => await isTrustedDocument(environment, store.path, subject, blocks.frontmatter);
  const request = createSender({
    store,
    settings,
    environment,
    provider,
    fetch,
    tools: offered,
    templatedTools,
    emit,
    journal,
    stream,
    retry,
    limiter,
    batch,
    isAside,
    helpers: helperPlace(settings, environment, store.path),
    usage: openUsageLog(environment),
    limits,
    blockers,
    pause,
    isTrusted,
  }, evaluated);
  const send: Send = async (signal, how) => {
    const diagnostics = await toolsReady(signal);
    for (const diagnostic of diagnostics) emit({ event: "diagnostic", diagnostic });
    return diagnostics.length > 0 ? { kind: "blocked", diagnostics } : await request(signal, how);
  };
  return { offered, templatedTools, unknownTools: unknown, toolsReady, evaluated, isTrusted, send };
}

/** Returns the date in the person's time zone, as `2026-11-28`. */
function localDay(date: Date): string {
  const [month, day] = [date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, "0"));
  return `${date.getFullYear()}-${month}-${day}`;
}

/** What a request is made from. */
interface RequestSources {
  readonly subject: { readonly settings: Settings };
  /** Waits for every tool source; returns the findings that prevent a request. */
  toolsReady(signal?: AbortSignal): Promise<readonly Diagnostic[]>;
  offered(): readonly OfferedTool[];
  templatedTools(): readonly string[];
  evaluated(): Promise<EvaluatedFrontmatter>;
  readonly journal: Journal;
  isTrusted(): Promise<boolean>;
}

/** Collects the parts of a request, for showing it or counting its tokens without sending it. */
export async function requestParts(
  store: Pick<DocumentStore, "chat" | "path">,
  { subject: { settings }, toolsReady, offered, templatedTools, evaluated, journal, isTrusted }:
    RequestSources,
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
    isTrusted,
  });
}
