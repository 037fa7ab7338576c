// Paths compared after a command instead of mounted before it: what counts as changed, one row per condition.

import assert from "node:assert/strict";
import { FsSnapshot } from "../../../base/disk/fs_snapshot.ts";
import { RemovedSettings } from "../../../sandbox/git/removed_settings.ts";
import { type Compared, putBack, remember } from "../../../sandbox/protect/compared.ts";
import { plant } from "../fixture.ts";
import { testInFolder as test } from "../../folder.ts";

/** Puts right, and answers with the codes and what was moved away. */
async function after(
  root: string,
  compared: readonly Compared[],
): Promise<[codes: string[], moved: string[]]> {
  const moved: string[] = [];
  const reported = await putBack(compared, {
    removed: new RemovedSettings(null),
    moveAway: (path) => {
      moved.push(path.slice(root.length + 1));
      Deno.renameSync(path, `${root}/moved-${moved.length}`);
      return Promise.resolve(`${root}/moved-${moved.length}`);
    },
    putBack: (path, bytes, mode) => {
      Deno.writeFileSync(path, bytes, { createNew: true });
      Deno.chmodSync(path, mode & 0o777);
      return Promise.resolve();
    },
    attempt: (path, act) =>
      act().catch((thrown) => ({ code: "failed", message: `${path}: ${(thrown as Error).message}` })),
  });
  return [reported.map(({ code }) => code), moved];
}

function text(path: string): string {
  return Deno.readTextFileSync(path);
}

const HARMLESS = "[core]\n\tbare = false\n";
const HARMFUL = "[core]\n\tfsmonitor = /evil\n";

test("a changed file is noticed by its bytes, executable bit and kind, but not by its time or other permissions", async (root) => {
  const file = `${root}/r/.git/x`;
  const rows: readonly (readonly [string, (path: string) => void, string[]])[] = [
    ["nothing", () => {}, []],
    ["its time", (path) => Deno.utimeSync(path, 1, 1), []],
    ["a right to read", (path) => Deno.chmodSync(path, 0o600), []],
    ["a right to run it for anybody", (path) => Deno.chmodSync(path, 0o645), ["protected-path-restored"]],
    ["its bytes, with the same length", (path) => Deno.writeTextFileSync(path, "two\n"), [
      "protected-path-restored",
    ]],
    ["a link to the same bytes", (path) => {
      Deno.renameSync(path, `${path}2`);
      Deno.symlinkSync(`${path}2`, path);
    }, ["protected-path-restored"]],
    ["a folder in its place", (path) => {
      Deno.removeSync(path);
      Deno.mkdirSync(path);
    }, ["protected-path-restored"]],
    ["gone", (path) => Deno.removeSync(path), []],
  ];
  for (const [name, change, codes] of rows) {
    Deno.mkdirSync(`${root}/r/.git`, { recursive: true });
    Deno.writeTextFileSync(file, "one\n");
    Deno.chmodSync(file, 0o644);
    const compared = remember([file], new FsSnapshot());
    change(file);
    const [reported, moved] = await after(root, compared);
    assert.deepEqual(reported, codes, name);
    if (codes.length > 0) {
      assert.deepEqual([text(file), Deno.lstatSync(file).mode! & 0o777, moved], ["one\n", 0o644, [
        "r/.git/x",
      ]]);
    }
    for (const { name } of Deno.readDirSync(root)) Deno.removeSync(`${root}/${name}`, { recursive: true });
  }
});

test("an executable file is still executable after flemma restores it", async (root) => {
  plant(root, "hook");
  Deno.chmodSync(`${root}/hook`, 0o755);
  const compared = remember([`${root}/hook`], new FsSnapshot());
  assert.deepEqual(await after(root, compared), [[], []]);
  Deno.writeTextFileSync(`${root}/hook`, "other\n");
  assert.deepEqual(await after(root, compared), [["protected-path-restored"], ["hook"]]);
  assert.equal(Deno.lstatSync(`${root}/hook`).mode! & 0o777, 0o755);
});

test("commands may add harmless settings to a git configuration, but only under its known file names", async (root) => {
  const rows: readonly (readonly [string, string, boolean])[] = [
    ["config", HARMLESS, true],
    ["config", HARMFUL, false],
    ["config.worktree", HARMLESS, true],
    ["config.worktree", HARMFUL, false],
    ["configuration", HARMLESS, false],
    ["config.other", HARMLESS, false],
  ];
  for (const [name, content, unchanged] of rows) {
    plant(root, "r/.git/");
    Deno.writeTextFileSync(`${root}/r/.git/${name}`, "[core]\n");
    const compared = remember([`${root}/r/.git/${name}`], new FsSnapshot());
    Deno.writeTextFileSync(`${root}/r/.git/${name}`, content);
    const [reported] = await after(root, compared);
    const code = name.startsWith("config.o") || name === "configuration"
      ? "protected-path-restored"
      : "protected-settings-put-back";
    assert.deepEqual(reported, unchanged ? [] : [code], `${name} ${content}`);
    Deno.removeSync(`${root}/r`, { recursive: true });
  }
});

