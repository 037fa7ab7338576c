// The tools of a document under its settings: what they are, where they come from, and the approval decision for
// each.

import type { JsonSchema, RunsIn, ToolDefinition, ToolOrigin, ToolServer } from "../../tools/definition.ts";
import type { Environment } from "../../base/environment.ts";
import { type Outcome, type Problem, success } from "../../base/problem.ts";
import { plural } from "../../base/text/plural.ts";
import type { Settings } from "../../config/settings.generated.ts";
import type { PlacedRule } from "../../config/rules/rule.ts";
import { openSeenFiles } from "../../cycle/storage/seen_files.ts";
import type { ServerTool } from "../../providers/types.ts";
import { type RunSandbox, withheldVariables } from "../../sandbox/mod.ts";
import type { ApprovalDecision } from "../../tools/approval/mod.ts";
import { rulesOf } from "../../tools/approval/rules_of.ts";
import { createContext } from "../../tools/context.ts";
import { previewCall } from "../../tools/preview.ts";
import { isExecutable, type ToolRegistry } from "../../tools/registry.ts";
import { sandboxOf } from "../sandbox.ts";
import type { SubjectSettings } from "../settings.ts";
import { offeredTools } from "../extensions/offered.ts";
import { waitForTools } from "../extensions/waiting.ts";
import { createDecideCall, registerTools } from "../tools.ts";
import type { OwnTool } from "../types.ts";

/** One tool, described for people. */
export interface ToolView {
  readonly name: string;
  /** Who registered it; `provider` for a tool that the provider runs. */
  readonly source: ToolOrigin | "provider";
  /** Absolute path of the module or tool file that defines it; null for other tools. */
  readonly file: string | null;
  /** The MCP server or the provider that runs it; null for other tools. */
  readonly server: ToolServer | null;
  /** Harm it can do, by its author; null if its author does not state one. */
  readonly risk: "low" | "medium" | "high" | null;
  /** Where its calls run; null if its file is broken. */
  readonly target: RunsIn | "provider" | null;
  /** Category, by its author; null if its author does not state one. */
  readonly category: string | null;
  /** Why its file cannot be used, or why the provider cannot run it, as a sentence; null if nothing is wrong. */
  readonly fault: string | null;
  readonly description: string;
  readonly input_schema: JsonSchema;
  readonly output_schema: JsonSchema | null;
  readonly strict: boolean;
  readonly capabilities: readonly string[];
  /** True if the next request offers it. */
  readonly offered: boolean;
  /** True if the tool can run. */
  readonly executable: boolean;
  /** The policy's decision for a call without any input. */
  readonly decision: ApprovalDecision["decision"];
  /** Name of the resolver that decided. */
  readonly decidedBy: string;
  /** True if rules check the input, so that the decision may differ from call to call. */
  readonly byInput: boolean;
  /** The preview of a sample call, in which each value is the name of its member. */
  readonly preview: string;
  /** Settings of the tool with its own defaults; null if the tool has no settings. */
  readonly settings: Readonly<Record<string, unknown>> | null;
  /**
   * Names of current environment variables that the tool's commands do not get; null for tools that run no commands.
   */
  readonly withheld: readonly string[] | null;
}

/** Identifies the document whose tools to list. */
export interface ToolsQuestion {
  readonly environment: Environment;
  /** Absolute path of the document; null for the working folder without a document. */
  readonly path: string | null;
  /** The path by which the document was opened, with links unresolved. @default `path` */
  readonly named?: string | null;
  readonly subject: SubjectSettings;
  readonly own?: readonly OwnTool[];
  /** True to request the tool list of each MCP server again, even if the list is cached. @default false */
  readonly refresh?: boolean;
  /** Receives problems of tools, and of sources that do not answer. */
  readonly tell?: (problem: Problem) => void;
}

/** Lists all tools, sorted by the bytes of their names. Fails with the problem of a tool or a resolver. */
export async function toolViews(
  question: ToolsQuestion,
): Promise<Outcome<readonly ToolView[]>> {
  const { environment, path, named, subject, own = [], refresh = false, tell = () => {} } = question;
  const sandbox = sandboxOf(environment, { path, named }, subject);
  const registered = await registerTools(
    { settings: subject.settings, environment, document: path, sandbox },
    own,
    (event) => event.event === "notice" && tell(event),
  );
  if (!registered.ok) return registered;
  const { tools, warnings, end, servers } = registered.value;
  warnings.forEach(tell);
  try {
    if (refresh) (await servers.refresh()).forEach(tell);
    await waitForTools(tools, (event) => event.event === "notice" && tell(event));
    return await viewsOf(tools, sandbox, question);
  } finally {
    await end();
    await servers.close();
  }
}

