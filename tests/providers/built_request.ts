// Requests that are built for a provider without sending them, and what the strict server says about them.

import assert from "node:assert/strict";
import { DEFAULT_SETTINGS, type Settings } from "../../config/settings.generated.ts";
import { parse } from "../../parser/mod.ts";
import { evaluateChat } from "../../prompt/evaluate.ts";
import { resolveBaseUrl } from "../../providers/http/endpoint.ts";
import { resolveCredential } from "../../providers/keys/credentials.ts";
import { getProvider } from "../../providers/registry.ts";
import { REFUSALS, StrictMessages } from "../../providers/replay/strict/mod.ts";
import type { OfferedTool } from "../../providers/types.ts";
import type { ApiKind } from "../../providers/vendors.ts";

export const AT_HOME = { cwd: "/", home: "/", variables: {} };

const TOOL: OfferedTool = {
  name: "ls",
  description: "List files",
  input_schema: { type: "object", properties: {}, additionalProperties: false },
};

/** A loop of calls with thinking, then another question: what the vendors check first. */
export const TALK = [
  "@System:",
  "Be brief.",
  "@You:",
  "first",
  "@Assistant:",
  "<thinking>",
  "I look.",
  "</thinking>",
  "",
  "**Tool Use:** `ls` (`call_00_abcdefghijkl`)",
  "",
  "```json",
  "{}",
  "```",
  "",
  "@You:",
  "**Tool Result:** `call_00_abcdefghijkl`",
  "",
  "```",
  "out",
  "```",
  "",
  "@Assistant:",
  "<thinking>",
  "Now I know.",
  "</thinking>",
  "Done.",
  "@You:",
  "next",
  "",
].join("\n");

/** A built request. */
export interface Built {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  // deno-lint-ignore no-explicit-any
  readonly body: any;
  readonly text: string;
}

export async function build(
  provider: string,
  options: {
    readonly model: string;
    readonly entry?: Settings["providers"][string];
    readonly variables?: Readonly<Record<string, string>>;
    readonly parameters?: Readonly<Record<string, unknown>>;
    readonly document?: string;
    readonly recall?: (about: string) => string | null;
  },
): Promise<Built> {
  const { model, entry, variables = {}, parameters, document = TALK, recall } = options;
  const settings: Settings = {
    ...DEFAULT_SETTINGS,
    provider,
    model,
    parameters: { ...DEFAULT_SETTINGS.parameters, ...parameters },
    providers: entry === undefined ? {} : { [provider]: entry },
  };
  const found = await getProvider(provider, settings);
  assert.ok(found.ok, JSON.stringify(found));
  const environment = { ...AT_HOME, variables };
  const baseUrl = resolveBaseUrl(found.value, settings, environment);
  assert.ok(baseUrl.ok, JSON.stringify(baseUrl));
  const key = await resolveCredential({ provider: found.value, environment, settings }, []);
  const prompt = await evaluateChat(parse(new TextEncoder().encode(document)), {
    document: null,
    environment: AT_HOME,
  });
  const variable = found.value.keyVariables.find((name) => variables[name]);
  const { request } = found.value.buildRequest({
    prompt,
    tools: [TOOL],
    settings,
    cacheKey: null,
    key: variable === undefined ? "" : variables[variable]!,
    baseUrl: baseUrl.value,
    day: "2026-11-28",
    recall,
  });
  assert.ok(key.ok || variable !== undefined, "a key was needed");
  return { url: request.url, headers: request.headers, body: JSON.parse(request.body), text: request.body };
}

/** What the strict server of an API would refuse a request for. */
export async function problems(
  kind: ApiKind,
  { url, headers, body, text }: Built,
): Promise<readonly string[]> {
  const asked = { path: new URL(url).pathname, text, body, headers: new Headers(headers) };
  if (kind === "openai") return REFUSALS.openai(asked);
  if (kind === "openai_chat") return REFUSALS.chat(asked);
  const taken = await new StrictMessages({ id: "x" }, false).take(asked);
  return "message" in taken ? [taken.message] : [];
}
