// The Lua engine for tests that need one, as a runner of blocks.

import { LuaSession } from "../../config/cell/session.ts";
import type { RunChunk } from "../../config/operations.ts";

/** Each block runs in a cell of its own. Nothing can be included, and nothing should be printed. */
export function luaRunner(): Promise<RunChunk | null> {
  const print = (line: string) => {
    throw new Error(`the block prints: ${line}`);
  };
  const loadInclude = () => Promise.resolve(() => () => 0);
  const world = { cwd: "/", home: "/", isReadable: () => false };
  return Promise.resolve((code, draft) =>
    new LuaSession({ filename: "/work/talk.chat", world, print, loadInclude }).run(code, draft)
  );
}
