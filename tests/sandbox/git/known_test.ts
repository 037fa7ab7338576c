// The list of repositories that earlier runs saw: what a later run reads from it, and what it drops from a long list.

import assert from "node:assert/strict";
import { KnownRepositories } from "../../../sandbox/git/known.ts";
import { RepositoriesOfRun } from "../../../sandbox/git/repositories.ts";
import { git, plant, projectSandbox, runInside, world } from "../fixture.ts";
import { testInFolder as test } from "../../folder.ts";

const FOLDER = "home/.local/state/flemma";

const knownIn = (root: string) => new KnownRepositories(world(root)).below([root]).sort();
const names = (root: string) => [...Deno.readDirSync(`${root}/${FOLDER}`)].map(({ name }) => name);

test("a later run knows each repository once, also without a state folder at first", (root) => {
  const known = new KnownRepositories(world(root));
  known.add([`${root}/a`, `${root}/b`, `${root}/a`]);
  known.add([`${root}/b`, `${root}/c`]);
  assert.equal(known.problem, null);
  assert.deepEqual(known.below([`${root}/b`]), [`${root}/b`]);
  assert.deepEqual(knownIn(root), ["a", "b", "c"].map((name) => `${root}/${name}`));
  const text = Deno.readTextFileSync(`${root}/${FOLDER}/repositories`);
  assert.deepEqual(text.split("\n"), [..."abc"].map((name) => `"${root}/${name}"`).concat(""));
});

test("the next run knows the repositories that the last command of a run created", async (root) => {
  plant(root, "project/");
  await runInside(projectSandbox(root), "git init -q made; git init -q --bare bare");
  assert.deepEqual(knownIn(root), [`${root}/project/bare`, `${root}/project/made`]);
});

test("repositories are remembered before the first command begins, which may hide them", async (root) => {
  plant(root, "project/");
  git(`${root}/project`, "init", "-q", "there");
  const prepared = await projectSandbox(root).prepare(["true"]);
  assert.ok(prepared.ok);
  assert.deepEqual(knownIn(root), [`${root}/project/there`]);
  await prepared.value.dispose();
});

test("lines that are not an absolute path in JSON are ignored, and a list that cannot be read is a problem", (root) => {
  plant(root, `${FOLDER}/`);
  Deno.writeTextFileSync(`${root}/${FOLDER}/repositories`, `"${root}/a"\n"b"\n5\n"${root}/c\n\n"${root}/d"`);
  assert.deepEqual(knownIn(root), [`${root}/a`, `${root}/d`]);
  Deno.removeSync(`${root}/${FOLDER}/repositories`);
  plant(root, `${FOLDER}/repositories/`);
  assert.equal(new KnownRepositories(world(root)).problem?.code, "repositories-not-remembered");
});

test("a list that cannot be written is a problem, and the run knows its repositories all the same", (root) => {
  const known = new KnownRepositories(world(root));
  plant(root, `${FOLDER}/repositories/`);
  known.add([`${root}/a`]);
  assert.equal(known.problem?.code, "repositories-not-remembered");
  assert.deepEqual(known.below([root]), [`${root}/a`]);
});

test("repositories that no longer exist are dropped from a long list, and from no other", (root) => {
  plant(root, `${FOLDER}/`, "here/", "new/");
  for (const [count, left] of [[4998, 5000], [4999, 2]] as const) {
    const gone = Array.from({ length: count }, (_, at) => `${root}/gone${at}`);
    const lines = [`${root}/here`, ...gone].map((path) => `${JSON.stringify(path)}\n`);
    Deno.writeTextFileSync(`${root}/${FOLDER}/repositories`, lines.join(""));
    const known = new KnownRepositories(world(root));
    known.add([`${root}/new`]);
    assert.equal(known.problem, null);
    assert.equal(knownIn(root).length, left);
    assert.ok([`${root}/here`, `${root}/new`].every((path) => knownIn(root).includes(path)));
    assert.deepEqual(names(root), ["repositories"]);
  }
});

test("a notice says that a command made more folders than are searched, or repositories that are not remembered", async (root) => {
  plant(root, "project/");
  const many = projectSandbox(root);
  await runInside(many, "for a in $(seq 45); do mkdir $a && (cd $a && mkdir $(seq 50)); done");
  assert.deepEqual(many.notices().map(({ code }) => code), ["folders-not-searched"]);
  Deno.removeSync(`${root}/project`, { recursive: true });
  plant(root, "project/");
  const sandbox = projectSandbox(root);
  await runInside(sandbox, "true");
  plant(root, `${FOLDER}/repositories/`);
  await runInside(sandbox, "git init -q made");
  assert.deepEqual(sandbox.notices().map(({ code }) => code), ["repositories-not-remembered"]);
});

test("a known repository is protected where the scan does not look, unless it is gone or there is another way to it", (root) => {
  plant(root, "plain/", "project/");
  git(root, "init", "-q", "deep");
  git(root, "init", "-q", "project");
  git(root, "init", "-q", "--bare", "bare");
  plant(root, "HEAD/HEAD", "link -> deep");
  const named = ["deep", "bare", "plain", "HEAD", "gone", "link", "project"].map((name) => `${root}/${name}`);
  const places = { folders: [`${root}/project`], writable: [root], known: named };
  const nothing = { repositories: [], gitFolders: [], wanted: [], partial: [] };
  const { atStart } = new RepositoriesOfRun(places, nothing);
  assert.deepEqual(atStart.repositories, [`${root}/deep`]);
  assert.deepEqual(atStart.gitFolders, [`${root}/bare`]);
});
