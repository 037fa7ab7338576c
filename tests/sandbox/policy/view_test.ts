// What part of the file system a policy shows, from plain data.

import assert from "node:assert/strict";
import { isSeen, WHOLE_VIEW } from "../../../sandbox/policy/view.ts";
import type { PathView } from "../../../sandbox/types.ts";

Deno.test("a path is visible if no entry hides it, or if a longer path shows it again: one row per condition", () => {
  const rows: readonly (readonly [Partial<PathView>, boolean])[] = [
    [{}, true],
    [{ shown: ["/a"] }, true],
    [{ hidden: ["/a"] }, false],
    [{ hidden: ["/a/b/c"] }, false],
    [{ hidden: ["/a/b/c/d", "/a/x", "/a/b/cc"] }, true],
    [{ hidden: ["/a"], shown: ["/a/b"] }, true],
    [{ hidden: ["/a/b"], shown: ["/a"] }, false],
    [{ hidden: ["/a/b"], shown: ["/a/b"] }, false],
    [{ hidden: ["/a", "/a/b/c"], shown: ["/a/b"] }, false],
    [{ replaced: ["/a"] }, false],
    [{ replaced: ["/a"], shown: ["/a/b"] }, false],
    [{ replaced: ["/a"], kept: ["/a/b"] }, true],
    [{ replaced: ["/a"], kept: ["/a/x"] }, false],
    [{ replaced: ["/x"], kept: [] }, true],
    [{ replaced: ["/a"], kept: ["/a/b"], hidden: ["/a/b"] }, false],
  ];
  for (const [view, seen] of rows) {
    assert.equal(isSeen("/a/b/c", { ...WHOLE_VIEW, ...view }), seen, JSON.stringify(view));
  }
});
