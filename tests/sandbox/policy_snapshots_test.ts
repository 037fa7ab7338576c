// How often a run scans the file system for its sandbox: each scan delays a start, and none may be outdated.

import assert from "node:assert/strict";
import { plant, projectSandbox, requireBubblewrap } from "./fixture.ts";
import { testInFolder as test } from "../folder.ts";

/** How often each path below `root` is looked at meanwhile, by the names from there on. */
async function looked(root: string, body: () => unknown): Promise<Record<string, number>> {
  const look = Deno.lstatSync;
  const counts: Record<string, number> = {};
  Deno.lstatSync = (path) => {
    const name = String(path);
    if (name.startsWith(root)) counts[name.slice(root.length)] = (counts[name.slice(root.length)] ?? 0) + 1;
    return look(path);
  };
  try {
    await body();
  } finally {
    Deno.lstatSync = look;
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
