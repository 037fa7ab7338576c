// The tools that the provider of a document runs itself, as a request would offer them.

import type { Environment } from "../../base/environment.ts";
import { type Outcome, success } from "../../base/problem.ts";
import type { Settings } from "../../config/settings.generated.ts";
import { getProvider } from "../../providers/registry.ts";
import { resolveBaseUrl } from "../../providers/http/endpoint.ts";
import { askedServerTools, offerServerTool } from "../../providers/server_tools/offer.ts";
import type { ServerTool } from "../../providers/types.ts";
import type { ToolServer } from "../../tools/definition.ts";

export interface ProviderTool {
  readonly name: ServerTool["name"];
  readonly provider: ToolServer;
  /** The tool with its limits; null if the request does not offer it. */
  readonly offered: ServerTool | null;
  /** Why the request does not offer it, as a sentence; null if it does. */
  readonly why: string | null;
}

/**
 * Returns the tools that the settings ask for. Fails if the provider is unknown.
 *
 * @param hasTools true if the request offers other tools, too
 */
export async function providerTools(
  settings: Settings,
  environment: Environment,
  { hasTools }: { readonly hasTools: boolean },
): Promise<Outcome<readonly ProviderTool[]>> {
  const found = await getProvider(settings.provider, settings);
  if (!found.ok) return found;
  const provider = found.value;
  const url = resolveBaseUrl(provider, settings, environment);
  const host = url.ok ? URL.parse(url.value)?.host ?? null : null;
  const request = { model: settings.model ?? provider.defaultModel ?? "", hasTools };
  return success(
    askedServerTools(settings).map((name): ProviderTool => {
      const tool = offerServerTool(name, provider, settings, request);
      const why = typeof tool === "string" ? tool : null;
      return {
        name,
        provider: { name: provider.name, host },
        offered: typeof tool === "string" ? null : tool,
        why,
      };
    }),
  );
}