async function viewsOf(
  tools: ToolRegistry,
  sandbox: RunSandbox,
  { environment, path, subject: { settings, loaded } }: ToolsQuestion,
): Promise<Outcome<readonly ToolView[]>> {
  const rules = await rulesOf({ settings, tools, sandbox, environment, document: path, loaded });
  const seen = await openSeenFiles(environment, path);
  const context = { tools, settings, sandbox, environment, document: path, seen, rules, paths: null };
  const decideCall = createDecideCall(context, [], () => {});
  if (!decideCall.ok) return decideCall;
  const offered = new Set(offeredTools(tools, settings).map(({ name }) => name));
  const withheld = withheldVariables(environment.variables, settings.tools.env, {
    sandboxed: sandbox.enabled,
    kept: sandbox.socketVariables(),
  });
  const views: ToolView[] = [];
  for (const definition of tools.getAll({ includeDisabled: true })) {
    const { name } = definition;
    const { decision, source } = await decideCall.value({ id: "", name, input: {} });
    const context = createContext({
      definition,
      toolId: "",
      document: path,
      settings,
      environment,
      sandbox,
      signal: new AbortController().signal,
    });
    views.push({
      name,
      source: definition.origin,
      file: definition.file,
      server: definition.server ?? null,
      risk: definition.risk ?? null,
      target: definition.fault === undefined ? definition.runs : null,
      category: definition.category ?? null,
      fault: definition.fault ?? null,
      description: definition.description,
      input_schema: definition.input_schema,
      output_schema: definition.output_schema ?? null,
      strict: definition.strict === true,
      capabilities: definition.capabilities ?? [],
      offered: offered.has(name),
      executable: isExecutable(definition) && definition.fault === undefined,
      decision,
      decidedBy: source,
      byInput: settings.tools.rules.some((rule) => readsInput(rule, name)),
      preview: previewCall(definition, name, sampleOf(definition), SAMPLE_WIDTH),
      settings: context.getConfig(),
      withheld: definition.command_input === undefined ? null : withheld,
    });
  }
  const byProvider = await providerViews(settings, environment, views.some((view) => view.offered));
  if (!byProvider.ok) return byProvider;
  return success([...views, ...byProvider.value].sort((a, b) => a.name < b.name ? -1 : 1));
}

/** Describes the tools that the provider runs. Their code is loaded only if the settings ask for one. */
async function providerViews(
  settings: Settings,
  environment: Environment,
  hasTools: boolean,
): Promise<Outcome<readonly ToolView[]>> {
  const { web_search: search, web_fetch: fetch } = settings.server_tools;
  if (!search.enabled && !fetch.enabled) return success([]);
  const { providerTools } = await import("../extensions/provider_tools.ts");
  const found = await providerTools(settings, environment, { hasTools });
  if (!found.ok) return found;
  return success(found.value.map(({ name, provider, offered, why }): ToolView => ({
    ...PROVIDER_TOOL,
    name,
    server: provider,
    fault: why,
    description: DESCRIPTIONS[name],
    offered: offered !== null,
    preview: offered === null ? "" : limitsOf(offered),
  })));
}

/** What all tools that the provider runs have in common. No resolver decides about their uses. */
const PROVIDER_TOOL = {
  source: "provider",
  file: null,
  risk: null,
  target: "provider",
  category: null,
  input_schema: {},
  output_schema: null,
  strict: false,
  capabilities: [],
  executable: true,
  decision: "approve",
  decidedBy: "server_tools",
  byInput: false,
  settings: null,
  withheld: null,
} as const;

const DESCRIPTIONS: Readonly<Record<ServerTool["name"], string>> = {
  web_search:
    "The provider searches the web. The queries leave this machine, and nobody is asked for each use.",
  web_fetch:
    "The provider fetches pages. Their addresses leave this machine, and nobody is asked for each use.",
};

/** Returns the limits of a tool that the provider runs. */
function limitsOf({ maxUses, allowed, blocked }: ServerTool): string {
  const domains = allowed !== null
    ? `; only ${allowed.join(", ")}`
    : blocked.length > 0
    ? `; not ${blocked.join(", ")}`
    : "";
  return `up to ${plural(maxUses, "use")} a request${domains}`;
}

/** Width of a preview in cells, wide enough for every sample. */
const SAMPLE_WIDTH = 1000;

function readsInput({ rule }: PlacedRule, name: string): boolean {
  return rule.tools.some((tool) => tool === name || tool === "*") &&
    [rule.command, rule.path, rule.within, rule.input].some((condition) => condition !== undefined);
}

/** Returns a sample input. Each text is the name of its member in capitals, and optional members are null. */
function sampleOf({ input_schema: { properties } }: ToolDefinition): Record<string, unknown> {
  if (typeof properties !== "object" || properties === null) return {};
  const sample: Record<string, unknown> = {};
  for (const [name, { type }] of Object.entries(properties as Record<string, JsonSchema>)) {
    if (type === "string") sample[name] = name.toUpperCase();
    else if (Array.isArray(type) && type.includes("null")) sample[name] = null;
  }
  return sample;
}
