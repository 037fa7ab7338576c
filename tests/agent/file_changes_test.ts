// The watched files that a document's last run changed, as `flemma status` reads them later.

import assert from "node:assert/strict";
import { FileChanges, fileChangesOf } from "../../agent/trust/file_changes.ts";
import type { FileChange } from "../../sandbox/mod.ts";
import { type StatePlace, testWithState as test } from "../folder.ts";

const change = (path: string): FileChange => ({ path, change: "made", obeyedBy: "a program" });
const [A, B, C] = [change("/a"), change("/b"), change("/c")];

/** Saves changes as one run does; returns the codes that it reports. */
async function save({ environment, folder }: StatePlace, isSaved: boolean, ...changes: FileChange[][]) {
  const reported: string[] = [];
  const path = isSaved ? `${folder}/a.chat` : null;
  const saved = new FileChanges(environment, path, (event) => {
    if (event.event === "notice") reported.push(event.code);
  });
  for (const each of changes) saved.add(each);
  await saved.done();
  return reported;
}

const read = ({ environment, folder }: StatePlace) => fileChangesOf(environment, `${folder}/a.chat`);

test("all changes of a run are saved for its document, and replace those of the run before", async (place) => {
  assert.deepEqual(await read(place), []);
  assert.deepEqual(await save(place, true, [A!], [B!]), []);
  assert.deepEqual(await read(place), [A, B]);
  assert.deepEqual(await fileChangesOf(place.environment, `${place.folder}/b.chat`), []);
  assert.deepEqual(await save(place, true, [C!]), []);
  assert.deepEqual(await read(place), [C]);
});

test("nothing is saved for an unsaved document, and a state folder that cannot be written is reported", async (place) => {
  assert.deepEqual(await save(place, false, [A!]), []);
  assert.deepEqual(await read(place), []);
  Deno.writeTextFileSync(`${place.folder}/file`, "");
  const environment = { ...place.environment, variables: { XDG_STATE_HOME: `${place.folder}/file` } };
  assert.deepEqual(await save({ ...place, environment }, true, [A!]), ["state-unwritable"]);
});
