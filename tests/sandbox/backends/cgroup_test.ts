// The control group that limits the superuser's commands: no empty group is left behind.

import assert from "node:assert/strict";
import { makeProcessGroup, removeGroup, removeLeftGroups } from "../../../sandbox/backends/cgroup.ts";
import { PrivateFiles } from "../../../sandbox/process/private_files.ts";
import { exists, plant, projectSandbox, requireBubblewrap, world } from "../fixture.ts";
import { inFolder, testInFolder as test } from "../../folder.ts";

test("a control group that cannot be removed while it is busy is removed later", async (root) => {
  // A folder with something in it is refused as a group with a process in it is.
  plant(root, "group/process");
  const removed = removeGroup(`${root}/group`);
  assert.ok(exists(`${root}/group`), "the first try has failed");
  Deno.removeSync(`${root}/group/process`);
  await removed;
  assert.ok(!exists(`${root}/group`));
});

test("a busy control group does not delay the end of a command, and a missing control group causes no error", async (root) => {
  plant(root, "group/process");
  await removeGroup(`${root}/group`);
  assert.ok(exists(`${root}/group/process`));
  await removeGroup(`${root}/none`);
});

test("a later run removes empty, old control groups of flemma, but no new or busy ones and none of other programs", (root) => {
  plant(root, "flemma-old/", "flemma-fresh/", "flemma-busy/process", "system-old/");
  for (const name of ["flemma-old", "flemma-busy", "system-old"]) {
    Deno.utimeSync(`${root}/${name}`, 1, 1);
  }
  removeLeftGroups(root);
  assert.deepEqual([...Deno.readDirSync(root)].map(({ name }) => name).sort(), [
    "flemma-busy",
    "flemma-fresh",
    "system-old",
  ]);
});

test("a hierarchy that cannot count processes keeps no control group, and loses those that were left there", (root) => {
  const files = PrivateFiles.open(world(root, { XDG_RUNTIME_DIR: root }));
  assert.ok(files.ok);
  plant(root, "hierarchy/flemma-old/");
  Deno.utimeSync(`${root}/hierarchy/flemma-old`, 1, 1);
  assert.equal(makeProcessGroup(5, files.value, [`${root}/none`, `${root}/hierarchy`]), null);
  assert.deepEqual([...Deno.readDirSync(`${root}/hierarchy`)], []);
});

const ignore = Deno.build.os !== "linux" || Deno.uid() !== 0;

Deno.test(
  "a real control group is removed after its last process is killed during the removal",
  { ignore },
  () =>
    inFolder(async (root) => {
      const files = PrivateFiles.open(world(root, { XDG_RUNTIME_DIR: root }));
      assert.ok(files.ok);
      const group = makeProcessGroup(5, files.value);
      if (group === null) return; // No group can be made here; then the limit is told not to hold (limits_test.ts).
      const member = new Deno.Command("/bin/sh", {
        args: ["-c", 'echo $$ > "$0"; echo in; exec sleep 60', group.members],
        stdout: "piped",
        stdin: "null",
      }).spawn();
      const reader = member.stdout.getReader();
      await reader.read();
      const removed = group.remove();
      assert.ok(exists(group.members), "a process is in it");
      member.kill("SIGKILL");
      await member.status;
      await reader.cancel();
      await removed;
      assert.ok(!exists(group.members));
    }),
);

Deno.test(
  "no control group remains after a command with limits, nor after a command that never started",
  { ignore },
  () =>
    inFolder(async (root) => {
      plant(root, "project/notes.chat");
      const sandbox = projectSandbox(root, { policy: { limits: { processes: 20 } } });
      await requireBubblewrap(sandbox);
      for (const begins of [true, false]) {
        const prepared = await sandbox.prepare(["/bin/sh", "-c", "sleep 60 & setsid sleep 60 &"]);
        assert.ok(prepared.ok);
        const members = prepared.value.argv.find((word) => word.endsWith("/cgroup.procs"));
        if (members === undefined) {
          assert.ok(sandbox.notices().some(({ code }) => code === "processes-not-limited"));
          return;
        }
        assert.ok(exists(members));
        if (begins) {
          const [program = "", ...args] = prepared.value.argv;
          await new Deno.Command(program, { args, cwd: `${root}/project`, stdin: "null" }).output();
        }
        await prepared.value.dispose();
        assert.ok(!exists(members), members);
      }
    }),
);
