// Conversion of the person's Lua limits to the units of the cell.

import { DEFAULT_LIMITS, type LuaLimits } from "../../lua/vm/budget.ts";
import type { FrontmatterLimits } from "../settings.generated.ts";

export function luaLimits({ max_steps, max_seconds, max_memory_mb }: FrontmatterLimits): LuaLimits {
  return { ...DEFAULT_LIMITS, steps: max_steps, seconds: max_seconds, memory: max_memory_mb * 1024 * 1024 };
}
