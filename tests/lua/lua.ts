// The Lua engine for tests: runs blocks and returns their results.

import type { Catalog } from "../../config/schema/catalog.ts";
import { DEFAULT_LIMITS, type LuaLimits } from "../../lua/vm/budget.ts";
import { LuaSession } from "../../config/document/lua_session.ts";
import { draftLayer } from "../../config/layers/draft.ts";
import { LayerLog } from "../../config/layers/log.ts";
import type { ChunkOutcome, LayerDraft, RunChunk } from "../../config/types.ts";

/** A session in which nothing can be included; what the block prints goes to `print`. */
export function session(print: (line: string) => void, limits: Partial<LuaLimits> = {}): LuaSession {
  return new LuaSession({
    filename: "/srv/talk.chat",
    world: { cwd: "/srv", home: "/home/ada", isReadable: (path) => path === "/srv/there.md" },
    limits: { ...DEFAULT_LIMITS, ...limits },
    print,
    loadInclude: () => Promise.resolve(() => () => 0),
  });
}

/** Each block runs in a cell of its own. Nothing should be printed. */
export function luaRunner(): Promise<RunChunk> {
  const print = (line: string) => {
    throw new Error(`the block prints: ${line}`);
  };
  return Promise.resolve((code, draft) => session(print).run(code, draft));
}

/** A block that was run against a fresh layer over the defaults. */
export interface Run extends ChunkOutcome {
  readonly draft: LayerDraft;
  readonly printed: readonly string[];
  /** Codes of the problems, in order. */
  readonly codes: readonly string[];
}

const TOOLS = ["bash", "read", "edit", "write", "grep", "find", "ls"];

export async function runLua(code: string, limits: Partial<LuaLimits> = {}): Promise<Run> {
  const catalog: Catalog = { tools: TOOLS.map((name) => ({ name, enabled: true })) };
  const draft = draftLayer({ layer: "M", others: [new LayerLog("D")], catalog, lua: true });
  const printed: string[] = [];
  const outcome = await session((line) => printed.push(line), limits).run(code, draft);
  return { ...outcome, draft, printed, codes: outcome.problems.map((problem) => problem.code) };
}
