// Real paths: links, missing parts, and agreement with the operating system for existing paths.

import assert from "node:assert/strict";
import fc from "fast-check";
import { isInside, realPath } from "../../../sandbox/mod.ts";
import { plant } from "../fixture.ts";
import { testInFolder as test } from "../../folder.ts";

test("links are followed at every position in a path, and .. applies after them", (root) => {
  plant(root, "real/sub/", "real/file", "link -> real/sub", "chain -> link", "up -> real/sub/..");
  assert.equal(realPath("link", root), `${root}/real/sub`);
  assert.equal(realPath("chain/../file", root), `${root}/real/file`);
  assert.equal(realPath(`${root}/up/file`, "/"), `${root}/real/file`);
  assert.equal(realPath("/../../etc/", root), "/etc");
  assert.equal(realPath("", root), root);
});

test("missing parts of a path are returned as written, and a broken link returns its target", (root) => {
  plant(root, "real/", "dangling -> out/none", "in -> real");
  assert.equal(realPath("dangling", root), `${root}/out/none`);
  assert.equal(realPath("in/new/deep", root), `${root}/real/new/deep`);
  assert.equal(realPath("none/../in/x", root), `${root}/real/x`);
});

test("a path that ends in a circular link has no real path", (root) => {
  plant(root, "a -> b", "b -> a");
  assert.equal(realPath("a/x", root), null);
  assert.equal(realPath("x\0y", root), null);
  let target = root;
  for (let n = 0; n <= 40; n++) Deno.symlinkSync(target, target = `${root}/l${n}`);
  assert.equal(realPath("l39", root), root, "40 links are followed");
  assert.equal(realPath("l40", root), null, "41 are too many");
});

test("real paths agree with the operating system for every existing path", (root) => {
  plant(
    root,
    "a/b/c/",
    "a/f",
    "d/e/",
    "a/l1 -> ../d",
    "d/l2 -> e/../../a/b",
    "l3 -> a/l1/l2/c",
    "d/e/l4 -> ../../l3",
  );
  plant(root, `d/abs -> ${root}/a`);
  const step = fc.constantFrom("a", "b", "c", "d", "e", "f", "l1", "l2", "l3", "l4", "abs", "..", ".", "");
  let existing = 0;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
      const path = `${root}/${steps.join("/")}`;
      let expected: string;
      try {
        expected = Deno.realPathSync(path);
      } catch {
        return;
      }
      existing++;
      assert.equal(realPath(path, "/"), expected);
    }),
    { numRuns: 2000, seed: 7 },
  );
  assert.ok(existing > 200, `only ${existing} of the paths existed`);
});

Deno.test("a folder contains the paths below it, not every path that begins with the same text", () => {
  assert.ok(isInside("/a", "/a") && isInside("/a/b", "/a") && isInside("/a", "/"));
  assert.ok(!isInside("/a-b", "/a") && !isInside("/", "/a"));
});