test("if a command removes a file that git would guess, such as the common folder of a worktree, flemma restores it", async (root) => {
  const path = `${root}/.git/worktrees/w/commondir`;
  plant(root, ".git/worktrees/w/commondir");
  const compared = remember([path], new FsSnapshot());
  Deno.removeSync(path);
  assert.deepEqual(await after(root, compared), [["protected-path-restored"], []]);
  assert.equal(text(path), "text of .git/worktrees/w/commondir\n");
  Deno.removeSync(`${root}/.git/worktrees/w`, { recursive: true });
  assert.deepEqual(await after(root, compared), [[], []], "git worktree remove");
});

test("if a changed file is too long to save, flemma detects the change by the file's status and reports that it cannot restore it", async (root) => {
  const most = 256 * 1024;
  for (const [size, codes] of [[most, ["protected-path-restored"]], [most + 1, ["failed"]]] as const) {
    Deno.writeFileSync(`${root}/f`, new Uint8Array(size));
    const compared = remember([`${root}/f`], new FsSnapshot());
    assert.deepEqual(await after(root, compared), [[], []]);
    Deno.writeTextFileSync(`${root}/f`, "x", { append: true });
    assert.deepEqual((await after(root, compared))[0], codes, `${size}`);
  }
  // One that grew past it is not what it was, whatever it holds.
  Deno.writeTextFileSync(`${root}/f`, "one\n");
  const compared = remember([`${root}/f`], new FsSnapshot());
  Deno.writeFileSync(`${root}/f`, new Uint8Array(most + 1));
  assert.deepEqual((await after(root, compared))[0], ["protected-path-restored"]);
  assert.equal(text(`${root}/f`), "one\n");
});

test("new entries of a folder count as changes at any depth, except samples; removed entries do not count", async (root) => {
  plant(root, "hooks/a", "hooks/sub/deep/er/b", "hooks/old.sample");
  const compared = remember([`${root}/hooks`], new FsSnapshot());
  assert.deepEqual(await after(root, compared), [[], []]);
  Deno.removeSync(`${root}/hooks/a`);
  plant(root, "hooks/new.sample");
  assert.deepEqual(await after(root, compared), [[], []]);
  plant(root, "hooks/post-commit", "hooks/sub/deep/er/post-checkout");
  const [reported, moved] = await after(root, compared);
  assert.deepEqual(reported, ["protected-path-appeared", "protected-path-appeared"]);
  assert.deepEqual(moved, ["hooks/post-commit", "hooks/sub/deep/er/post-checkout"]);
  Deno.removeSync(`${root}/hooks`, { recursive: true });
  assert.deepEqual(await after(root, compared), [[], []], "gone");
  plant(root, "hooks");
  const [appeared, away] = await after(root, compared);
  assert.deepEqual([appeared, away], [["protected-path-appeared"], ["hooks"]], "a file in its place");
});

test("a missing path is not recorded, and of each path at most two hundred entries are recorded", (root) => {
  assert.deepEqual(remember([`${root}/none`], new FsSnapshot()), []);
  plant(root, "b", ...Array.from({ length: 250 }, (_, n) => `many/${n}`));
  const compared = remember([`${root}/many`, `${root}/b`], new FsSnapshot());
  assert.equal(compared.length, 201);
  assert.equal(compared.at(-1)?.path, `${root}/b`);
  assert.equal(compared[0]?.names?.length, 250, "but every name is known");
});

test("a folder that must stay the same gets its mode back, and other folders keep the new one", async (root) => {
  for (
    const [retained, codes, mode] of [["same", ["protected-mode-restored"], 0o750], [
      undefined,
      [],
      0o777,
    ]] as const
  ) {
    Deno.mkdirSync(`${root}/f`, { recursive: true });
    Deno.chmodSync(`${root}/f`, 0o750);
    const compared = remember([`${root}/f`], new FsSnapshot(), retained);
    Deno.chmodSync(`${root}/f`, 0o777);
    assert.deepEqual(await after(root, compared), [codes, []]);
    assert.equal(Deno.lstatSync(`${root}/f`).mode! & 0o777, mode);
  }
});
