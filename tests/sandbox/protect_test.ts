// The mounts that keep protected paths read-only, as lists.

import assert from "node:assert/strict";
import { protectedPaths, protectionMounts, realProtected } from "../../sandbox/protect.ts";
import { inFolder, plant } from "./fixture.ts";

Deno.test("every folder on the way to a protected path becomes a mount point, outer ones first", () => {
  assert.deepEqual(protectionMounts(["/w/a/b/f", "/w/.git/hooks", "/w/.git/config"], ["/w"]), [
    ...["--bind", "/w/.git", "/w/.git"],
    ...["--bind", "/w/a", "/w/a"],
    ...["--bind", "/w/a/b", "/w/a/b"],
    ...["--ro-bind", "/w/.git/config", "/w/.git/config"],
    ...["--ro-bind", "/w/.git/hooks", "/w/.git/hooks"],
    ...["--ro-bind", "/w/a/b/f", "/w/a/b/f"],
  ]);
});

Deno.test("a folder inside a protected one is not made writable again", () => {
  assert.deepEqual(protectionMounts(["/w/p/q/r", "/w/p"], ["/w"]), ["--ro-bind", "/w/p", "/w/p"]);
});

Deno.test("what lies outside the writable paths needs no mount, and a writable path inside a protected one loses", () => {
  assert.deepEqual(protectionMounts(["/etc/x", "/w-other/y"], ["/w"]), []);
  assert.deepEqual(protectionMounts(["/state"], ["/state/flemma", "/w"]), [
    ...["--ro-bind", "/state/flemma", "/state/flemma"],
  ]);
  assert.deepEqual(protectionMounts(["/w"], ["/w"]), ["--ro-bind", "/w", "/w"]);
});

Deno.test("with everything writable the whole way from the root is held", () => {
  assert.deepEqual(protectionMounts(["/a/b/c"], ["/"]), [
    ...["--bind", "/a", "/a"],
    ...["--bind", "/a/b", "/a/b"],
    ...["--ro-bind", "/a/b/c", "/a/b/c"],
  ]);
});

Deno.test("the hooks of each folder between a writable path and a workplace are protected", () => {
  const paths = protectedPaths(["/x/doc.chat"], ["/w", "/tmp"], ["/w/a/repo", "/elsewhere"]);
  const hooks = paths.map(({ path }) => path).filter((path) => path.endsWith("/.git/hooks"));
  assert.deepEqual(hooks.sort(), [
    "/tmp/.git/hooks",
    "/w/.git/hooks",
    "/w/a/.git/hooks",
    "/w/a/repo/.git/hooks",
  ]);
  assert.deepEqual(paths.filter(({ asked }) => asked).map(({ path }) => path), ["/x/doc.chat"]);
});

Deno.test("the name .git is protected while it is a file or missing, not while it is a folder", () =>
  inFolder((root) => {
    plant(root, "repo/.git/", "worktree/.git", "plain/");
    const real = (name: string) => realProtected(protectedPaths([], [`${root}/${name}`], []), root);
    assert.ok(!real("repo").includes(`${root}/repo/.git`));
    assert.ok(real("worktree").includes(`${root}/worktree/.git`));
    assert.ok(real("plain").includes(`${root}/plain/.git`));
  }));
