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

/** Decides about the tools that the settings ask for. */
export function offerServerTools(
  { display, serverTools }: Pick<Provider, "display" | "serverTools">,
  settings: Pick<Settings, "server_tools">,
  request: { readonly model: string; readonly hasTools: boolean },
): ServerToolOffer {
  return NAMES.filter((name) => settings.server_tools[name].enabled).reduce(
    (offer, name): ServerToolOffer => {
      const ability = serverTools?.[name];
      const refused = (why: string) => ({
        ...offer,
        warnings: [...offer.warnings, `${name} is not offered: ${why}`],
      });
      if (ability === undefined) return refused(`${display} has no such tool that flemma can use.`);
      const obstacle = ability.obstacle?.(request) ?? null;
      if (obstacle !== null) return refused(obstacle);
      const tool = limited(name, settings, ability);
      if (typeof tool === "string") return refused(tool);
      const { price } = ability;
      const cost = offer.cost === null || price === null ? null : offer.cost + price * tool.maxUses;
      return { ...offer, tools: [...offer.tools, tool], cost };
    },
    NOTHING,
  );
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
