// Conversion of tools to the format of the Anthropic Messages API.

import { type JsonMembers, toJsonValue } from "../request/json.ts";
import { sortedTools, toolDescription, wireName } from "../request/wire.ts";
import type { OfferedTool } from "../types.ts";

/** Returns the tools of a request; the last one carries the cache breakpoint of the whole list. */
export function wireTools(
  offered: readonly OfferedTool[],
  control: JsonMembers | undefined,
): readonly JsonMembers[] {
  const tools = sortedTools(offered);
  return tools.map((tool, index) => ({
    name: wireName(tool.name, offered),
    description: toolDescription(tool),
    input_schema: toJsonValue(tool.input_schema),
    eager_input_streaming: true,
    cache_control: index === tools.length - 1 ? control : undefined,
  }));
}
