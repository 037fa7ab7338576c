// How often a run scans the file system for its sandbox: each scan delays a start, and none may be outdated.

import assert from "node:assert/strict";
import { StatCache } from "../../base/disk/stat_cache.ts";
import { plant, projectSandbox, requireBubblewrap } from "./fixture.ts";
import { testInFolder as test } from "../folder.ts";

/**
 * How often each path below `root` is looked at meanwhile, by the names from there on. A cache looks once at a path,
 * through the runtime or the C library.
 */
async function looked(root: string, body: () => unknown): Promise<Record<string, number>> {
  const [look, cached] = [Deno.lstatSync, StatCache.prototype.lstat];
  const counts: Record<string, number> = {};
  const caches = new WeakMap<StatCache, Set<string>>();
  const count = (path: string) => {
    if (path.startsWith(root)) counts[path.slice(root.length)] = (counts[path.slice(root.length)] ?? 0) + 1;
  };
  let isCaching = false;
  Deno.lstatSync = (path) => {
    if (!isCaching) count(String(path));
    return look(path);
  };
  StatCache.prototype.lstat = function (path) {
    const known = caches.get(this) ?? new Set();
    if (!known.has(path)) count(path);
    caches.set(this, known.add(path));
    isCaching = true;
    try {
      return cached.call(this, path);
    } finally {
      isCaching = false;
    }
  };
  try {
    await body();
  } finally {
    Deno.lstatSync = look;
    StatCache.prototype.lstat = cached;
  }
  return counts;
}

test("flemma scans for protected paths only when they are needed, not to list writable paths", async (root) => {
  plant(root, "project/.vscode/settings.json");
  const sandbox = projectSandbox(root);
  const policy = sandbox.policy();
  assert.ok(policy.ok);
  assert.deepEqual(policy.value.rw_paths, [`${root}/project`]);
  const first = await looked(root, () => assert.ok(policy.value.protect.includes(`${root}/project/.vscode`)));
  assert.ok((first["/project/.vscode"] ?? 0) > 0);
  assert.deepEqual(await looked(root, () => policy.value.protect.length), {});
});

test("the first scan of a run reads each folder only once, although it needs the state at the start and the current state", async (root) => {
  plant(root, "project/.vscode/settings.json", "project/.git/hooks/");
  const sandbox = projectSandbox(root);
  // The policy is made before the scan. It looks for the project of private caches and for a linked worktree.
  assert.ok(sandbox.policy().ok);
  const counts = await looked(root, () => requireBubblewrap(sandbox));
  // A run of the empty command looks at the folder that it is started in.
  for (const name of ["/project/.vscode", "/project/.git", "/project/.git/hooks"]) {
    assert.equal(counts[name], 1, name);
  }
});

test("the variables of a prepared command match the scan it was prepared from; other variables match the current state", async (root) => {
  plant(root, "project/", "home/.cache/deno/");
  const policy = { rw_paths: ["urn:flemma:cwd", "~/.cache"] };
  const sandbox = projectSandbox(root, { home_caches: "shared", policy });
  const own = { DENO_DIR: `${root}/home/.cache/flemma/deno` };
  const variables = () => assert.deepEqual(sandbox.addedVariables(), own);
  await requireBubblewrap(sandbox);
  const asked = (counts: Record<string, number>) => counts["/project/.vscode"] ?? counts["/project"] ?? 0;
  assert.ok(asked(await looked(root, variables)) > 0);
  const prepared = await sandbox.prepare(["/bin/true"], { waits: true });
  assert.ok(prepared.ok);
  assert.equal(asked(await looked(root, variables)), 0);
  await prepared.value.dispose();
  assert.ok(asked(await looked(root, variables)) > 0);
});

test("no command gets a variable that names a cache inside a protected folder, whether the command is prepared or not", async (root) => {
  plant(root, "project/", "home/.cache/deno/");
  const policy = { rw_paths: ["urn:flemma:cwd", "~/.cache"] };
  const sandbox = projectSandbox(root, { policy }, { protect: [`${root}/home/.cache/flemma`] });
  assert.deepEqual(sandbox.addedVariables(), {});
  const prepared = await sandbox.prepare(["/bin/true"], { waits: true });
  assert.ok(prepared.ok);
  assert.deepEqual(sandbox.addedVariables(), {});
  await prepared.value.dispose();
});
