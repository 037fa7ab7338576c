// The Lua engine for tests that need one, or null where there is none.

import type { RunChunk } from "../../config/operations.ts";

export function luaRunner(): Promise<RunChunk | null> {
  return Promise.resolve(null);
}
