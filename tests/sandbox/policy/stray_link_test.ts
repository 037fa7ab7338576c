// Writable entries that a command could have redirected by a link to a place that no entry names.

import assert from "node:assert/strict";
import { strayLink } from "../../../sandbox/paths/stray_link.ts";
import { OverflowFile } from "../../../tools/overflow/file.ts";
import { plant, projectSandbox, runInside } from "../fixture.ts";
import { testInFolder as test } from "../../folder.ts";

function writable(root: string, ...rw_paths: string[]): { paths: string[]; reported: string[] } {
  const sandbox = projectSandbox(root, { policy: { rw_paths: ["urn:flemma:cwd", ...rw_paths] } });
  const policy = sandbox.policy();
  assert.ok(policy.ok);
  return {
    paths: policy.value.rw_paths.map((path) => path.slice(root.length + 1)),
    reported: sandbox.notices().map(({ message }) => message.replaceAll(`${root}/`, "")),
  };
}

test("if an entry leads outside through a link inside another entry, it is ignored, and the link and the remedy are reported", (root) => {
  plant(root, "project/", "outside/", "project/out -> ../outside");
  assert.deepEqual(writable(root, "./out"), {
    paths: ["project"],
    reported: [
      'The writable path "./out" is ignored because it leads to outside through the symbolic link project/out, ' +
      "which commands could have created; use the target path instead.",
    ],
  });
});

test("an entry is used if its link leads inside, is itself outside, or leads to another entry's target", (root) => {
  plant(root, "project/a/", "outside/b/", "project/in -> a", "link -> outside", "project/out -> ../outside");
  const rows = [
    [["./in"], ["project"]],
    [[`${root}/link`], ["outside", "project"]],
    [["./out", `${root}/outside`], ["outside", "project"]],
    [["./out/b", `${root}/outside`], ["outside", "project"]],
  ] as const;
  for (const [entries, paths] of rows) {
    assert.deepEqual(writable(root, ...entries), { paths: [...paths], reported: [] }, entries.join());
  }
});

test("two entries that both lead outside do not make each other valid", (root) => {
  plant(root, "project/", "outside/b/", "project/one -> ../outside", "project/two -> ../outside/b");
  for (
    const entries of [["./one", "./two"], ["./two", "./one"], ["./one", "./one"], ["./one/b", "./one"]]
  ) {
    assert.deepEqual(writable(root, ...entries).paths, ["project"], entries.join());
  }
});

test("an entry is ignored if its link is inside its own target, since the next run could follow another link", (root) => {
  plant(root, "project/", "data/", "data/self -> .");
  assert.deepEqual(writable(root, `${root}/data/self`).paths, ["project"]);
  assert.deepEqual(writable(root, `${root}/data/self`, `${root}/data`).paths, ["data", "project"]);
});

Deno.test("a link is reported if it is inside a writable path and leads outside all writable paths: one row per condition", () => {
  const link = (path: string) => ({ path, target: "x" });
  const astray = (path: string, ...links: string[]) =>
    strayLink({ path, links: links.map(link) }, ["/w", "/t"]);
  assert.equal(astray("/home", "/w/a"), "/w/a");
  assert.equal(astray("/home", "/l", "/t/b"), "/t/b");
  assert.equal(astray("/w/x", "/w/a"), null, "it ends inside");
  assert.equal(astray("/w", "/t/a"), null, "it ends at a writable path");
  assert.equal(astray("/home", "/l"), null, "its link is outside");
  assert.equal(astray("/home"), null, "there is no link");
  assert.equal(
    astray("/home", "/w"),
    null,
    "the link is the place of an entry itself, which no command can exchange",
  );
  assert.equal(astray("/home", "/wx/a"), null, "a neighbour whose name begins alike");
});

test("commands cannot replace entries inside other entries, nor their parent folders", async (root) => {
  plant(root, "project/build/deep/out/", "project/log", "tmp/x/");
  const rw_paths = ["urn:flemma:cwd", "./build/deep/out", "./log", `${root}/tmp`, `${root}/tmp/x`];
  const sandbox = projectSandbox(root, { policy: { rw_paths } });
  const attempts = [
    ...[
      "rmdir build/deep/out",
      "mv build/deep/out b",
      "mv build b",
      "rm -rf build",
      "rm -f log",
      "mv log l",
    ],
    ...[`rmdir ${root}/tmp/x`, `mv ${root}/tmp/x ${root}/tmp/y`],
  ];
  for (const attempt of attempts) {
    assert.notEqual((await runInside(sandbox, `${attempt} 2>/dev/null`)).code, 0, attempt);
  }
  const { out } = await runInside(
    sandbox,
    `touch build/deep/out/a ${root}/tmp/x/b build/c; echo d >> log; tail -1 log`,
  );
  assert.equal(out, "d\n");
  for (const path of ["project/build/deep/out/a", "tmp/x/b", "project/build/c"]) {
    Deno.statSync(`${root}/${path}`);
  }
});

test("an entry inside a protected folder does not make any path there writable", async (root) => {
  plant(root, "project/.vscode/out/");
  const sandbox = projectSandbox(root, { policy: { rw_paths: ["urn:flemma:cwd", "./.vscode/out"] } });
  assert.notEqual((await runInside(sandbox, "touch .vscode/out/x")).code, 0);
});

test("the complete output is not saved behind a link that a command could have created", async (root) => {
  plant(root, "project/", "outside/", "project/out -> ../outside", "mine -> outside");
  const sandbox = projectSandbox(root);
  const keep = async (path: string) => {
    const file = new OverflowFile(path, 100, (path) => sandbox.strayLink(path));
    await file.write(new Uint8Array([65]));
    file.close();
    return [file.usablePath, file.problem?.message];
  };
  const through = `${root}/project/out/new/f`;
  assert.deepEqual(await keep(through), [
    null,
    `The complete output could not be saved to ${through}: a command could have created the symbolic link ${root}/project/out in its path.`,
  ]);
  assert.throws(() => Deno.statSync(`${root}/outside/new`), Deno.errors.NotFound);
  for (const path of [`${root}/mine/f`, `${root}/outside/g/h`, `${root}/project/i`]) {
    assert.deepEqual(await keep(path), [path, undefined]);
  }
  const off = projectSandbox(root, { enabled: false });
  assert.equal(off.strayLink(through), null, "without a sandbox commands write there themselves");
});

test("if a folder is replaced while an output file is created in it, no output is written", async (root) => {
  plant(root, "project/d/", "outside/");
  let looks = 0;
  const file = new OverflowFile(`${root}/project/d/f`, 100, () => {
    if (++looks === 2) {
      Deno.renameSync(`${root}/project/d`, `${root}/project/e`);
      Deno.symlinkSync("../outside", `${root}/project/d`);
    }
    return null;
  });
  await file.write(new Uint8Array([65]));
  file.close();
  assert.match(file.problem?.message ?? "", /was replaced in the meantime/);
  for (const { name } of Deno.readDirSync(`${root}/outside`)) {
    assert.equal(Deno.statSync(`${root}/outside/${name}`).size, 0);
  }
});
