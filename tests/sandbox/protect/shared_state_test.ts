// What a run restores if commands of other runs could have changed what it finds.

import assert from "node:assert/strict";
import { FsSnapshot } from "../../../base/disk/fs_snapshot.ts";
import { serializeBefore } from "../../../sandbox/protect/recover.ts";
import type { Before } from "../../../sandbox/protect/repair.ts";
import {
  adoptState,
  lockRepairs,
  reportToOthers,
  takeReports,
} from "../../../sandbox/protect/shared_state.ts";
import { world } from "../fixture.ts";
import { descriptorsInto, testInFolder as test } from "../../folder.ts";

const file = (path: string, text: string) => ({
  path,
  names: null,
  text,
  mode: 0o644,
  stamp: "",
  kept: "same" as const,
});

function state(more: Partial<Before>): Before {
  return {
    protectedPaths: new Set(),
    missing: [],
    missingInGit: [],
    links: [],
    writable: ["/w"],
    compared: [],
    sealed: { holds: () => true, accept: () => {} },
    ...more,
  };
}

/** The record of another run, as it is read from the disk. */
const recorded = (before: Before) => ({
  writable: before.writable,
  before: JSON.parse(serializeBefore(before)),
});

Deno.test("what another run has recorded counts instead of what its commands left", () => {
  const known = state({
    missing: ["/w/.git/hooks/x", "/w/notes.chat"],
    compared: [file("/w/.flemma/config.yaml", "good"), file("/w/.removed", "good")],
    links: [{ path: "/w/link", target: "good" }],
    places: ["/w/.flemma", "/w"],
    modes: [{ path: "/home", mode: 0o755 }],
  });
  const present = state({
    missing: ["/w/.removed", "/w/own"],
    compared: [
      file("/w/.flemma/config.yaml", "evil"),
      file("/w/.git/hooks/x", "evil"),
      file("/w/own.yaml", "own"),
    ],
    // Put in place of a folder by a command, and one outside of its reach.
    links: [{ path: "/w/deep", target: "evil" }, { path: "/w/link", target: "evil" }, {
      path: "/v/link",
      target: "own",
    }],
    places: ["/w"],
    modes: [{ path: "/home", mode: 0o777 }, { path: "/home/.own", mode: 0o700 }],
  });
  const adopted = adoptState(present, [recorded(known)], ["/w/notes.chat"], new FsSnapshot());
  assert.deepEqual([...adopted.missing].sort(), ["/w/.git/hooks/x", "/w/own"]);
  assert.deepEqual(adopted.missingInGit, ["/w/.git/hooks/x"]);
  assert.deepEqual(
    adopted.compared.map(({ path, text }) => [path, text]),
    [["/w/own.yaml", "own"], ["/w/.flemma/config.yaml", "good"], ["/w/.removed", "good"]],
  );
  assert.deepEqual(adopted.links, [{ path: "/v/link", target: "own" }, { path: "/w/link", target: "good" }]);
  assert.deepEqual(adopted.places, ["/w", "/w/.flemma"]);
  assert.deepEqual(adopted.modes, [{ path: "/home/.own", mode: 0o700 }, { path: "/home", mode: 0o755 }]);
  assert.equal(adoptState(present, [{ writable: ["/w"], before: null }], [], new FsSnapshot()), present);
});

test("one run at a time holds the lock, and repairs are reported once to the runs, not to their commands", async (root) => {
  const environment = world(root);
  const first = await lockRepairs(environment);
  assert.ok(first.ok);
  let isHeld = true;
  const second = lockRepairs(environment).then((lock) => {
    assert.ok(lock.ok && !isHeld);
    lock.value.close();
  });
  await new Promise((resolve) => setTimeout(resolve));
  isHeld = false;
  first.value.close();
  await second;

  const own = { pid: 7, started: "1" };
  const of = (name: string, leader: number, mark?: string) => ({
    file: `/started/${name}`,
    machine: "",
    owner: own,
    leader: { pid: leader, started: "1" },
    writable: [],
    before: null,
    earlier: false,
    ...(mark === undefined ? {} : { mark }),
  });
  const problem = { code: "protected-path-restored", message: "Restored x" };
  reportToOthers(environment, [of("run", 7), of("command", 8, "m"), of("handed-out", 7, "m")], [problem]);
  assert.deepEqual(takeReports(environment, "/started/run"), [problem]);
  for (const name of ["run", "command", "handed-out"]) {
    assert.deepEqual(takeReports(environment, `/started/${name}`), []);
  }
});

test("if another run restores files for too long, the command does not run, and no file stays open", async (root) => {
  const held = await lockRepairs(world(root));
  assert.ok(held.ok);
  const { now } = performance;
  let minutes = 0;
  performance.now = () => now.call(performance) + 60_000 * ++minutes;
  try {
    const busy = await lockRepairs(world(root));
    assert.equal(busy.ok ? "" : busy.problem.code, "sandbox-busy");
  } finally {
    performance.now = now;
  }
  held.value.close();
  assert.deepEqual(descriptorsInto(root), []);
});
