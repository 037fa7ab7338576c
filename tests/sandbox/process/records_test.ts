// Which records of started commands are trusted, one row per condition.

import assert from "node:assert/strict";
import {
  findLeftRecords,
  identify,
  isAlive,
  record,
  records,
  removeRecord,
} from "../../../sandbox/process/leftovers.ts";
import { world } from "../fixture.ts";
import { testInFolder as test } from "../../folder.ts";

test("an incomplete record is ignored: one row per field", (root) => {
  const environment = world(root);
  const file = record(environment, Deno.pid, { writable: ["/w"], before: '{"a":1}' });
  const [whole] = records(environment);
  assert.deepEqual([whole?.writable, whole?.before, whole?.file], [["/w"], { a: 1 }, file]);
  const good = JSON.parse(Deno.readTextFileSync(file));
  const spoilt: readonly unknown[] = [
    { ...good, machine: 1 },
    { ...good, machine: undefined },
    { ...good, owner: undefined },
    { ...good, owner: { ...good.owner, pid: "1" } },
    { ...good, leader: null },
    { ...good, leader: { ...good.leader, pid: null } },
    { ...good, writable: "/w" },
    null,
    [],
  ];
  for (const each of spoilt) {
    Deno.writeTextFileSync(file, JSON.stringify(each));
    assert.deepEqual(records(environment), [], JSON.stringify(each));
  }
  Deno.writeTextFileSync(file, JSON.stringify(good).slice(0, -2));
  assert.deepEqual(records(environment), []);
  Deno.writeTextFileSync(file, JSON.stringify(good));
  assert.equal(records(environment).length, 1);
});

Deno.test("a process matches its record only with the same start time, and while it runs", async () => {
  const child = new Deno.Command("sleep", { args: ["300"], stdin: "null" }).spawn();
  const id = identify(child.pid);
  assert.ok(id !== null);
  assert.equal(isAlive(id), true);
  assert.equal(isAlive({ ...id, started: `${Number(id.started) - 1}` }), false);
  child.kill("SIGKILL");
  await child.status;
  assert.equal(isAlive(id), false);
  assert.equal(identify(child.pid), null);
});

test("the record of an ended command is emptied if it cannot be removed, and is ignored from then on", (root) => {
  const environment = world(root);
  const file = record(environment, Deno.pid, { writable: [], before: "null" });
  const remove = Deno.removeSync;
  Deno.removeSync = () => {
    throw new Deno.errors.PermissionDenied("Operation not permitted (os error 1)");
  };
  try {
    removeRecord(file);
  } finally {
    Deno.removeSync = remove;
  }
  assert.equal(Deno.statSync(file).size, 0);
  assert.deepEqual(records(environment), []);
});

test("of the process records from this boot, only those whose owner no longer runs count as leftovers", (root) => {
  const environment = world(root);
  const file = record(environment, Deno.pid, { writable: [], before: "null" });
  assert.deepEqual(findLeftRecords(environment), []);
  const good = JSON.parse(Deno.readTextFileSync(file));
  Deno.writeTextFileSync(file, JSON.stringify({ ...good, owner: { ...good.owner, started: "1" } }));
  assert.deepEqual(findLeftRecords(environment).map(({ earlier }) => earlier), [false]);
});
