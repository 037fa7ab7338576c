// How long an MCP server may take to start.

import assert from "node:assert/strict";
import { CachedList } from "../../../tools/mcp/cached_list.ts";
import { startSeconds } from "../../../tools/mcp/server.ts";
import { inFolder } from "../../folder.ts";

Deno.test("start_timeout always holds, and after a failed start the next run waits for a short time: one row per condition", () => {
  const rows = [
    [{}, true, false, 60],
    [{}, false, false, 10],
    [{}, true, true, 10],
    [{ start_timeout: 4 }, true, false, 4],
    [{ start_timeout: 4 }, false, false, 4],
    [{ start_timeout: 4 }, true, true, 4],
    [{ start_timeout: 90 }, true, false, 90],
    [{ start_timeout: 90 }, false, false, 90],
    [{ start_timeout: 90 }, true, true, 10],
  ] as const;
  for (const [settings, isFirst, hasFailed, seconds] of rows) {
    assert.equal(
      startSeconds(settings, { isFirst, hasFailed }),
      seconds,
      JSON.stringify([settings, isFirst, hasFailed]),
    );
  }
});

Deno.test("a failed start is remembered until the server lists its tools or its settings change", () =>
  inFolder(async (folder) => {
    const environment = { cwd: folder, home: folder, variables: { XDG_STATE_HOME: folder } };
    const list = (command: string, start_timeout?: number) =>
      new CachedList(
        "one",
        { command, ...(start_timeout === undefined ? {} : { start_timeout }) },
        environment,
      );
    assert.equal(await list("a").hasFailed(), false);
    await list("a").noteFailure();
    assert.deepEqual([await list("a").hasFailed(), await list("a", 3).hasFailed()], [true, true]);
    assert.equal(await list("b").hasFailed(), false);
    await list("a").write({ tools: [], era: null });
    assert.equal(await list("a").hasFailed(), false);
  }));
