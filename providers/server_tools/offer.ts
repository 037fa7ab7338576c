// Decides which of the provider's own tools a request offers, from the settings and the provider's abilities.

import type { Settings } from "../../config/settings.generated.ts";
import { covers } from "../../config/layers/narrowing.ts";
import type { Provider, ServerTool, ServerToolAbility, ServerToolName } from "../types.ts";

export interface ServerToolOffer {
  readonly tools: readonly ServerTool[];
  /** Sentences about tools that the settings ask for but the request does not offer. */
  readonly warnings: readonly string[];
  /** The most dollars that the uses of the tools can cost; null if a price is unknown. */
  readonly cost: number | null;
}

const NAMES: readonly ServerToolName[] = ["web_search", "web_fetch"];

const NOTHING: ServerToolOffer = { tools: [], warnings: [], cost: 0 };

type RequestFacts = { readonly model: string; readonly hasTools: boolean };

/** Decides about the tools that the settings ask for. */
export function offerServerTools(
  provider: Pick<Provider, "display" | "serverTools">,
  settings: Pick<Settings, "server_tools">,
  request: RequestFacts,
): ServerToolOffer {
  return askedServerTools(settings).reduce(
    (offer, name): ServerToolOffer => {
      const tool = offerServerTool(name, provider, settings, request);
      if (typeof tool === "string") {
        return { ...offer, warnings: [...offer.warnings, `${name} is not offered: ${tool}`] };
      }
      const price = provider.serverTools?.[name]?.price ?? null;
      const cost = offer.cost === null || price === null ? null : offer.cost + price * tool.maxUses;
      return { ...offer, tools: [...offer.tools, tool], cost };
    },
    NOTHING,
  );
}

/** Returns the tools that the settings ask for. */
export function askedServerTools(
  { server_tools }: Pick<Settings, "server_tools">,
): readonly ServerToolName[] {
  return NAMES.filter((name) => server_tools[name].enabled);
}

/** Returns a tool that the settings ask for, as a request offers it, or why the request does not offer it. */
export function offerServerTool(
  name: ServerToolName,
  { display, serverTools }: Pick<Provider, "display" | "serverTools">,
  settings: Pick<Settings, "server_tools">,
  request: RequestFacts,
): ServerTool | string {
  const ability = serverTools?.[name];
  if (ability === undefined) return `${display} has no such tool that flemma can use.`;
  return ability.obstacle?.(request) ?? limited(name, settings, ability);
}

/** Returns the tool with its limits, or why the provider cannot keep to them. */
function limited(
  name: ServerToolName,
  settings: Pick<Settings, "server_tools">,
  { allows, blocks }: ServerToolAbility,
): ServerTool | string {
  const { max_uses: maxUses, allowed_domains: allowed, blocked_domains: blocked } =
    settings.server_tools[name];
  if (allowed === null) {
    return blocked.length > 0 && !blocks
      ? "the provider cannot block domains, and server_tools." + name + ".blocked_domains names some."
      : { name, maxUses, allowed: null, blocked };
  }
  // A request may have only one of the lists, so a domain with a blocked one below it is not allowed either.
  const rest = allowed.filter((domain) =>
    !blocked.some((each) => covers(each, domain) || covers(domain, each))
  );
  if (rest.length === 0) return `server_tools.${name}.allowed_domains leaves no domain.`;
  return allows
    ? { name, maxUses, allowed: rest, blocked: [] }
    : `the provider cannot keep to domains, and server_tools.${name}.allowed_domains names some.`;
}
