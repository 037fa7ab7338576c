// The compiled code of this program lies in folders that commands may write to, and is not theirs to change.

import assert from "node:assert/strict";
import { ownCode } from "../../../sandbox/protect/own_code.ts";
import { inFolder, plant, projectSandbox, runInside } from "../fixture.ts";

Deno.test("compiled code lies in the cache of deno run, or beside temporary files for a program of one file", () => {
  const at = (variables: Record<string, string>, executable: string | null) =>
    ownCode({ cwd: "/w", home: "/h", variables }, executable).protect[0];
  assert.equal(at({}, null), "/h/.cache/deno/v8_code_cache_v2");
  assert.equal(at({ XDG_CACHE_HOME: "/c" }, null), "/c/deno/v8_code_cache_v2");
  assert.equal(at({ XDG_CACHE_HOME: "/c", DENO_DIR: "d" }, null), "/w/d/v8_code_cache_v2");
  assert.equal(at({}, "/usr/bin/flemma"), "/tmp/deno-compile-flemma.cache");
  assert.equal(at({ TMPDIR: "/t" }, "/usr/bin/flemma"), "/t/deno-compile-flemma.cache");
});

Deno.test("a command cannot put code of its own into the compiled code of this program", () =>
  inFolder(async (root) => {
    plant(root, "project/", "home/.cache/deno/v8_code_cache_v2", "home/.cache/deno/gen/file/cli.js");
    const sandbox = projectSandbox(root, { policy: { rw_paths: ["urn:flemma:cwd", "~/.cache"] } });
    for (
      const attempt of [
        "echo x > ~/.cache/deno/v8_code_cache_v2",
        "mv ~/.cache/deno/v8_code_cache_v2 ~/.cache/x",
        "echo x > ~/.cache/deno/gen/file/cli.js",
        "mv ~/.cache/deno ~/.cache/other",
      ]
    ) {
      assert.notEqual((await runInside(sandbox, attempt)).code, 0, attempt);
    }
    assert.ok(!sandbox.isPathWritable("~/.cache/deno/gen/file/cli.js"));
    assert.equal(
      (await runInside(sandbox, "mkdir -p ~/.cache/deno/npm && echo x > ~/.cache/deno/npm/y")).code,
      0,
    );
  }));

Deno.test("deno goes on working inside with its compiled code read-only, and may make a cache where none was", () =>
  inFolder(async (root) => {
    plant(root, "project/", "home/.cache/");
    Deno.writeTextFileSync(`${root}/project/a.ts`, "const n: number = 42; console.log(n);");
    const sandbox = projectSandbox(root, { policy: { rw_paths: ["urn:flemma:cwd", "~/.cache"] } });
    const deno = `"${Deno.execPath()}" run --no-config --quiet a.ts`;
    for (const time of ["first", "second"]) {
      const { out, err } = await runInside(sandbox, deno);
      assert.deepEqual([out, err], ["42\n", ""], time);
    }
    assert.deepEqual(sandbox.notices(), []);
  }));
