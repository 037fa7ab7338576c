// Builds and sends the requests of a document, after every tool source has answered.

import { RunLimits } from "../../cycle/send/limits.ts";
import type { Pause } from "../../cycle/send/options.ts";
import { openUsageLog } from "../../cycle/usage/log.ts";
import type { CycleParts } from "../../cycle/mod.ts";
import type { Emit, Send } from "../../cycle/types.ts";
import type { Diagnostic } from "../../parser/types.ts";
import { listedTools } from "../../tools/registration/personality.ts";
import type { ToolServers } from "../extensions/mcp.ts";
import { fileResultTools, offeredTools, unknownTools } from "../extensions/offered.ts";
import { waitForTools } from "../extensions/waiting.ts";
import { helperPlace } from "../extensions/helper_place.ts";
import { createSender } from "./sender.ts";
import type { ToolsSubject } from "../tools.ts";
import type { Composed, Runtime, RuntimeOptions } from "./types.ts";

/** Creates the list of offered tools, the other parts of requests, and the function that sends them. */
export function createRequestParts(
  { tools, servers, subject, store, blocks, journal, blockers, pause }: Composed & {
    readonly tools: ToolsSubject["tools"];
    readonly servers: ToolServers;
    readonly blockers: () => readonly Diagnostic[];
    readonly pause: Pause | undefined;
  },
  { environment, provider, fetch, stream = true, retry = true, limiter, compacts, batch }: RuntimeOptions,
  emit: Emit,
):
  & Pick<Runtime, "offered" | "templatedTools" | "unknownTools" | "toolsReady" | "evaluated" | "limits">
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
  const limits = new RunLimits(settings, { compacts });
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
    helpers: helperPlace(settings, environment, store.path),
    usage: openUsageLog(environment),
    limits,
    blockers,
    pause,
  }, evaluated);
  const send: Send = async (signal, how) => {
    const diagnostics = await toolsReady(signal);
    for (const diagnostic of diagnostics) emit({ event: "diagnostic", diagnostic });
    return diagnostics.length > 0 ? { kind: "blocked", diagnostics } : await request(signal, how);
  };
  return { offered, templatedTools, unknownTools: unknown, toolsReady, evaluated, limits, send };
}

/** Returns the date in the person's time zone, as `2026-11-28`. */
function localDay(date: Date): string {
  const [month, day] = [date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, "0"));
  return `${date.getFullYear()}-${month}-${day}`;
}
