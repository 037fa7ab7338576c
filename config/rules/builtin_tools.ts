// Facts about the built-in tools for settings. The tools themselves are defined in a folder above this one.

import type { BuiltinFact } from "../types.ts";
import { BUILTIN_TOOLS } from "./builtin_tools.generated.ts";

const FACTS: ReadonlyMap<string, BuiltinFact> = new Map(BUILTIN_TOOLS.map((tool) => [tool.name, tool]));

/** Returns the facts about the built-in tool of that name, even if another tool replaces it. */
export function builtinFact(name: string): BuiltinFact | undefined {
  return FACTS.get(name);
}
