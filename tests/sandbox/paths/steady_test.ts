import assert from "node:assert/strict";
import type { FsSnapshot } from "../../../base/disk/fs_snapshot.ts";
import { isEntrySteady, isSteady, type Rights } from "../../../sandbox/paths/steady.ts";

const user = { uid: 1000, gid: 1000 };

function rights(uid: number | null, mode: number | null, gid = 1000): Rights {
  return { uid, gid, mode };
}

Deno.test("the entries of a folder are safe if no other user may rename them: one row per condition", () => {
  const own = rights(1000, 0o100644);
  const rows: readonly (readonly [string, Rights, Rights, boolean])[] = [
    ["own folder, closed to others", own, rights(1000, 0o755), true],
    ["the superuser's folder", own, rights(0, 0o755), true],
    ["somebody else's folder", own, rights(1001, 0o755), false],
    ["a folder of an unknown owner", own, rights(null, 0o755), false],
    ["open to all", own, rights(1000, 0o757), false],
    ["the superuser's, open to all", own, rights(0, 0o757), false],
    ["open to all but sticky, with an own entry", own, rights(0, 0o1777), true],
    ["open to all but sticky, with the superuser's entry", rights(0, 0o644), rights(0, 0o1777), true],
    ["open to all but sticky, with somebody else's entry", rights(1001, 0o644), rights(0, 0o1777), false],
    ["open to the user's own group", own, rights(1000, 0o775, 1000), true],
    ["open to another group", own, rights(1000, 0o775, 2000), false],
    ["open to another group but sticky", own, rights(1000, 0o1775, 2000), true],
    ["a folder whose mode is not known", own, rights(1000, null), false],
  ];
  for (const [name, entry, folder, kept] of rows) {
    assert.equal(isEntrySteady(entry, folder, user), kept, name);
  }
  const shared = { uid: 1000, gid: 100 };
  assert.equal(isEntrySteady(own, rights(1000, 0o775, 100), shared), false, "a group that others are in");
});

Deno.test("a path is safe if it exists and every folder up to the root is safe", () => {
  const steady: Record<string, Rights> = {
    "/": rights(0, 0o755),
    "/home": rights(0, 0o755),
    "/home/me": rights(1000, 0o755),
    "/home/me/f": rights(1000, 0o644),
  };
  const asked = (changes: Record<string, Rights | null>) =>
    isSteady("/home/me/f", user, {
      lstat: (path: string) => ({ ...steady, ...changes })[path] ?? null,
    } as unknown as FsSnapshot);
  assert.equal(asked({}), true);
  assert.equal(asked({ "/home/me": rights(1000, 0o777) }), false);
  assert.equal(asked({ "/home": rights(0, 0o777) }), false);
  assert.equal(asked({ "/": rights(0, 0o777) }), false);
  assert.equal(asked({ "/home/me/f": null }), false);
  assert.equal(asked({ "/home": null }), false);
  assert.equal(asked({ "/": null }), false);
});
