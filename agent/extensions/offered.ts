// Selects the tools that a request offers and the tools that may attach files. Also finds unknown names in the list of
// tools.

import { BUILTIN_CATALOG } from "../../config/schema/catalog.ts";
import type { Settings } from "../../config/settings.generated.ts";
import { foreignTool } from "../../config/data/hints.ts";
import type { Diagnostic, Frontmatter } from "../../parser/types.ts";
import { FILE_RESULT_CAPABILITY, type ToolDefinition } from "../../tools/definition.ts";
import type { ToolRegistry } from "../../tools/registry.ts";

/**
 * Returns the tools that a request offers. If a settings layer assigned a list, these are exactly the tools of that
 * list, even disabled ones. Otherwise they are the enabled tools, plus those that layers added, minus those that
 * layers removed.
 */
export function offeredTools(tools: ToolRegistry, settings: Settings): ToolDefinition[] {
  const { offered, left_out, named } = settings.tools;
  const byItself = (definition: ToolDefinition) =>
    named[definition.name]?.enabled !== false && tools.isEnabled(definition, settings);
  return tools.getAll({ includeDisabled: true }).filter((definition) => {
    if (offered === null) return byItself(definition);
    if (offered.includes(definition.name)) return true;
    return left_out !== null && !left_out.includes(definition.name) && byItself(definition);
  });
}

/**
 * Returns the names of the tools whose result may be a reference to a file. Only built-in tools and tools of a host
 * may declare that.
 */
export function fileResultTools(tools: ToolRegistry): string[] {
  return tools.getAll({ includeDisabled: true })
    .filter(({ origin, capabilities }) =>
      (origin === "built-in" || origin === "host") && capabilities?.includes(FILE_RESULT_CAPABILITY)
    ).map(({ name }) => name);
}

/**
 * Returns a finding for each name in the list of tools that belongs to no tool after all sources have answered. A
 * built-in tool that is not registered (`skill` if there is no skill) gives no finding; it is only not offered.
 *
 * @param block the frontmatter, if any; the findings point to its lines
 */
export function unknownTools(
  tools: ToolRegistry,
  { tools: { offered } }: Settings,
  block: Frontmatter | null,
): Diagnostic[] {
  const isBuiltin = (name: string) => BUILTIN_CATALOG.tools.some((tool) => tool.name === name);
  return (offered ?? []).filter((name) => !tools.has(name) && !isBuiltin(name)).map((name) => {
    const known = foreignTool(name);
    const near = known !== null && tools.has(known) ? known : tools.closestMatch(name);
    const source = tools.unaskedSource(name);
    const why = source !== null
      ? `; it may come from ${source}, which is not available`
      : near === null
      ? ""
      : `; did you mean "${near}"?`;
    return {
      code: "config_unknown_tool",
      type: "config",
      severity: "error",
      message: `"tools" names the tool "${name}", which does not exist${why}`,
      key: "tools",
      ...(near === null ? {} : { suggestion: near }),
      ...(block === null ? {} : { start: block.start, end: block.end }),
    };
  });
}
