import assert from "node:assert/strict";
import { makeRuntimeFolder, runtimeFolders } from "../../../sandbox/process/runtime_folders.ts";
import { PrivateFiles } from "../../../sandbox/process/private_files.ts";
import { plant, world } from "../fixture.ts";
import { inFolder, testInFolder as test } from "../../folder.ts";

const shared = `/dev/shm/flemma-${Deno.uid()}`;

/** Calls `ask` while the folder in shared memory looks different. */
function pretending<T>(changes: Partial<Deno.FileInfo>, ask: () => T): T {
  const look = Deno.lstatSync;
  Deno.lstatSync = (path) => String(path) === shared ? { ...look(path), ...changes } : look(path);
  try {
    return ask();
  } finally {
    Deno.lstatSync = look;
  }
}

/** The module without memory of the folders that other tests made. */
async function freshModule(): Promise<typeof import("../../../sandbox/process/runtime_folders.ts")> {
  const module = new URL("../../../sandbox/process/runtime_folders.ts?fresh", import.meta.url);
  return await import(module.href);
}

Deno.test(
  "a folder in shared memory is not used if another user created it or can read it: one row per condition",
  { ignore: Deno.build.os !== "linux" },
  () =>
    inFolder(async (root) => {
      const { makeFleetingFolder } = await freshModule();
      const environment = world(root);
      const own = `${root}/home/.local/state/flemma`;
      const uid = Deno.uid();
      const mine = { isDirectory: true, isSymlink: false, uid, mode: 0o40700 };
      const rows: readonly (readonly [Partial<Deno.FileInfo>, string])[] = [
        [{ ...mine, uid: 4242 }, own],
        [{ ...mine, mode: 0o40750 }, own],
        [{ ...mine, mode: 0o40701 }, own],
        [{ ...mine, mode: null }, own],
        [{ ...mine, isDirectory: false, isSymlink: true }, own],
        [mine, shared],
        // Known from here on, and looked at all the same.
        [{ ...mine, isDirectory: false, isSymlink: true }, own],
      ];
      const { mkdirSync } = Deno;
      const made: string[] = [];
      Deno.mkdirSync = (path, options) => {
        made.push(`${path} ${options?.mode?.toString(8)}`);
        mkdirSync(path, options);
      };
      try {
        pretending({ ...mine, uid: 4242 }, () => makeFleetingFolder(environment));
      } finally {
        Deno.mkdirSync = mkdirSync;
      }
      assert.equal(made[0], `${shared} 700`);
      for (const [changes, expected] of rows) {
        assert.equal(
          pretending(changes, () => makeFleetingFolder(environment)),
          expected,
          JSON.stringify(changes),
        );
      }
      const runtime = world(root, { XDG_RUNTIME_DIR: `${root}/run` });
      assert.equal(makeFleetingFolder(runtime), `${root}/run/flemma`);
      assert.equal(makeFleetingFolder(world(root, { XDG_RUNTIME_DIR: "run" })), shared);
    }),
);

test("the private folder is the first candidate that can be created; relative paths and paths blocked by files are skipped", (root) => {
  plant(root, "file");
  assert.deepEqual(runtimeFolders(world(root, { XDG_RUNTIME_DIR: "run", XDG_STATE_HOME: "/s/" })), [
    "/s/flemma",
    `${root}/home/.local/state/flemma`,
  ]);
  const blocked = world(root, { XDG_RUNTIME_DIR: `${root}/file`, XDG_STATE_HOME: `${root}/state` });
  assert.equal(makeRuntimeFolder(blocked), `${root}/state/flemma`);
  const none = { ...world(root, { XDG_RUNTIME_DIR: `${root}/file` }), home: `${root}/file` };
  assert.equal(makeRuntimeFolder(none), null);
});

test("a file with constant text is written once, and again if it is missing or was replaced", (root) => {
  const environment = world(root, { XDG_RUNTIME_DIR: `${root}/run` });
  const files = PrivateFiles.open(environment);
  assert.ok(files.ok);
  const bytes = new TextEncoder().encode("constant");
  const path = files.value.constant("x", bytes);
  const { ino } = Deno.statSync(path);
  assert.equal(files.value.constant("x", bytes), path);
  assert.equal(Deno.statSync(path).ino, ino);
  for (const spoil of [() => {}, () => Deno.symlinkSync("/etc/passwd", path)]) {
    Deno.removeSync(path);
    spoil();
    assert.equal(files.value.constant("x", bytes), path);
    assert.equal(Deno.lstatSync(path).isFile, true);
    assert.equal(Deno.readTextFileSync(path), "constant");
  }
  assert.notEqual(files.value.constant("x", new TextEncoder().encode("constans")), path);
});

test("a constant folder is created once; it replaces an older folder or a link of the same name", (root) => {
  const environment = world(root, { XDG_RUNTIME_DIR: `${root}/run` });
  const entries = [["a", new TextEncoder().encode("text")]] as const;
  const open = () => {
    const files = PrivateFiles.open(environment);
    assert.ok(files.ok);
    return files.value;
  };
  const first = open();
  const path = first.constantFolder("ssh", entries);
  const { ino } = Deno.statSync(path);
  assert.equal(first.constantFolder("ssh", entries), path);
  assert.equal(Deno.statSync(path).ino, ino);
  Deno.removeSync(path, { recursive: true });
  plant(root, `run/flemma/${path.slice(path.lastIndexOf("/") + 1)}x/evil`);
  Deno.symlinkSync(`${path}x`, path);
  assert.throws(() => first.constantFolder("ssh", entries));
  assert.deepEqual([...Deno.readDirSync(`${path}x`)].map(({ name }) => name), ["evil"]);
  Deno.removeSync(path);
  assert.equal(first.constantFolder("ssh", entries), path);
  assert.deepEqual([...Deno.readDirSync(path)].map(({ name }) => name), ["a"]);
  first.remove();
});

test("a constant folder replaces one of the same name that this process did not create", async (root) => {
  const environment = world(root, { XDG_RUNTIME_DIR: `${root}/run` });
  const entries = [["a", new TextEncoder().encode("text")]] as const;
  const files = PrivateFiles.open(environment);
  assert.ok(files.ok);
  const path = files.value.constantFolder("ssh", entries);
  Deno.renameSync(`${path}/a`, `${path}/other`);
  // Another process has no memory of the folder.
  const module = new URL("../../../sandbox/process/private_files.ts?fresh", import.meta.url);
  const later: typeof import("../../../sandbox/process/private_files.ts") = await import(module.href);
  const again = later.PrivateFiles.open(environment);
  assert.ok(again.ok);
  assert.equal(again.value.constantFolder("ssh", entries), path);
  assert.deepEqual([...Deno.readDirSync(path)].map(({ name }) => name), ["a"]);
});
