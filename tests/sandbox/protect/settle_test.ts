// What is automatically undone after commands: one row per condition.

import assert from "node:assert/strict";
import { FsSnapshot } from "../../../base/disk/fs_snapshot.ts";
import { before, repairChanges } from "../../../sandbox/protect/repair.ts";
import { recover } from "../../../sandbox/protect/recover.ts";
import { record, records } from "../../../sandbox/process/leftovers.ts";
import { plant, projectSandbox, world } from "../fixture.ts";
import { testInFolder as test } from "../../folder.ts";

type Links = { path: string; target: string }[];

function exists(path: string): boolean {
  return new FsSnapshot().has(path);
}

interface Given {
  real?: string[];
  links?: Links;
  writable?: string[];
  exempt?: string[];
  apart?: string[];
}

function lookAt(root: string, { real = [], links = [], writable, exempt = [], apart = [] }: Given) {
  const snapshot = new FsSnapshot();
  for (const { path } of links) snapshot.linkTarget(path);
  return before({ real, links }, { writable: writable ?? [`${root}/w`], exempt, apart }, snapshot);
}

test("new files at a protected path are moved away, in each of the writable paths", async (root) => {
  plant(root, "v/", "w/", "out/");
  const paths = ["v/a", "w/b", "out/c", "w/own"].map((path) => `${root}/${path}`);
  const looked = lookAt(root, {
    real: paths,
    writable: [`${root}/v`, `${root}/w`],
    exempt: [`${root}/w/own`],
  });
  plant(root, "v/a", "w/b", "out/c", "w/own");
  const reported = await repairChanges(looked, () => `${root}/moved`);
  assert.deepEqual(reported?.map(({ message }) => message.split(" ")[1]), [`${root}/v/a`, `${root}/w/b`]);
  assert.ok(reported?.every(({ message }) => message.includes(`${root}/moved/`)));
  assert.deepEqual(paths.map(exists), [false, false, true, true]);
});

test("if no file changed, the repair does nothing and returns null; unrelated changes give an empty list", async (root) => {
  plant(root, "w/kept");
  const looked = lookAt(root, { real: [`${root}/w/kept`, `${root}/w/none`] });
  assert.equal(await repairChanges(looked, () => assert.fail("nothing is moved")), null);
  plant(root, "w/other");
  const reported = await repairChanges(looked, () => assert.fail("nothing is moved"));
  assert.deepEqual(reported ?? [], []);
});

test("a file found by another scan is moved away only if commands could write it, it is not already protected, and no restored link leads to it", async (root) => {
  plant(root, "w/found", "w/held", "out/found", "w/link -> found", "w/in/x");
  const looked = lookAt(root, {
    real: [`${root}/w/held`],
    links: [{ path: `${root}/w/in`, target: "elsewhere" }],
  });
  const appeared = ["w/found", "w/held", "out/found", "w/in/x"].map((path) => `${root}/${path}`);
  const reported = await repairChanges(looked, () => `${root}/moved`, () => appeared);
  assert.deepEqual(reported?.map(({ code }) => code), [
    "protected-link-restored",
    "protected-path-appeared",
  ]);
  assert.deepEqual(["w/held", "out/found", "w/found"].map((path) => exists(`${root}/${path}`)), [
    true,
    true,
    false,
  ]);
  assert.equal(Deno.readLinkSync(`${root}/w/in`), "elsewhere");
});

test("a link is restored if it is missing, leads elsewhere or is no longer a link; what replaced it is saved and reported", async (root) => {
  const rows: readonly (readonly [string, (path: string) => void, boolean | null])[] = [
    ["as it was", () => {}, null],
    ["gone", (path) => Deno.removeSync(path), false],
    ["elsewhere", (path) => {
      Deno.removeSync(path);
      Deno.symlinkSync("evil", path);
    }, true],
    ["a file", (path) => {
      Deno.removeSync(path);
      Deno.writeTextFileSync(path, "x");
    }, true],
  ];
  for (const [name, change, kept] of rows) {
    plant(root, "w/l -> target");
    const looked = lookAt(root, { links: [{ path: `${root}/w/l`, target: "target" }] });
    change(`${root}/w/l`);
    plant(root, "w/other");
    const reported = await repairChanges(looked, () => `${root}/moved`) ?? [];
    assert.equal(Deno.readLinkSync(`${root}/w/l`), "target", name);
    assert.deepEqual(
      reported.map(({ code }) => code),
      kept === null ? [] : ["protected-link-restored"],
      name,
    );
    assert.equal(reported[0]?.next?.startsWith("The replacement is saved as ") ?? false, kept === true, name);
    Deno.removeSync(`${root}/w`, { recursive: true });
  }
  const looked = lookAt(root, {
    links: [{ path: "/", target: "x" }, { path: `${root}/out/l`, target: "x" }],
  });
  assert.deepEqual(looked.links, [], "what no command can remove is not looked after");
});

