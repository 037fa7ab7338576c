// The request of Gemini's streamGenerateContent for Vertex AI and the Gemini API.

import { endpointUrl } from "../http/endpoint.ts";
import { entryHeaders } from "../http/entry_headers.ts";
import { choiceOf } from "../models/choice.ts";
import { findModel } from "../models/find.ts";
import { effortsOf } from "../models/table.ts";
import type { Model, ModelThinking } from "../models/types.ts";
import { modelWarnings } from "../models/warnings.ts";
import { resolveEffort } from "../request/effort.ts";
import { type JsonMembers, toJsonValue, writeBody } from "../request/json.ts";
import { withExtraBody } from "../request/extra_body.ts";
import { withBody } from "../http/body.ts";
import {
  idleRetention,
  type RequestParameters,
  resolveMaxTokens,
  resolveParameters,
} from "../request/parameters.ts";
import { reusedIdWarnings } from "../request/pairing.ts";
import { sentTemperature } from "../request/sampling.ts";
import { resolveThinking } from "../request/thinking.ts";
import { sortedTools, toolDescription, USER_AGENT, wireName } from "../request/wire.ts";
import type { OfferedTool, ProviderRequest, RequestInput, ServerTool } from "../types.ts";
import { wireContents } from "./contents.ts";

const TRAILING_KEYS = ["tools", "contents"] as const;

/** API flavor (Vertex AI or Gemini API) and its addressing. */
export interface Door {
  readonly provider: "vertex" | "gemini";
  /** Returns the path of a model's method below the base URL. */
  path(model: string, parameters: RequestParameters): string;
  headers(key: string): Readonly<Record<string, string>>;
}

/** Builds the request; a pure function of its input. */
export function buildRequest(
  door: Door,
  input: RequestInput,
): { request: ProviderRequest; warnings: readonly string[] } {
  const { prompt, settings, leftOut, fallbacks = new Set() } = input;
  const { provider } = door;
  const parameters = resolveParameters(settings, provider);
  const name = modelName(settings.model ?? choiceOf(provider)!.standard);
  const model = findModel(provider, name, settings);
  const maxTokens = resolveMaxTokens(parameters.maxTokens, model);
  const asked = askThinking(parameters, name, model);
  const sampling = sentTemperature(parameters.temperature, model, asked.thinks);
  const tools = sortedTools(input.tools).map(declaration);
  const { serverTools = [] } = input;
  const wire = [
    ...(tools.length === 0 ? [] : [{ functionDeclarations: tools }]),
    ...serverTools.map(serverTool),
  ];
  const system = prompt.system ?? "";
  const body: JsonMembers = {
    generationConfig: {
      maxOutputTokens: fallbacks.has("reply-limit") ? undefined : maxTokens.tokens,
      temperature: fallbacks.has("sampling") ? undefined : sampling.temperature,
      thinkingConfig: fallbacks.has("thinking") ? undefined : asked.config,
    },
    // Vertex AI has no such member; there, a project's own setting decides.
    store: provider === "vertex" || fallbacks.has("store") ? undefined : false,
    systemInstruction: system.trim() === "" ? undefined : { parts: [{ text: system }] },
    tools: wire.length === 0 ? undefined : wire,
    toolConfig: toolConfig(tools.length > 0, serverTools.length > 0 && provider === "gemini"),
    contents: wireContents(prompt, {
      provider,
      foreign: parameters.thinking.foreign,
      model: name,
      leftOut,
      recall: input.recall ?? (() => null),
      signatures: fallbacks.has("earlier-thinking")
        ? "stand-ins"
        : (model?.thinking?.kind ?? "effort") === "effort"
        ? "demanded"
        : "own",
    }),
  };
  const url = new URL(endpointUrl(input.baseUrl, pathBelow(input.baseUrl, door.path(name, parameters))));
  url.searchParams.set("alt", "sse");
  return {
    request: withBody(
      {
        method: "POST",
        url: url.href,
        headers: {
          ...entryHeaders(settings, provider, { key: "", usual: "bearer" }),
          ...door.headers(input.key),
          "content-type": "application/json",
          "user-agent": USER_AGENT,
        },
      },
      writeBody(withExtraBody(body, settings, provider), TRAILING_KEYS),
    ),
    warnings: [
      ...reusedIdWarnings(prompt),
      ...modelWarnings(provider, name, model, input.day),
      ...maxTokens.warnings,
      ...asked.warnings,
      ...sampling.warnings,
      ...idleRetention(parameters.cacheRetention, name),
    ],
  };
}

/**
 * Returns the path below a base URL. A base URL with its own version, as gateways have, keeps that version instead of
 * the default one.
 */
function pathBelow(baseUrl: string, path: string): string {
  const versioned = /\/v\d\w*\/*$/.test(new URL(baseUrl).pathname);
  return versioned ? path.slice(path.indexOf("/", 1)) : path;
}

/** Removes the collection that model lists put before the name; the path already contains it. */
function modelName(name: string): string {
  return name.replace(/^models\//, "");
}

function declaration(tool: OfferedTool, _at: number, offered: readonly OfferedTool[]): JsonMembers {
  return {
    name: wireName(tool.name, offered),
    description: toolDescription(tool),
    parametersJsonSchema: toJsonValue(tool.input_schema),
  };
}

function serverTool({ name, blocked }: ServerTool): JsonMembers {
  if (name === "web_fetch") return { urlContext: {} };
  return { googleSearch: blocked.length === 0 ? {} : { excludeDomains: blocked } };
}

/** Asks for the calls of tools that the API runs, so that they can go back. Vertex AI does not know this. */
function toolConfig(hasFunctions: boolean, includesServerTools: boolean): JsonMembers | undefined {
  if (!hasFunctions && !includesServerTools) return undefined;
  return {
    functionCallingConfig: hasFunctions ? { mode: "AUTO" } : undefined,
    includeServerSideToolInvocations: includesServerTools ? true : undefined,
  };
}

/** Matches the families whose models take a level for thinking. */
const TAKES_LEVEL = /^gemini-(?:[3-9]|\d\d)/;

/** Thinking assumed for a new model of such a family: levels that every one of them accepts. */
const NEW_MODEL: ModelThinking = {
  kind: "effort",
  unasked: "always",
  words: ["LOW", "HIGH"],
  efforts: effortsOf(["LOW", "HIGH"]),
};

interface Asked {
  readonly config?: JsonMembers;
  readonly thinks: boolean;
  readonly warnings: readonly string[];
}

/**
 * Builds the thinking parameters. Models since Gemini 3 take a level, older ones a number of tokens; for unknown
 * models nothing is sent.
 */
function askThinking(parameters: RequestParameters, name: string, model: Model | null): Asked {
  const { thinking_budget: budget } = parameters.own;
  const { level } = parameters.thinking;
  const facts = model?.thinking ?? (TAKES_LEVEL.test(name) ? NEW_MODEL : null);
  if (facts === null || facts.kind === "effort") {
    const wanted = typeof budget === "number" ? budget : level;
    const { effort, thinks, warnings } = resolveEffort(wanted, null, facts, name);
    const config = effort === null ? undefined : { includeThoughts: true, thinkingLevel: effort };
    return { config, thinks, warnings };
  }
  if (facts.kind !== "budget") return { thinks: false, warnings: [] };
  const wanted = resolveThinking(level, budget, model, 1);
  if (wanted === null) return { thinks: false, warnings: [] };
  return { config: { includeThoughts: true, thinkingBudget: wanted.budget }, thinks: true, warnings: [] };
}
