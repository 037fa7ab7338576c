// A list of expected mounts of any length reaches the script that checks it.

import assert from "node:assert/strict";
import { plant, projectSandbox, runInside } from "../fixture.ts";
import { testInFolder as test } from "../../folder.ts";

test("a list of mounts that is too long for a command-line argument is still checked", async (root) => {
  plant(root, "project/notes.chat", "many/");
  const folders = Array.from({ length: 300 }, (_, at) => `${root}/many/${String(at).padStart(200, "0")}`);
  for (const folder of folders) Deno.mkdirSync(folder);
  // Other users could replace the folders, so their mounts are checked before the command begins.
  Deno.chmodSync(`${root}/many`, 0o777);
  const sandbox = projectSandbox(root, { policy: { rw_paths: ["urn:flemma:cwd", ...folders] } });
  const { out, code } = await runInside(
    sandbox,
    `echo x > ${folders.at(-1)}/made && ls /proc/self/fd; exit 4`,
  );
  // The listing itself has one more.
  assert.deepEqual([out, code], ["0\n1\n2\n3\n", 4]);
});