test("if a command turned a folder into a link, flemma undoes nothing through that link", async (root) => {
  plant(root, "w/d/", "outside/p");
  const looked = lookAt(root, { real: [`${root}/w/d/p`] });
  Deno.removeSync(`${root}/w/d`);
  Deno.symlinkSync(`${root}/outside`, `${root}/w/d`);
  const reported = await repairChanges(looked, () => `${root}/moved`);
  assert.deepEqual(reported?.map(({ code }) => code), ["protected-path-changed"]);
  assert.match(reported?.[0]?.message ?? "", /was replaced by a symbolic link/);
  assert.ok(exists(`${root}/outside/p`));
});

test("a folder without permissions is opened to read its content, and then gets its permissions back", async (root) => {
  plant(root, "w/d/");
  const looked = lookAt(root, { real: [`${root}/w/d/p`] });
  plant(root, "w/d/p/x");
  Deno.chmodSync(`${root}/w/d`, 0o500);
  const modes: (number | null)[] = [];
  const reported = await repairChanges(looked, () => `${root}/moved`, () => {
    modes.push(Deno.lstatSync(`${root}/w/d`).mode! & 0o777);
    return [];
  });
  assert.deepEqual(modes, [0o700]);
  assert.equal(Deno.lstatSync(`${root}/w/d`).mode! & 0o777, 0o500);
  assert.deepEqual(reported?.map(({ code }) => code), ["protected-path-appeared"]);
});

test("files that cannot be renamed are copied, including folders without permissions, and a failed copy is reported", async (root) => {
  const rename = Deno.renameSync;
  Deno.renameSync = () => {
    throw new Error("Invalid cross-device link (os error 18)");
  };
  try {
    plant(root, "w/");
    const looked = lookAt(root, { real: [`${root}/w/p`] });
    plant(root, "w/p/deep/x");
    Deno.chmodSync(`${root}/w/p/deep`, 0o000);
    const reported = await repairChanges(looked, () => `${root}/moved`);
    assert.deepEqual(reported?.map(({ code }) => code), ["protected-path-appeared"]);
    const [kept = ""] = Array.from(Deno.readDirSync(`${root}/moved`), ({ name }) => name);
    assert.equal(Deno.readTextFileSync(`${root}/moved/${kept}/deep/x`), "text of w/p/deep/x\n");
    const again = lookAt(root, { real: [`${root}/w/q`] });
    plant(root, "w/q");
    const failed = await repairChanges(again, () => "/proc/none");
    assert.deepEqual(failed?.map(({ code }) => code), ["protected-path-changed"]);
    assert.ok(exists(`${root}/w/q`));
  } finally {
    Deno.renameSync = rename;
  }
});

test("after a killed run, flemma undoes only what it recorded itself, and always removes the run's record", async (root) => {
  const environment = world(root);
  plant(root, "w/");
  const { sealed: _, protectedPaths: __, ...rest } = lookAt(root, { real: [`${root}/w/p`] });
  const rows: readonly (readonly [unknown, boolean])[] = [
    [null, false],
    ["text", false],
    [{ ...rest, missing: undefined }, false],
    [{ ...rest, links: "l" }, false],
    [{ ...rest, compared: {} }, false],
    [rest, true],
  ];
  for (const [written, putRight] of rows) {
    plant(root, "w/p");
    const file = record(environment, Deno.pid, { writable: [], before: JSON.stringify(written) });
    const text = JSON.parse(Deno.readTextFileSync(file));
    Deno.writeTextFileSync(
      file,
      JSON.stringify({ ...text, owner: { ...text.owner, started: "1" }, leader: { pid: 1, started: "0" } }),
    );
    const reported = await recover(environment);
    assert.equal(reported.length, putRight ? 1 : 0, JSON.stringify(written));
    assert.equal(exists(`${root}/w/p`), !putRight);
    assert.deepEqual(records(environment), []);
  }
});

test("a run looks for what killed runs left behind only once, until a run may have been killed since", async (root) => {
  plant(root, "w/", "project/");
  const sandbox = projectSandbox(root);
  const { environment } = sandbox.host;
  assert.deepEqual(await sandbox.recover(), []);
  const { sealed: _, protectedPaths: __, ...rest } = lookAt(root, { real: [`${root}/w/p`] });
  plant(root, "w/p");
  const file = record(environment, Deno.pid, { writable: [], before: JSON.stringify(rest) });
  const text = JSON.parse(Deno.readTextFileSync(file));
  const killed = { owner: { ...text.owner, started: "1" }, leader: { pid: 1, started: "0" } };
  Deno.writeTextFileSync(file, JSON.stringify({ ...text, ...killed }));
  assert.deepEqual([await sandbox.recover(), exists(`${root}/w/p`)], [[], true]);
  const reported = await sandbox.recover({ again: true });
  assert.deepEqual(reported.map(({ code }) => code), ["protected-path-appeared"]);
  assert.equal(exists(`${root}/w/p`), false);
});
