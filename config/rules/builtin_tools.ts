// What settings know of the program's own tools, whose definitions lie in a room above.

import type { BuiltinFact } from "../types.ts";
import { BUILTIN_TOOLS } from "./builtin_tools.generated.ts";

const FACTS: ReadonlyMap<string, BuiltinFact> = new Map(BUILTIN_TOOLS.map((tool) => [tool.name, tool]));

/** The facts about the program's own tool of a name, also where another tool replaces it. */
export function builtinFact(name: string): BuiltinFact | undefined {
  return FACTS.get(name);
}
