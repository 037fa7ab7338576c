// Conversion of tools to the format of the Anthropic Messages API.

import { type JsonMembers, toJsonValue } from "../request/json.ts";
import { sortedTools, toolDescription, wireName } from "../request/wire.ts";
import type { OfferedTool, ServerTool } from "../types.ts";

/** Returns the tools of a request; the last one carries the cache breakpoint of the whole list. */
export function wireTools(
  offered: readonly OfferedTool[],
  control: JsonMembers | undefined,
  serverTools: readonly ServerTool[] = [],
): readonly JsonMembers[] {
  const tools = sortedTools(offered);
  const isLast = (index: number) => index === tools.length + serverTools.length - 1;
  const own = tools.map((tool, index) => ({
    name: wireName(tool.name, offered),
    description: toolDescription(tool),
    input_schema: toJsonValue(tool.input_schema),
    eager_input_streaming: true,
    cache_control: isLast(index) ? control : undefined,
  }));
  // They come last, because errors name the person's tools by their place.
  return [
    ...own,
    ...serverTools.map((tool, index) => serverTool(tool, isLast(own.length + index) ? control : undefined)),
  ];
}

/** Version of the tools that the provider runs. */
const VERSION = "20260318";

/** Returns a tool that the provider runs. It is called by the model only, so that no hidden container runs code. */
function serverTool(
  { name, maxUses, allowed, blocked }: ServerTool,
  control: JsonMembers | undefined,
): JsonMembers {
  return {
    type: `${name}_${VERSION}`,
    name,
    max_uses: maxUses,
    allowed_callers: ["direct"],
    allowed_domains: allowed ?? undefined,
    blocked_domains: blocked.length === 0 ? undefined : blocked,
    // Without this, texts that use a fetched page name no source.
    citations: name === "web_fetch" ? { enabled: true } : undefined,
    cache_control: control,
  };
}
