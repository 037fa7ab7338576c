// The servers of the program mcporter as a source of tools of a document, where the person switched it on.

import type { Problem } from "../../base/problem.ts";
import { toolEnvironment } from "../../sandbox/policy/tool_environment.ts";
import { mcporterSource } from "../../tools/mcp/mcporter/source.ts";
import type { ToolRegistry } from "../../tools/registry.ts";
import type { EndTools, SourcesSubject } from "./sources_subject.ts";

/** Registers the source; gives what ends the asking. Nothing is asked yet. */
export function addMcporter(
  tools: ToolRegistry,
  { environment, sandbox, settings }: SourcesSubject & Required<Pick<SourcesSubject, "sandbox">>,
  warn: (problem: Problem) => void,
): EndTools {
  const over = new AbortController();
  tools.register(mcporterSource({
    settings: settings.tools.mcporter,
    path: settings.tools.mcporter.path,
    environment,
    sandbox,
    env: () =>
      toolEnvironment(environment.variables, settings.tools.env, {
        sandboxed: sandbox.enabled,
        kept: sandbox.keptVariables?.(),
        added: sandbox.addedVariables?.(),
      }),
    signal: over.signal,
    warn: (message) => warn({ code: "mcporter-server", message }),
  }));
  return () => Promise.resolve(over.abort());
}
