// The person's limits on Lua, in the units of the cell.

import { DEFAULT_LIMITS, type Limits } from "../../lua/vm/budget.ts";
import type { FrontmatterLimits } from "../settings.generated.ts";

/** `frontmatter.max_*` over what else bounds a cell. */
export function luaLimits({ max_steps, max_seconds, max_memory_mb }: FrontmatterLimits): Limits {
  return { ...DEFAULT_LIMITS, steps: max_steps, seconds: max_seconds, memory: max_memory_mb * 1024 * 1024 };
}
