// Older versions of Deno: missing functions are replaced, and a version that is too old is reported.

import assert from "node:assert/strict";
import { isAtLeast, OLDEST_DENO } from "../../commands/main.ts";
import { probeProcess, tryLock, tryLockSync } from "../../commands/start/older_runtime.ts";
import { packageManifest } from "../../scripts/build/npm.ts";
import { inFolder } from "../folder.ts";
import { SOURCES, testWithScene as test } from "./harness.ts";

Deno.test("versions of Deno are compared number by number", () => {
  const rows = [
    ["2.4.2", "2.4.2", true],
    ["2.4.1", "2.4.2", false],
    ["2.10.0", "2.4.2", true],
    ["1.46.3", "2.4.2", false],
    ["3.0.0-rc.1", "2.4.2", true],
    ["2.4.2+abc", "2.4.2", true],
  ] as const;
  for (const [version, other, holds] of rows) assert.equal(isAtLeast(version, other), holds, version);
});

Deno.test("the substitute for tryLock allows one holder, says whether the lock is held, and releases it when the file is closed", () =>
  inFolder(async (folder) => {
    const path = `${folder}/a lock`;
    const open = () => Deno.openSync(path, { create: true, read: true, write: true });
    const [first, second] = [open(), open()];
    assert.equal(tryLockSync.call(first, true), true);
    assert.equal(await tryLock.call(second, true), false);
    assert.equal(second.tryLockSync(true), false);
    first.close();
    // A process that another test starts at this moment has the file too, until it has become its program.
    while (!second.tryLockSync(true)) await new Promise((done) => setTimeout(done, 1));
    const third = open();
    assert.equal(tryLockSync.call(third, true), false);
    second.close();
    while (!tryLockSync.call(third, true)) await new Promise((done) => setTimeout(done, 1));
    third.close();
  }));

Deno.test("signal 0 tells whether a process or process group exists", async () => {
  probeProcess(Deno.pid);
  const child = new Deno.Command("/bin/sh", { args: ["-c", "read x"], stdin: "piped", detached: true })
    .spawn();
  probeProcess(-child.pid);
  await child.stdin.close();
  await child.status;
  assert.throws(() => probeProcess(child.pid), Deno.errors.NotFound);
  assert.throws(() => probeProcess(-child.pid), Deno.errors.NotFound);
});

test("if Deno is too old, the error names both versions, and a piped document is printed unchanged", async (place) => {
  place.write("old.ts", 'Object.defineProperty(Deno, "version", { value: { deno: "2.3.9" } });\n');
  const old = [Deno.execPath(), "run", "-A", "--quiet", "--preload", place.path("old.ts")];
  const { code, stdout, stderr } = await place.spawn([...old, SOURCES.at(-1)!, "advance"], {
    stdin: "@You:\nHello\n",
  })
    .finished;
  assert.equal(code, 1);
  assert.equal(stdout, "@You:\nHello\n");
  assert.match(stderr, /^flemma: Deno \d+\.\d+\.\d+ or later is needed; this is 2\.3\.9\.$/m);
});

test("with an older Deno and without the flock program, flemma says what to install and leaves the document unchanged", async (place) => {
  place.write("a.chat", "@You:\nHello\n");
  place.write(
    "old.ts",
    `for (const name of ["tryLock", "tryLockSync"]) delete Deno.FsFile.prototype[name];\n`,
  );
  Deno.mkdirSync(place.path("bin"));
  for (const name of ["sh", "cat"]) Deno.symlinkSync(`/bin/${name}`, place.path(`bin/${name}`));
  const old = [Deno.execPath(), "run", "-A", "--quiet", "--preload", place.path("old.ts")];
  const { code, stderr } = await place.spawn([...old, SOURCES.at(-1)!, "advance", "a.chat"], {
    env: { PATH: place.path("bin"), ANTHROPIC_API_KEY: "k" },
  }).finished;
  assert.equal(code, 1);
  assert.match(
    stderr,
    /a\.chat cannot be locked: Deno [\d.]+ cannot lock files without the program flock\.\n/,
  );
  assert.match(
    stderr,
    /Install flock \(part of the package util-linux\), or run flemma with a newer Deno\./,
  );
  assert.equal(place.read("a.chat"), "@You:\nHello\n");
});

Deno.test("the program, the package and the install page name the same oldest Deno version", async () => {
  assert.deepEqual(packageManifest().engines, { node: ">=20", deno: `>=${OLDEST_DENO}` });
  const page = await Deno.readTextFile(new URL("../../docs/reference/install.md", import.meta.url));
  assert.ok(page.includes(`Deno ${OLDEST_DENO} or later`));
});
